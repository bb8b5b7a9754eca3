//! The gradient to the weights, directly from its definition: for each tap, input pixels times output
//! gradients.
//!
//! Images of many channels are first copied into blocks of channels, `[block][pixel][channel]`,
//! because the loop reads a few channels of very many pixels, and pixels of 256 or 512 channels all
//! use the same few cache sets. Then the batch is split into parts (the size of the gradient limits
//! the number of partial copies), and a part into bands of rows that stay in the first-level cache
//! while every tap reads them: `[tap][cin][cout] += x[pixel + tap][cin] · g[pixel][cout]`. Parts are
//! added in order.

use crate::buffer::{Buffer, Shared};
use crate::convolution::{Convolution, Machine};
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::image::Image;
use crate::isa::Kernel;
use crate::pool::Pool;
use crate::simd::Simd;
use crate::size;
use std::ops::Range;

/// The limit for the floats of all partial gradients together: with more, memory traffic costs more
/// than the parts gain.
const PARTIAL: usize = 1 << 18;
/// The largest number of channels of a block.
const BLOCK: usize = 48;

/// Writes `Σ x · g` to `gradient` `[k, k, cin, cout]`; `input` is the layer's bordered input,
/// `grad` the gradient of its output. The caller has checked all shapes.
pub(crate) fn weight_gradient(machine: &Machine, conv: Convolution, input: &Image, grad: &Image, gradient: &mut [f32]) {
    let Machine { pool, isa, spare, .. } = machine;
    let len = gradient.len();
    let images = grad.shape().n;
    let parts = (PARTIAL / len).clamp(1, 8).min(images);
    let (x, g) = (Blocks::new(input, conv.cin), Blocks::new(grad, conv.cout));
    let (mut x_copy, mut g_copy) = (spare.lend(x.copied()), spare.lend(g.copied()));
    let (x_data, g_data) = (x.fill(pool, &mut x_copy), g.fill(pool, &mut g_copy));
    let mut partial = spare.lend(size::floats([parts, len]));
    let shared = Shared::new(&mut partial);
    let blocks = x.count * g.count;
    pool.run(parts * blocks, |task, _| {
        let (part, row, column) = (task / blocks, task % blocks / g.count, task % g.count);
        // SAFETY: copy `part` lies inside the partial gradients; the rows and columns of one block
        // of it are this task's own.
        let out = unsafe { shared.at(part * len) };
        let images = part * images / parts..(part + 1) * images / parts;
        let (x_at, g_at) = (row * x.block_len(), column * g.block_len());
        let (rows, columns) = (x.channels(row), g.channels(column));
        isa.run(Task { conv, x, g, x_data, x_at, g_data, g_at, images, rows, columns, out });
    });
    add_parts(pool, &partial[..parts * len], gradient);
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
    fn new(image: &'a Image, channels: usize) -> Self {
        let count = channels.div_ceil(BLOCK);
        let width = if count == 1 { channels } else { BLOCK };
        Self { image, channels, width, count }
    }

    fn pixels(self) -> usize {
        self.image.layout().len() / self.channels
    }

    fn block_len(self) -> usize {
        // Registers of the last pixel also read the next block, or the slack.
        self.pixels() * self.width
    }

    /// Floats of the copy: 0 if the only block is the image itself.
    fn copied(self) -> usize {
        if self.count == 1 { 0 } else { size::floats([self.count, self.pixels(), self.width]) }
    }

    /// Floats from a row of the image to the next.
    fn row(self) -> usize {
        self.image.layout().row() / self.channels * self.width
    }

    fn channels(self, block: usize) -> Range<usize> {
        block * self.width..self.channels.min((block + 1) * self.width)
    }

    /// Copies the image into blocks, if there is more than one.
    fn fill<'b>(self, pool: &Pool, copy: &'b mut Buffer) -> &'b Buffer
    where
        'a: 'b,
    {
        if self.count == 1 {
            return self.image.data();
        }
        let to = Shared::new(copy);
        let images = self.image.shape().n;
        let pixels = self.pixels() / images;
        pool.run(images, |n, _| {
            for block in 0..self.count {
                let channels = self.channels(block);
                for pixel in n * pixels..(n + 1) * pixels {
                    let from = &self.image.data()[pixel * self.channels + channels.start..][..channels.len()];
                    // SAFETY: every image's pixels of a block are written by one task.
                    unsafe {
                        let to = to.at(block * self.block_len() + pixel * self.width);
                        std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
                    }
                }
            }
        });
        copy
    }
}

