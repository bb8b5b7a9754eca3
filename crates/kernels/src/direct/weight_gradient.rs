//! The gradient to the weights, straight from its definition: for each tap, input pixels times output gradients.
//!
//! Both images are first copied into blocks of channels, `[block][pixel][channel]`, because the loop reads a few channels of very
//! many pixels, and pixels of 256 or 512 channels all fall into the same few cache sets. Then the batch is cut into parts (as many
//! as the size of the gradient allows partial copies) and each part's sums over its pixels stay in registers:
//! `[tap][cin][cout] += x[pixel + tap][cin] · g[pixel][cout]`. Parts are added in order.

use crate::buffer::{Buffer, Shared};
use crate::convolution::{Convolution, Machine};
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::image::Image;
use crate::isa::Kernel;
use crate::pool::Pool;
use crate::simd::Simd;
use std::ops::Range;

/// Floats of all partial gradients together: more would cost more memory traffic than their parts gain.
const PARTIAL: usize = 1 << 18;
/// Channels of a block, at most.
const BLOCK: usize = 48;

/// Writes `Σ x · g` to `gradient` `[k, k, cin, cout]`; `input` is the layer's bordered input, `grad` the gradient of its output.
pub(crate) fn weight_gradient(
    machine: &Machine,
    conv: Convolution,
    input: &Image,
    grad: &Image,
    partial: &mut Buffer,
    gradient: &mut [f32],
) {
    let Machine { pool, isa, spare, .. } = machine;
    let len = gradient.len();
    let images = grad.shape().n;
    let parts = (PARTIAL / len).clamp(1, 8).min(images.max(1));
    let (x, g) = (Blocks::of(input, conv.cin), Blocks::of(grad, conv.cout));
    let (mut x_data, mut g_data) = (spare.take(x.len()), spare.take(g.len()));
    x.fill(pool, &mut x_data);
    g.fill(pool, &mut g_data);
    let partial = partial.at_least(parts * len);
    let shared = Shared::new(partial);
    let blocks = x.count * g.count;
    pool.run(parts * blocks, |task, _| {
        let (part, row, column) = (task / blocks, task % blocks / g.count, task % g.count);
        // SAFETY: copy `part` lies inside the partial gradients; the rows and columns of one block of it are this task's own.
        let out = unsafe { shared.at(part * len) };
        let images = part * images / parts..(part + 1) * images / parts;
        let (x_data, g_data) = (&x_data[row * x.block_len()..], &g_data[column * g.block_len()..]);
        let (rows, columns) = (x.channels(row), g.channels(column));
        isa.run(Task { conv, x, g, x_data, g_data, images, rows, columns, out });
    });
    add_parts(pool, partial, gradient);
    spare.put(x_data);
    spare.put(g_data);
}

/// `gradient = Σ parts`, in order.
fn add_parts(pool: &Pool, parts: &[f32], gradient: &mut [f32]) {
    const PIECE: usize = 1 << 13;
    let len = gradient.len();
    let shared = Shared::new(gradient);
    pool.run(len.div_ceil(PIECE), |task, _| {
        let range = task * PIECE..len.min((task + 1) * PIECE);
        // SAFETY: the pieces of the gradient do not overlap.
        let out = unsafe { std::slice::from_raw_parts_mut(shared.at(range.start), range.len()) };
        out.copy_from_slice(&parts[range.clone()]);
        for part in parts[len..].chunks_exact(len) {
            for (total, x) in out.iter_mut().zip(&part[range.clone()]) {
                *total += x;
            }
        }
    });
}

/// An image's channels in blocks of equal width, borders included.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    image: &'a Image,
    channels: usize,
    width: usize,
    count: usize,
}

impl<'a> Blocks<'a> {
    fn of(image: &'a Image, channels: usize) -> Self {
        let count = channels.div_ceil(BLOCK);
        let width = if count == 1 { channels } else { BLOCK };
        Self { image, channels, width, count }
    }

    fn pixels(self) -> usize {
        self.image.data.len() / self.channels
    }

    fn block_len(self) -> usize {
        // Registers of the last pixel run over into the next block, or into the slack.
        self.pixels() * self.width
    }

    fn len(self) -> usize {
        self.count * self.block_len()
    }

    fn channels(self, block: usize) -> Range<usize> {
        block * self.width..self.channels.min((block + 1) * self.width)
    }

    fn fill(self, pool: &Pool, data: &mut [f32]) {
        let to = Shared::new(data);
        let images = self.image.shape().n.max(1);
        let pixels = self.pixels() / images;
        pool.run(images, |n, _| {
            for block in 0..self.count {
                let channels = self.channels(block);
                for pixel in n * pixels..(n + 1) * pixels {
                    let from = &self.image.data[pixel * self.channels + channels.start..][..channels.len()];
                    // SAFETY: every image's pixels of a block are written by one task.
                    unsafe {
                        let to = to.at(block * self.block_len() + pixel * self.width);
                        std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
                    }
                }
            }
        });
    }
}

struct Task<'a> {
    conv: Convolution,
    x: Blocks<'a>,
    g: Blocks<'a>,
    x_data: &'a [f32],
    g_data: &'a [f32],
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
    out: *mut f32,
}

impl Kernel for Task<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let panels = Panels::new(self.columns.len(), S::LANES, S::HALVES);
        for index in 0..panels.count() {
            let panel = panels.panel(index);
            with_panel!(panel, self.panel::<S>(simd, panel));
        }
    }
}

impl Task<'_> {
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(&self, simd: S, panel: Panel) {
        let Convolution { kernel, stride, cin, cout } = self.conv;
        let (x, g) = (self.x.image.layout, self.g.image.layout);
        let (x_row, g_row) = (x.row() / cin * self.x.width, g.row() / cout * self.g.width);
        for tap in 0..kernel * kernel {
            let (ky, kx) = (tap / kernel, tap % kernel);
            row_blocks!(S, NV, HALF, self.rows.len(), first, MR => {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                for n in self.images.clone() {
                    let from = if kernel == 3 { x.offset_before(n, ky, kx) } else { x.offset(n, ky, kx) };
                    let mut left = self.x_data[from / cin * self.x.width + first..].as_ptr();
                    let mut right = self.g_data[g.offset(n, 0, 0) / cout * self.g.width + panel.first..].as_ptr();
                    for _ in 0..g.shape.h {
                        let mut rows = [left; MR];
                        for r in 0..MR {
                            rows[r] = left.wrapping_add(r);
                        }
                        // SAFETY: a row of pixels of both images; the last register of a pixel may read into the next one or
                        // the slack.
                        unsafe {
                            totals.accumulate(simd, rows, stride * self.x.width, right, self.g.width, g.shape.w);
                        }
                        left = left.wrapping_add(stride * x_row);
                        right = right.wrapping_add(g_row);
                    }
                }
                for r in 0..MR {
                    for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                        let column = j * S::LANES;
                        let row = tap * cin + self.rows.start + first + r;
                        let at = row * cout + self.columns.start + panel.first + column;
                        // SAFETY: inside the rows and columns of the partial gradient that belong to this task.
                        unsafe { simd.store_first(self.out.add(at), totals.get(simd, r, j), panel.width - column) };
                    }
                }
            });
        }
    }
}
