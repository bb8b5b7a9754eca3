//! The depthwise convolution of one group of channels in one strip of rows.

use super::geometry::{Geometry, Strip};
use crate::isa::Kernel;
use crate::simd::Simd;

/// A group of channels of a depthwise convolution.
pub(super) struct Depthwise<'a> {
    pub geometry: &'a Geometry,
    pub strip: Strip,
    /// The padded input `[rows][pitch][width]`.
    pub from: &'a [f32],
    /// Floats of a pixel of it: whole registers.
    pub width: usize,
    /// Channels without padding.
    pub channels: usize,
    /// `[kernel²][pitch]`, from the group's first channel on, readable for whole registers.
    pub weights: *const f32,
    pub weight_pitch: usize,
    pub bias: *const f32,
    /// The strip's output, from the group's first channel on; pixels are `to_pitch` floats apart.
    pub to: *mut f32,
    pub to_pitch: usize,
}

impl Kernel for Depthwise<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match (self.geometry.kernel, self.geometry.stride) {
            (3, 1) => self.rows::<S, 3, 1>(simd),
            (3, _) => self.rows::<S, 3, 2>(simd),
            (_, 1) => self.rows::<S, 5, 1>(simd),
            _ => self.rows::<S, 5, 2>(simd),
        }
    }
}

impl Depthwise<'_> {
    #[inline(always)]
    fn rows<S: Simd, const K: usize, const STRIDE: usize>(&self, simd: S) {
        let columns = self.geometry.output().1;
        for register in 0..self.channels.div_ceil(S::LANES) {
            let channel = register * S::LANES;
            for row in 0..self.strip.rows {
                let mut x = 0;
                while columns - x >= 7 {
                    self.tile::<S, K, STRIDE, 7>(simd, channel, row, x);
                    x += 7;
                }
                while columns - x >= 2 {
                    self.tile::<S, K, STRIDE, 2>(simd, channel, row, x);
                    x += 2;
                }
                if x < columns {
                    self.tile::<S, K, STRIDE, 1>(simd, channel, row, x);
                }
            }
        }
    }

    /// One register of channels of `T` pixels of a row.
    #[inline(always)]
    fn tile<S: Simd, const K: usize, const STRIDE: usize, const T: usize>(
        &self,
        simd: S,
        channel: usize,
        row: usize,
        x: usize,
    ) {
        let pitch = self.geometry.pitch();
        let first = self.from[(row * STRIDE * pitch + x * STRIDE) * self.width..].as_ptr();
        // SAFETY: `K` rows and `(T − 1) · STRIDE + K` columns of the padded strip, whole registers of
        // weights and bias; the output pixels are this task's own.
        unsafe {
            let mut sums = [simd.load(self.bias.add(channel)); T];
            for ky in 0..K {
                for kx in 0..K {
                    let weight = simd.load(self.weights.add((ky * K + kx) * self.weight_pitch + channel));
                    let from = first.add((ky * pitch + kx) * self.width + channel);
                    for t in 0..T {
                        sums[t] = simd.mul_add(simd.load(from.add(t * STRIDE * self.width)), weight, sums[t]);
                    }
                }
            }
            for t in 0..T {
                let value = simd.min(simd.max(sums[t], simd.zero()), simd.splat(6.0));
                let pixel = row * self.geometry.output().1 + x + t;
                simd.store_first(self.to.add(pixel * self.to_pitch + channel), value, self.channels - channel);
            }
        }
    }
}