struct Task<'a> {
    conv: Convolution,
    x: Blocks<'a>,
    g: Blocks<'a>,
    /// The input's channels, and the first channel of this task's block.
    x_data: &'a Buffer,
    x_at: usize,
    /// The same of the gradient.
    g_data: &'a Buffer,
    g_at: usize,
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
    out: *mut f32,
}

/// Floats of both images that one band may take: most of a first-level cache.
const BAND: usize = 6 << 10;

impl Kernel for Task<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let panels = Panels::new(self.columns.len(), S::LANES, S::HALVES);
        let height = self.g.image.shape().h;
        let per_row = self.conv.stride * self.x.row() + self.g.row();
        let band = (BAND / per_row).clamp(1, height);
        let mut add = false;
        for n in self.images.clone() {
            let mut first = 0;
            while first < height {
                let rows = first..height.min(first + band);
                for index in 0..panels.count() {
                    let panel = panels.panel(index);
                    with_panel!(panel, self.panel::<S>(simd, panel, n, rows.clone(), add));
                }
                add = true;
                first += band;
            }
        }
    }
}

impl Task<'_> {
    /// Rows `band` of image `n`, for one panel of output channels and all taps.
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(
        &self,
        simd: S,
        panel: Panel,
        n: usize,
        band: Range<usize>,
        add: bool,
    ) {
        let Convolution { kernel, stride, cin, cout } = self.conv;
        let (x, g) = (self.x.image.layout(), self.g.image.layout());
        let (x_row, g_row, w) = (stride * self.x.row(), self.g.row(), g.shape().w);
        let right = self.g_data.at(self.g_at + g.offset(n, band.start, 0) / cout * self.g.width + panel.first);
        for tap in 0..kernel * kernel {
            let (y, kx) = (band.start * stride + tap / kernel, tap % kernel);
            let from = if kernel == 3 { x.offset_before(n, y, kx) } else { x.offset(n, y, kx) };
            let left = self.x_data.at(self.x_at + from / cin * self.x.width);
            let out = (tap * cin + self.rows.start) * cout + self.columns.start + panel.first;
            row_blocks!(S, NV, HALF, self.rows.len(), first, MR => {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                let (mut left, mut right) = (left.wrapping_add(first), right);
                for _ in band.clone() {
                    let mut rows = [left; MR];
                    for r in 0..MR {
                        rows[r] = left.wrapping_add(r);
                    }
                    // SAFETY: a row of pixels of both images; the last register of a pixel may read
                    // into the next or the slack.
                    unsafe { totals.accumulate(simd, rows, stride * self.x.width, right, self.g.width, w) };
                    left = left.wrapping_add(x_row);
                    right = right.wrapping_add(g_row);
                }
                // SAFETY: rows and columns of the partial gradient that belong to this task.
                unsafe { self.put(simd, &totals, self.out.add(out + first * cout), panel.width, add) };
            });
        }
    }

    /// Stores the block's sums to `to`, or adds them.
    #[inline(always)]
    unsafe fn put<S: Simd, const MR: usize, const NV: usize, const HALF: bool>(
        &self,
        simd: S,
        totals: &Block<S, MR, NV, HALF>,
        to: *mut f32,
        width: usize,
        add: bool,
    ) {
        for r in 0..MR {
            for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                let (column, mut value) = (j * S::LANES, totals.get(simd, r, j));
                // SAFETY: the caller guarantees `width` columns of the rows. The columns after them,
                // which another task may be writing, are not even read.
                unsafe {
                    let to = to.add(r * self.conv.cout + column);
                    if add {
                        value = simd.add(value, simd.load_first(to, width - column));
                    }
                    simd.store_first(to, value, width - column);
                }
            }
        }
    }
}
