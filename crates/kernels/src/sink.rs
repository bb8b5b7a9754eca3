//! What happens to a convolution's sums while they are still in registers.
//!
//! A sink receives `R` registers at a time, the same channels of `R` pixels. It stores them, and may
//! also compute two sums per channel for a norm. The caller keeps those sums, one row per task, and
//! adds them in task order later.

use crate::buffer::{Buffer, Shared};
use crate::simd::Simd;

/// The end of a convolution.
pub(crate) trait Sink: Copy + Sync {
    /// Whether [`Sink::put`] adds to `sums`.
    const GATHERS: bool;

    /// Takes the first `count` lanes of `values[r]`: channels `channel ..` of the pixel that begins at
    /// offset `at[r]`.
    ///
    /// # Safety
    /// The pixels must lie inside the sink's images and belong to the calling task.
    unsafe fn put<S: Simd, const R: usize>(
        self,
        simd: S,
        at: [usize; R],
        channel: usize,
        count: usize,
        values: [S::V; R],
        sums: &mut [S::V; 2],
    );
}

/// Stores.
#[derive(Clone, Copy)]
pub(crate) struct Store(pub Shared);

impl Sink for Store {
    const GATHERS: bool = false;
    #[inline(always)]
    unsafe fn put<S: Simd, const R: usize>(
        self,
        simd: S,
        at: [usize; R],
        channel: usize,
        count: usize,
        values: [S::V; R],
        _: &mut [S::V; 2],
    ) {
        for r in 0..R {
            // SAFETY: the caller guarantees the pixel.
            unsafe { simd.store_first(self.0.at(at[r] + channel), values[r], count) };
        }
    }
}

/// Adds to what is there.
#[derive(Clone, Copy)]
pub(crate) struct Add(pub Shared);

impl Sink for Add {
    const GATHERS: bool = false;
    #[inline(always)]
    unsafe fn put<S: Simd, const R: usize>(
        self,
        simd: S,
        at: [usize; R],
        channel: usize,
        count: usize,
        values: [S::V; R],
        _: &mut [S::V; 2],
    ) {
        for r in 0..R {
            // SAFETY: the caller guarantees the pixel. The next pixel, which another task may be
            // writing, is not even read.
            unsafe {
                let to = self.0.at(at[r] + channel);
                simd.store_first(to, simd.add(simd.load_first(to, count), values[r]), count);
            }
        }
    }
}

/// Stores, and computes `Σ y` and `Σ y²` for a batch norm.
#[derive(Clone, Copy)]
pub(crate) struct StoreMoments(pub Shared);

impl Sink for StoreMoments {
    const GATHERS: bool = true;
    #[inline(always)]
    unsafe fn put<S: Simd, const R: usize>(
        self,
        simd: S,
        at: [usize; R],
        channel: usize,
        count: usize,
        values: [S::V; R],
        sums: &mut [S::V; 2],
    ) {
        for r in 0..R {
            sums[0] = simd.add(sums[0], values[r]);
            sums[1] = simd.mul_add(values[r], values[r], sums[1]);
            // SAFETY: the caller guarantees the pixel.
            unsafe { simd.store_first(self.0.at(at[r] + channel), values[r], count) };
        }
    }
}

/// Adds a bias and maybe a residual, applies `ReLU` if requested, and stores: a layer's end at inference.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, const RELU: bool> {
    pub to: Shared,
    /// One number per output channel, padded to whole registers.
    pub bias: &'a Buffer,
    /// It has the layout of the output.
    pub residual: Option<&'a Buffer>,
}

impl<const RELU: bool> Sink for Finish<'_, RELU> {
    const GATHERS: bool = false;
    #[inline(always)]
    unsafe fn put<S: Simd, const R: usize>(
        self,
        simd: S,
        at: [usize; R],
        channel: usize,
        count: usize,
        values: [S::V; R],
        _: &mut [S::V; 2],
    ) {
        // SAFETY: a buffer may be read a register beyond its end.
        let bias = unsafe { simd.load(self.bias.at(channel)) };
        for r in 0..R {
            let mut value = simd.add(values[r], bias);
            // SAFETY: the caller guarantees the pixel; a residual has the layout of the output, and may
            // be read a register beyond its end.
            unsafe {
                if let Some(residual) = self.residual {
                    value = simd.add(value, simd.load(residual.at(at[r] + channel)));
                }
                if RELU {
                    value = simd.max(value, simd.zero());
                }
                simd.store_first(self.to.at(at[r] + channel), value, count);
            }
        }
    }
}
