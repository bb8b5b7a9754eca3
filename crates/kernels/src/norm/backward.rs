//! Backward through `ReLU` and norm.

use super::forward::Statistics;
use super::rows::{Rows, repeat, start};
use crate::buffer::{Buffer, Shared};
use crate::convolution::Machine;
use crate::image::{Image, Layout};
use crate::isa::Kernel;
use crate::simd::{MAX_LANES, Simd};
use crate::sums::Sums;
use std::ops::Range;

/// Masks `grad` in place by `activation > 0` and computes, per channel, `Σ g`, `Σ g · y` and (with a
/// shortcut) `Σ g · shortcut`.
///
/// # Panics
/// If the images are not all of one shape.
pub(crate) fn gate(
    machine: &Machine,
    activation: &Image,
    y: &Image,
    shortcut: Option<&Image>,
    grad: &mut Image,
    sums: &mut Sums<3>,
) {
    let shape = y.shape();
    assert_eq!([activation.shape(), grad.shape()], [shape; 2], "an activation and its gradient have one shape");
    if let Some(shortcut) = shortcut {
        assert_eq!(shortcut.shape(), shape, "a shortcut has the shape of the norm's input");
    }
    let rows = Rows::new(shape);
    let (shared, stride) = sums.begin(rows.tasks(), shape.c);
    let layout = grad.layout();
    let out = grad.shared();
    machine.pool.run(rows.tasks(), |task, scratch| {
        let len = rows.len();
        let totals = scratch.at_least(3 * (len + MAX_LANES));
        totals.fill(0.0);
        let range = rows.of_task(task);
        machine.isa.run(Gate { activation, y, shortcut, out, layout, range, len, totals });
        for (kind, total) in totals.chunks_exact(len + MAX_LANES).enumerate() {
            // SAFETY: this task's own row of sums.
            let sums = unsafe { std::slice::from_raw_parts_mut(shared.at((task * 3 + kind) * stride), shape.c) };
            for pixel in total[..len].chunks_exact(shape.c) {
                sums.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += x);
            }
        }
    });
}

struct Gate<'a> {
    activation: &'a Image,
    y: &'a Image,
    shortcut: Option<&'a Image>,
    out: Shared,
    layout: Layout,
    range: Range<usize>,
    len: usize,
    totals: &'a mut [f32],
}

impl Kernel for Gate<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let step = self.len + MAX_LANES;
        for row in self.range.clone() {
            let activation = self.activation.at(start(self.activation.layout(), row));
            let y = self.y.at(start(self.y.layout(), row));
            let shortcut = self.shortcut.map(|image| image.at(start(image.layout(), row)));
            let totals = self.totals.as_mut_ptr();
            // SAFETY: the row lies inside the gradient and belongs to this task.
            let grad = unsafe { self.out.at(start(self.layout, row)) };
            let mut i = 0;
            while i < self.len {
                // SAFETY: `i < len`, and all images have rows of `len`; loads of memory that no task
                // writes may read less than a register beyond the row, at most into the slack;
                // `totals` has room for it.
                unsafe {
                    let left = self.len - i;
                    let g = simd.where_positive(simd.load(activation.add(i)), simd.load_first(grad.add(i), left));
                    simd.store_first(grad.add(i), g, left);
                    let total = totals.add(i);
                    simd.store(total, simd.add(simd.load(total), g));
                    let total = totals.add(step + i);
                    simd.store(total, simd.mul_add(g, simd.load(y.add(i)), simd.load(total)));
                    if let Some(shortcut) = shortcut {
                        let total = totals.add(2 * step + i);
                        simd.store(total, simd.mul_add(g, simd.load(shortcut.add(i)), simd.load(total)));
                    }
                }
                i += S::LANES;
            }
        }
    }
}

/// Gradients of a norm's own parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChannelGradients {
    /// Of γ.
    pub gamma: Vec<f32>,
    /// Of β.
    pub beta: Vec<f32>,
}

