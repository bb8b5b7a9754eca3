//! Statistics, and normalise + residual + `ReLU` in one pass.

use super::EPSILON;
use super::rows::{Rows, repeat, start};
use crate::buffer::{Buffer, Shared};
use crate::convolution::Machine;
use crate::image::{Image, Layout, Shape};
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
    /// From the `Σ y`, `Σ y²` that a convolution computed over `pixels` pixels.
    pub(crate) fn new(moments: &Sums<2>, pixels: usize) -> Self {
        let count = pixels as f64;
        let of = |[sum, squares]: [f64; 2]| {
            let mean = sum / count;
            (mean as f32, (squares / count - mean * mean).max(0.0) as f32)
        };
        let (mean, variance) = moments.totals().into_iter().map(of).unzip();
        Self { mean, variance }
    }

    /// Panics if the statistics have another number of channels.
    pub(crate) fn check(&self, channels: usize) {
        let lengths = [self.mean.len(), self.variance.len()];
        assert_eq!(lengths, [channels; 2], "one mean and one variance for each of {channels} channels");
    }

    pub(crate) fn inverse_deviation(&self) -> Vec<f32> {
        self.variance.iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect()
    }
}

/// A norm as one multiplication and one addition per channel.
#[derive(Clone, Debug)]
pub(crate) struct Affine {
    /// `γ / √(variance + ε)`.
    scale: Vec<f32>,
    /// `β − mean · scale`, of the same length.
    shift: Vec<f32>,
}

impl Affine {
    /// The norm with `statistics`, γ and β.
    ///
    /// # Panics
    /// If they do not have the same number of channels.
    pub(crate) fn new(statistics: &Statistics, gamma: &[f32], beta: &[f32]) -> Self {
        assert_eq!(gamma.len(), beta.len(), "gamma and beta of one layer");
        statistics.check(gamma.len());
        let scale: Vec<f32> = statistics.inverse_deviation().iter().zip(gamma).map(|(i, g)| i * g).collect();
        let shift = (0..beta.len()).map(|c| beta[c] - statistics.mean[c] * scale[c]).collect();
        Self { scale, shift }
    }

    /// Scale and shift, repeated along a row of an image of shape `shape`.
    fn along_row(&self, shape: Shape) -> [Buffer; 2] {
        assert_eq!(self.scale.len(), shape.c, "a scale and a shift for every channel of {shape:?}");
        [repeat(&self.scale, shape.w), repeat(&self.shift, shape.w)]
    }
}

/// The residual that is added before the `ReLU`.
#[derive(Clone, Copy)]
pub(crate) enum Residual<'a> {
    /// Nothing.
    None,
    /// An activation.
    Identity(&'a Image),
    /// A shortcut convolution's output, which is normalised too.
    Normalised(&'a Image, &'a Affine),
}

/// `output = relu(affine(y) + residual)`.
///
/// # Panics
/// If the images are not all of one shape, or the norms of another number of channels.
pub(crate) fn activate(machine: &Machine, y: &Image, affine: &Affine, residual: Residual<'_>, output: &mut Image) {
    let shape = y.shape();
    assert_eq!(output.shape(), shape, "an activation has the shape of its input");
    let rows = Rows::new(shape);
    let factors = affine.along_row(shape);
    let (other, other_factors) = match residual {
        Residual::None => (None, None),
        Residual::Identity(image) => (Some(image), None),
        Residual::Normalised(image, affine) => (Some(image), Some(affine.along_row(shape))),
    };
    if let Some(other) = other {
        assert_eq!(other.shape(), shape, "a residual has the shape of the output");
    }
    let layout = output.layout();
    let out = output.shared();
    machine.pool.run(rows.tasks(), |task, _| {
        let (range, len) = (rows.of_task(task), rows.len());
        let (factors, normalised) = (&factors, other_factors.as_ref());
        machine.isa.run(Activate { y, factors, other, normalised, out, layout, range, len });
    });
}

struct Activate<'a> {
    y: &'a Image,
    /// Scale and shift of `y`.
    factors: &'a [Buffer; 2],
    other: Option<&'a Image>,
    /// Scale and shift of `other`.
    normalised: Option<&'a [Buffer; 2]>,
    out: Shared,
    layout: Layout,
    range: Range<usize>,
    len: usize,
}

impl Kernel for Activate<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for row in self.range.clone() {
            let y = self.y.at(start(self.y.layout(), row));
            let [scale, shift] = self.factors.each_ref().map(|factor| factor.at(0));
            // SAFETY: the row lies inside the output and belongs to this task.
            let out = unsafe { self.out.at(start(self.layout, row)) };
            let other = self.other.map(|image| image.at(start(image.layout(), row)));
            let normalised = self.normalised.map(|factors| factors.each_ref().map(|factor| factor.at(0)));
            let mut i = 0;
            while i < self.len {
                // SAFETY: `i < len`, and all images and factors have rows of `len`; loads may read
                // less than a register beyond the row, at most into the slack of a buffer, and no
                // task writes this memory.
                unsafe {
                    let mut sum = simd.mul_add(simd.load(y.add(i)), simd.load(scale.add(i)), simd.load(shift.add(i)));
                    match (other, normalised) {
                        (None, _) => {}
                        (Some(other), None) => sum = simd.add(sum, simd.load(other.add(i))),
                        (Some(other), Some([scale, shift])) => {
                            let (scale, shift) = (simd.load(scale.add(i)), simd.load(shift.add(i)));
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
