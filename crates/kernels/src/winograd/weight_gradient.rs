//! The gradient to the weights: `Gᵀ [V[ξ]ᵀ · (A y Aᵀ)[ξ]] G`, the products summed over all tiles.
//!
//! With few channels, the tiles are split into parts; each part's chunks are transformed and multiplied
//! in the second-level cache, and added to the part's sums `[ξ][cin][cout]`; parts are then added in
//! order. With many channels, all tiles are transformed first, then each task computes a block of input
//! channels × output channels over all tiles and transforms it back at once.

use super::tiles::{Tiles, Transformed, transform_input, transform_output_gradient};
use super::{POINTS, transform};
use crate::buffer::Shared;
use crate::convolution::{Convolution, Machine};
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::image::Image;
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::size;
use std::ops::Range;

/// Tiles of a chunk.
const CHUNK: usize = 24;
/// The number of parts, each with partial sums.
const PARTS: usize = 8;
/// The largest number of weights of a layer (per tap) for which parts are faster.
const SMALL: usize = 64 * 64;
/// Input and output channels of a block, without parts: whole registers of any size.
const ROWS: usize = 48;
const COLUMNS: usize = 48;

/// Writes the gradient to the weights `[3, 3, cin, cout]`; `input` and `grad` are bordered. The
/// caller has checked all shapes.
pub(crate) fn weight_gradient(machine: &Machine, conv: Convolution, input: &Image, grad: &Image, gradient: &mut [f32]) {
    let tiles = Tiles::new(grad.shape());
    let job = Job { machine, conv, input, grad, tiles };
    if conv.cin * conv.cout <= SMALL && tiles.count() >= PARTS * CHUNK {
        job.by_parts(gradient);
    } else {
        job.by_channels(gradient);
    }
}

#[derive(Clone, Copy)]
struct Job<'a> {
    machine: &'a Machine,
    conv: Convolution,
    input: &'a Image,
    grad: &'a Image,
    tiles: Tiles,
}

impl Job<'_> {
    fn by_parts(self, gradient: &mut [f32]) {
        let Convolution { cin, cout, .. } = self.conv;
        let lanes = self.machine.isa.lanes();
        let (v_at, g_at) = (Transformed::new(CHUNK, cin, lanes), Transformed::new(CHUNK, cout, lanes));
        let sums = Transformed::new(cin, cout, lanes);
        let mut partial = self.machine.spare.lend(size::floats([PARTS, sums.len()]));
        let shared = Shared::new(&mut partial);
        let count = self.tiles.count();
        self.machine.pool.run(PARTS, |part, scratch| {
            let (v, g) = scratch.at_least(v_at.len() + g_at.len()).split_at_mut(v_at.len());
            // SAFETY: part `part` of the partial sums is this task's own.
            let out = unsafe { std::slice::from_raw_parts_mut(shared.at(part * sums.len()), sums.len()) };
            let range = part * count / PARTS..(part + 1) * count / PARTS;
            for first in range.clone().step_by(CHUNK) {
                let chunk = first..range.end.min(first + CHUNK);
                let (v, g, depth) = (v.as_mut_ptr(), g.as_mut_ptr(), chunk.len());
                self.machine.isa.run(Transform { job: self, range: chunk, v, v_at, g, g_at });
                let (v, g) = (v.cast_const(), g.cast_const());
                let add = first > range.start;
                let (rows, columns) = (0..cin, 0..cout);
                self.machine.isa.run(Product { v, v_at, g, g_at, depth, rows, columns, out, sums, add });
            }
        });
        let gradient = Shared::new(gradient);
        let parts = &partial[..];
        self.machine.pool.run(cin, |row, _| {
            self.machine.isa.run(Back {
                conv: self.conv,
                sums,
                parts,
                count: PARTS,
                first: 0,
                rows: row..row + 1,
                columns: 0..cout,
                gradient,
            });
        });
    }

    fn by_channels(self, gradient: &mut [f32]) {
        const STEP: usize = 4;
        let Convolution { cin, cout, .. } = self.conv;
        let count = self.tiles.count();
        let lanes = self.machine.isa.lanes();
        let (v_at, g_at) = (Transformed::in_blocks(count, cin, ROWS), Transformed::in_blocks(count, cout, COLUMNS));
        let (mut v, mut g) = (self.machine.spare.lend(v_at.len()), self.machine.spare.lend(g_at.len()));
        let (to_v, to_g) = (Shared::new(&mut v), Shared::new(&mut g));
        self.machine.pool.run(count.div_ceil(STEP), |task, _| {
            let range = task * STEP..count.min((task + 1) * STEP);
            // SAFETY: each task writes its own tiles of every point's matrix.
            let (v, g) = unsafe { (to_v.at(range.start * v_at.pitch), to_g.at(range.start * g_at.pitch)) };
            self.machine.isa.run(Transform { job: self, range, v, v_at, g, g_at });
        });
        let (row_blocks, column_blocks) = (cin.div_ceil(ROWS), cout.div_ceil(COLUMNS));
        let gradient = Shared::new(gradient);
        self.machine.pool.run(row_blocks * column_blocks, |task, scratch| {
            let (row, column) = (task / column_blocks * ROWS, task % column_blocks * COLUMNS);
            let (rows, columns) = (row..cin.min(row + ROWS), column..cout.min(column + COLUMNS));
            let sums = Transformed::new(rows.len(), columns.len(), lanes);
            let out = scratch.at_least(sums.len());
            let (v, g) = (v.as_ptr(), g.as_ptr());
            let isa = self.machine.isa;
            isa.run(Product {
                v,
                v_at,
                g,
                g_at,
                depth: count,
                rows: rows.clone(),
                columns: columns.clone(),
                out: &mut *out,
                sums,
                add: false,
            });
            isa.run(Back { conv: self.conv, sums, parts: out, count: 1, first: row, rows, columns, gradient });
        });
    }
}