/// The gradient of a norm's input as `a · g + b · y + c` per channel.
pub(crate) struct Backward {
    on_grad: Vec<f32>,
    on_y: Vec<f32>,
    constant: Vec<f32>,
}

impl Backward {
    /// From `Σ g` and `Σ g · y` per channel over `pixels` pixels. With `constants`, the statistics
    /// did not come from `y` (running statistics), so no gradient flows through them.
    ///
    /// # Panics
    /// If there are fewer statistics or factors than sums.
    pub(crate) fn new(
        statistics: &Statistics,
        gamma: &[f32],
        sums: impl Iterator<Item = [f64; 2]>,
        pixels: usize,
        constants: bool,
    ) -> (Self, ChannelGradients) {
        let inverse = statistics.inverse_deviation();
        let count = pixels as f64;
        let mut new = Self { on_grad: Vec::new(), on_y: Vec::new(), constant: Vec::new() };
        let mut own = ChannelGradients { gamma: Vec::new(), beta: Vec::new() };
        for (c, [sum, with_y]) in sums.enumerate() {
            let (mean, inverse) = (f64::from(statistics.mean[c]), f64::from(inverse[c]));
            let with_normalised = inverse * (with_y - mean * sum);
            own.gamma.push(with_normalised as f32);
            own.beta.push(sum as f32);
            let scale = f64::from(gamma[c]) * inverse;
            let slope = if constants { 0.0 } else { -scale * inverse * with_normalised / count };
            let offset = if constants { 0.0 } else { -scale * sum / count };
            new.on_grad.push(scale as f32);
            new.on_y.push(slope as f32);
            new.constant.push((offset - slope * mean) as f32);
        }
        (new, own)
    }

    /// Writes the gradient of `y` to the bordered image `out`, from the masked gradient `grad` of
    /// the norm's output.
    ///
    /// # Panics
    /// If the images are not all of one shape, or the norm was of another number of channels.
    pub(crate) fn run(&self, machine: &Machine, grad: &Image, y: &Image, out: &mut Image) {
        let shape = y.shape();
        assert_eq!([grad.shape(), out.shape()], [shape; 2], "gradients have the shape of the norm's input");
        assert_eq!(self.on_grad.len(), shape.c, "a norm of every channel of {shape:?}");
        let w = shape.w;
        let rows = Rows::new(shape);
        let factors = [repeat(&self.on_grad, w), repeat(&self.on_y, w), repeat(&self.constant, w)];
        let layout = out.layout();
        let out = out.shared();
        machine.pool.run(rows.tasks(), |task, _| {
            let (range, len) = (rows.of_task(task), rows.len());
            machine.isa.run(Apply { grad, y, factors: &factors, out, layout, range, len });
        });
    }
}

struct Apply<'a> {
    grad: &'a Image,
    y: &'a Image,
    factors: &'a [Buffer; 3],
    out: Shared,
    layout: Layout,
    range: Range<usize>,
    len: usize,
}

impl Kernel for Apply<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let [on_grad, on_y, constant] = self.factors;
        let (on_grad, on_y, constant) = (on_grad.at(0), on_y.at(0), constant.at(0));
        for row in self.range.clone() {
            let grad = self.grad.at(start(self.grad.layout(), row));
            let y = self.y.at(start(self.y.layout(), row));
            // SAFETY: the row lies inside the output and belongs to this task.
            let out = unsafe { self.out.at(start(self.layout, row)) };
            let mut i = 0;
            while i < self.len {
                // SAFETY: `i < len`, and all images and factors have rows of `len`; loads may read
                // less than a register beyond the row, at most into the slack, and no task writes
                // this memory.
                unsafe {
                    let offset = simd.mul_add(simd.load(y.add(i)), simd.load(on_y.add(i)), simd.load(constant.add(i)));
                    let value = simd.mul_add(simd.load(grad.add(i)), simd.load(on_grad.add(i)), offset);
                    simd.store_first(out.add(i), value, self.len - i);
                }
                i += S::LANES;
            }
        }
    }
}
