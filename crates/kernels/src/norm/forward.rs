//! Statistics, and normalise + residual + `ReLU` in one pass.

use super::EPSILON;
use super::rows::{Rows, repeat, start};
use crate::buffer::{Buffer, Shared};
use crate::convolution::Machine;
use crate::image::Image;
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::sums::Sums;
use std::ops::Range;

/// Mean and biased variance of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Mean per channel.
    pub mean: Vec<f32>,
    /// Biased variance per channel.
    pub variance: Vec<f32>,
}

impl Statistics {
    /// From the `Σ y`, `Σ y²` that a convolution gathered over `pixels` pixels.
    pub fn of(moments: &Sums<2>, pixels: usize) -> Self {
        let count = pixels as f64;
        let of = |[sum, squares]: [f64; 2]| {
            let mean = sum / count;
            (mean as f32, (squares / count - mean * mean).max(0.0) as f32)
        };
        let (mean, variance) = moments.totals().into_iter().map(of).unzip();
        Self { mean, variance }
    }

    pub(crate) fn inverse_deviation(&self) -> Vec<f32> {
        self.variance.iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect()
    }
}

/// A norm as one multiplication and one addition per channel.
#[derive(Clone, Debug)]
pub struct Affine {
    /// `γ / √(variance + ε)`.
    pub scale: Vec<f32>,
    /// `β − mean · scale`.
    pub shift: Vec<f32>,
}

impl Affine {
    /// The norm with `statistics`, then `γ · + β`.
    pub fn new(statistics: &Statistics, gamma: &[f32], beta: &[f32]) -> Self {
        let scale: Vec<f32> = statistics.inverse_deviation().iter().zip(gamma).map(|(i, g)| i * g).collect();
        let shift = (0..beta.len()).map(|c| beta[c] - statistics.mean[c] * scale[c]).collect();
        Self { scale, shift }
    }
}

/// What is added before the `ReLU`.
#[derive(Clone, Copy)]
pub enum Residual<'a> {
    /// Nothing.
    None,
    /// An activation.
    Identity(&'a Image),
    /// A shortcut convolution's output, normalised on the way.
    Normalised(&'a Image, &'a Affine),
}

/// `output = relu(affine(y) + residual)`.
pub fn activate(machine: &Machine, y: &Image, affine: &Affine, residual: Residual<'_>, output: &mut Image) {
    let shape = y.shape();
    let rows = Rows::of(shape);
    let (scale, shift) = (repeat(&affine.scale, shape.w), repeat(&affine.shift, shape.w));
    let (other, other_scale, other_shift) = match residual {
        Residual::None => (None, None, None),
        Residual::Identity(image) => (Some(image), None, None),
        Residual::Normalised(image, affine) => {
            (Some(image), Some(repeat(&affine.scale, shape.w)), Some(repeat(&affine.shift, shape.w)))
        }
    };
    let layout = output.layout;
    let out = Shared::new(&mut output.data);
    machine.pool.run(rows.tasks(), |task, _| {
        let (range, len) = (rows.of_task(task), rows.len());
        for row in range.clone() {
            debug_assert!(start(layout, row) + len <= shape.n * layout.image());
        }
        let normalised = other_scale.as_ref().zip(other_shift.as_ref());
        machine.isa.run(Activate { y, scale: &scale, shift: &shift, other, normalised, out, layout, range, len });
    });
}

struct Activate<'a> {
    y: &'a Image,
    scale: &'a Buffer,
    shift: &'a Buffer,
    other: Option<&'a Image>,
    normalised: Option<(&'a Buffer, &'a Buffer)>,
    out: Shared,
    layout: crate::image::Layout,
    range: Range<usize>,
    len: usize,
}

impl Kernel for Activate<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for row in self.range.clone() {
            let y = self.y.data[start(self.y.layout, row)..].as_ptr();
            let (scale, shift) = (self.scale.as_ptr(), self.shift.as_ptr());
            // SAFETY: the row lies inside the output and belongs to this task.
            let out = unsafe { self.out.at(start(self.layout, row)) };
            let other = self.other.map(|image| image.data[start(image.layout, row)..].as_ptr());
            let mut i = 0;
            while i < self.len {
                // SAFETY: `i < len`; loads may run over by less than a register, into the slack of a buffer at worst.
                unsafe {
                    let mut sum = simd.mul_add(simd.load(y.add(i)), simd.load(scale.add(i)), simd.load(shift.add(i)));
                    match (other, self.normalised) {
                        (None, _) => {}
                        (Some(other), None) => sum = simd.add(sum, simd.load(other.add(i))),
                        (Some(other), Some((scale, shift))) => {
                            let (scale, shift) = (simd.load(scale.as_ptr().add(i)), simd.load(shift.as_ptr().add(i)));
                            sum = simd.add(sum, simd.mul_add(simd.load(other.add(i)), scale, shift));
                        }
                    }
                    simd.store_first(out.add(i), simd.max(sum, simd.zero()), self.len - i);
                }
                i += S::LANES;
            }
        }
    }
}