struct Transform<'a> {
    job: Job<'a>,
    range: Range<usize>,
    v: *mut f32,
    v_at: Transformed,
    g: *mut f32,
    g_at: Transformed,
}

impl Kernel for Transform<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Job { input, grad, tiles, .. } = self.job;
        // SAFETY: both destinations were made for these tiles, which both images have: the gradient
        // has the shape of the output.
        unsafe {
            transform_input(simd, tiles, input, self.range.clone(), self.v, self.v_at);
            transform_output_gradient(simd, tiles, grad, self.range, self.g, self.g_at);
        }
    }
}

/// `out[ξ][row][column] (+)= Σ_tile v[ξ][tile][row] · g[ξ][tile][column]`, rows and columns counted
/// from the ranges' starts in `out`.
struct Product<'a> {
    v: *const f32,
    v_at: Transformed,
    g: *const f32,
    g_at: Transformed,
    depth: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    out: &'a mut [f32],
    sums: Transformed,
    add: bool,
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let panels = Panels::new(self.columns.len(), S::LANES, S::HALVES);
        for index in 0..panels.count() {
            let panel = panels.panel(index);
            with_panel!(panel, self.panel::<S>(simd, panel));
        }
    }
}

impl Product<'_> {
    /// One panel of columns, point after point.
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(&mut self, simd: S, panel: Panel) {
        let v = self.v.wrapping_add(self.v_at.channel(self.rows.start));
        let g = self.g.wrapping_add(self.g_at.channel(self.columns.start) + panel.first);
        let out = self.out.as_mut_ptr().wrapping_add(panel.first);
        let (v_pitch, g_pitch, pitch) = (self.v_at.pitch, self.g_at.pitch, self.sums.pitch);
        let (depth, rows, add) = (self.depth, self.rows.len(), self.add);
        for point in 0..POINTS {
            let v = v.wrapping_add(point * self.v_at.point);
            let g = g.wrapping_add(point * self.g_at.point);
            let out = out.wrapping_add(point * self.sums.point);
            row_blocks!(S, NV, HALF, rows, first, MR => {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                let mut left = [v; MR];
                for r in 0..MR {
                    left[r] = v.wrapping_add(first + r);
                }
                // SAFETY: `depth` tiles of both transformed images; `out` holds whole registers of
                // every row.
                unsafe {
                    totals.accumulate(simd, left, v_pitch, g, g_pitch, depth);
                    let to = out.add(first * pitch);
                    if add { totals.add_to(simd, to, pitch) } else { totals.store(simd, to, pitch) }
                }
            });
        }
    }
}

/// `Gᵀ (Σ parts) G` to rows and columns of the gradient; the parts begin with row `first`.
struct Back<'a> {
    conv: Convolution,
    sums: Transformed,
    parts: &'a [f32],
    count: usize,
    first: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    gradient: Shared,
}

impl Kernel for Back<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Convolution { cin, cout, .. } = self.conv;
        for row in self.rows.clone() {
            let mut column = 0;
            while column < self.columns.len() {
                let from = self.parts[(row - self.first) * self.sums.pitch + column..].as_ptr();
                let count = self.columns.len() - column;
                let mut half = [[simd.zero(); 3]; 6];
                for j in 0..6 {
                    let mut u = [simd.zero(); 6];
                    for i in 0..6 {
                        let at = (6 * i + j) * self.sums.point;
                        // SAFETY: inside every part.
                        u[i] = unsafe { self.total(simd, from.add(at)) };
                    }
                    half[j] = transform::weight_gradient(simd, u);
                }
                for y in 0..3 {
                    let mut u = [simd.zero(); 6];
                    for j in 0..6 {
                        u[j] = half[j][y];
                    }
                    let g = transform::weight_gradient(simd, u);
                    for x in 0..3 {
                        let at = ((3 * y + x) * cin + row) * cout + self.columns.start + column;
                        // SAFETY: rows and columns of the gradient that are this task's own.
                        unsafe { simd.store_first(self.gradient.at(at), g[x], count) };
                    }
                }
                column += S::LANES;
            }
        }
    }
}

impl Back<'_> {
    #[inline(always)]
    unsafe fn total<S: Simd>(&self, simd: S, from: *const f32) -> S::V {
        // SAFETY: the caller guarantees the place in the first part, hence in all.
        unsafe {
            let mut total = simd.load(from);
            for part in 1..self.count {
                total = simd.add(total, simd.load(from.add(part * self.sums.len())));
            }
            total
        }
    }
}
