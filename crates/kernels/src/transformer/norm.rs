//! `LayerNorm`.

use super::NormParameters;
use crate::buffer::Shared;
use crate::isa::Kernel;
use crate::mobile::By;
use crate::simd::Simd;

/// The number of partial sums: the lanes of the widest register, so that the order of additions does not
/// depend on the instructions.
const LANES: usize = 16;
/// Rows of one task.
const ROWS: usize = 32;

pub(super) struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn new(width: usize, parameters: NormParameters<'_>) -> Self {
        let NormParameters { weight, bias, epsilon } = parameters;
        assert_eq!([weight.len(), bias.len()], [width; 2], "a norm of {width} numbers");
        Self { weight: weight.into(), bias: bias.into(), epsilon }
    }

    /// Normalises every row.
    pub(super) fn run(&self, by: By<'_>, from: &[f32], to: &mut [f32]) {
        let width = self.weight.len();
        let (from, to) = (&from[..to.len()], Shared::new(to));
        by.each((from.len() / width).div_ceil(ROWS), 0, &mut [], |task, _| {
            let first = task * ROWS * width;
            let from = &from[first..][..(ROWS * width).min(from.len() - first)];
            // SAFETY: rows of this task's own, as many as it reads.
            let to = unsafe { std::slice::from_raw_parts_mut(to.at(first), from.len()) };
            by.isa.run(Rows { norm: self, from, to });
        });
    }
}

struct Rows<'a> {
    norm: &'a Norm,
    from: &'a [f32],
    to: &'a mut [f32],
}

impl Kernel for Rows<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Norm { weight, bias, epsilon } = self.norm;
        let width = weight.len();
        for (from, to) in self.from.chunks_exact(width).zip(self.to.chunks_exact_mut(width)) {
            let mean = sum(from, |x| x) / width as f32;
            let variance = sum(from, |x| (x - mean) * (x - mean)) / width as f32;
            let scale = 1.0 / (variance + epsilon).sqrt();
            for (((to, x), weight), bias) in to.iter_mut().zip(from).zip(weight).zip(bias) {
                *to = (x - mean) * scale * weight + bias;
            }
        }
    }
}

/// The sum over all numbers, in a fixed order.
#[inline(always)]
pub(super) fn sum(from: &[f32], value: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (whole, rest) = from.as_chunks::<LANES>();
    for chunk in whole {
        for lane in 0..LANES {
            sums[lane] += value(chunk[lane]);
        }
    }
    let mut total = 0.0;
    for x in rest {
        total += value(*x);
    }
    for sum in sums {
        total += sum;
    }
    total
}

/// The largest of all numbers.
#[inline(always)]
pub(super) fn largest(from: &[f32]) -> f32 {
    let mut most = [f32::NEG_INFINITY; LANES];
    let (whole, rest) = from.as_chunks::<LANES>();
    for chunk in whole {
        for lane in 0..LANES {
            most[lane] = if chunk[lane] > most[lane] { chunk[lane] } else { most[lane] };
        }
    }
    most.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &x| if x > most { x } else { most })
}
