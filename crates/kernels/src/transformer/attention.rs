//! `softmax(Q Kᵀ / √depth) V`, head by head.

use super::norm::{largest, sum};
use crate::buffer::Shared;
use crate::functions::exp_of_negative;
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::isa::{Isa, Kernel};
use crate::mobile::By;
use crate::simd::Simd;
use crate::size;
use std::ops::Range;

/// The largest number of queries of one task: keys and values are packed once for all of them.
const QUERIES: usize = 288;
/// Queries whose scores are in memory at a time.
const ROWS: usize = 48;

#[derive(Clone, Copy, Debug)]
pub(super) struct Attention {
    pub heads: usize,
    /// Numbers of a head.
    pub depth: usize,
    pub tokens: usize,
}

/// The offsets of the parts of a task's memory, in floats.
struct Parts {
    /// Of the keys: tokens in panels.
    columns: Panels,
    /// Of the values: numbers of a head in panels.
    outputs: Panels,
    values: usize,
    scores: usize,
    end: usize,
}

impl Attention {
    fn width(self) -> usize {
        self.heads * self.depth
    }

    fn parts(self, lanes: usize, halves: bool) -> Parts {
        let columns = Panels::new(self.tokens, lanes, halves);
        let outputs = Panels::new(self.depth, lanes, halves);
        let values = size::floats([self.depth, columns.padded()]);
        let scores = values + size::floats([self.tokens, outputs.padded()]);
        Parts { columns, outputs, values, scores, end: scores + size::floats([ROWS, columns.padded()]) }
    }

    /// Floats of one task.
    pub(super) fn scratch(self, isa: Isa) -> usize {
        self.parts(isa.lanes(), isa.halves()).end
    }

    /// From queries, keys and values `[tokens, 3 · width]` to `[tokens, width]`.
    pub(super) fn run(self, by: By<'_>, from: &[f32], work: &mut [f32], to: &mut [f32]) {
        let from = &from[..3 * self.tokens * self.width()];
        let to = Shared::new(&mut to[..self.tokens * self.width()]);
        let chunks = self.tokens.div_ceil(QUERIES);
        by.each(self.heads * chunks, self.scratch(by.isa), work, |task, scratch| {
            let first = task % chunks * QUERIES;
            let rows = first..self.tokens.min(first + QUERIES);
            let parts = self.parts(by.isa.lanes(), by.isa.halves());
            by.isa.run(Queries { attention: self, parts, from, head: task / chunks, rows, scratch, to });
        });
    }
}

/// Some queries of one head.
struct Queries<'a> {
    attention: Attention,
    parts: Parts,
    from: &'a [f32],
    head: usize,
    rows: Range<usize>,
    scratch: &'a mut [f32],
    to: Shared,
}

impl Kernel for Queries<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        self.pack(S::LANES);
        let Range { mut start, end } = self.rows.clone();
        while start < end {
            let rows = start..end.min(start + ROWS);
            for index in 0..self.parts.columns.count() {
                let panel = self.parts.columns.panel(index);
                with_panel!(panel, self.score::<S>(simd, panel, rows.clone()));
            }
            let inverse = self.softmax(rows.len());
            for index in 0..self.parts.outputs.count() {
                let panel = self.parts.outputs.panel(index);
                with_panel!(panel, self.mix::<S>(simd, panel, rows.clone(), &inverse));
            }
            start = rows.end;
        }
    }
}

impl Queries<'_> {
    /// The offset of a token's query (0), key (1) or value (2).
    #[inline(always)]
    fn at(&self, token: usize, part: usize) -> usize {
        let width = self.attention.width();
        (3 * token + part) * width + self.head * self.attention.depth
    }

    /// Keys as `[panel][depth][tokens of the panel]`, values as `[tokens][depth, padded]`.
    #[inline(always)]
    fn pack(&mut self, lanes: usize) {
        let Attention { depth, tokens, .. } = self.attention;
        for index in 0..self.parts.columns.count() {
            let panel = self.parts.columns.panel(index);
            let width = panel.registers() * lanes;
            for column in 0..width {
                let token = panel.first + column;
                for k in 0..depth {
                    let key = if column < panel.width { self.from[self.at(token, 1) + k] } else { 0.0 };
                    self.scratch[panel.packed_at(depth) + k * width + column] = key;
                }
            }
        }
        let pitch = self.parts.outputs.padded();
        for token in 0..tokens {
            let at = self.at(token, 2);
            let to = &mut self.scratch[self.parts.values + token * pitch..][..pitch];
            to[..depth].copy_from_slice(&self.from[at..][..depth]);
            to[depth..].fill(0.0);
        }
    }

    /// Products of some queries with a panel of keys.
    #[inline(always)]
    fn score<S: Simd, const NV: usize, const HALF: bool>(&mut self, simd: S, panel: Panel, rows: Range<usize>) {
        let depth = self.attention.depth;
        let pitch = self.parts.columns.padded();
        let width = panel.registers() * S::LANES;
        let keys = self.scratch[panel.packed_at(depth)..][..depth * width].as_ptr();
        let first = self.parts.scores + panel.first;
        row_blocks!(S, NV, HALF, rows.len(), i, MR => {
            let mut left = [std::ptr::null(); MR];
            for r in 0..MR {
                left[r] = self.from[self.at(rows.start + i + r, 0)..][..depth].as_ptr();
            }
            let to = &mut self.scratch[first + i * pitch..][..(MR - 1) * pitch + width];
            // SAFETY: rows of `depth` floats and the keys packed for this panel are read; the scores of
            // `MR` rows have room for the panel.
            unsafe {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                totals.accumulate(simd, left, 1, keys, width, depth);
                totals.store(simd, to.as_mut_ptr(), pitch);
            }
        });
    }

    /// Turns scores into weights that are not normalised yet; returns the factor that normalises each row.
    #[inline(always)]
    fn softmax(&mut self, rows: usize) -> [f32; ROWS] {
        let scale = 1.0 / (self.attention.depth as f32).sqrt();
        let pitch = self.parts.columns.padded();
        let mut inverse = [0.0; ROWS];
        let scores = self.scratch[self.parts.scores..][..rows * pitch].chunks_exact_mut(pitch);
        for (row, inverse) in scores.zip(&mut inverse) {
            let row = &mut row[..self.attention.tokens];
            let most = largest(row);
            for x in row.iter_mut() {
                *x = exp_of_negative((*x - most) * scale);
            }
            *inverse = 1.0 / sum(row, |x| x);
        }
        inverse
    }

    /// Sums of values with these weights.
    #[inline(always)]
    fn mix<S: Simd, const NV: usize, const HALF: bool>(
        &self,
        simd: S,
        panel: Panel,
        rows: Range<usize>,
        inverse: &[f32; ROWS],
    ) {
        let Attention { depth, tokens, .. } = self.attention;
        let pitch = self.parts.columns.padded();
        let step = self.parts.outputs.padded();
        let values = self.scratch[self.parts.values + panel.first..]
            [..(tokens - 1) * step + panel.registers() * S::LANES]
            .as_ptr();
        let width = self.attention.width();
        row_blocks!(S, NV, HALF, rows.len(), i, MR => {
            let mut left = [std::ptr::null(); MR];
            for r in 0..MR {
                left[r] = self.scratch[self.parts.scores + (i + r) * pitch..][..tokens].as_ptr();
            }
            // SAFETY: `tokens` weights of each row and `tokens` rows of values are read.
            let totals = unsafe {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                totals.accumulate(simd, left, 1, values, step, tokens);
                totals
            };
            for r in 0..MR {
                let factor = simd.splat(inverse[i + r]);
                let at = (rows.start + i + r) * width + self.head * depth + panel.first;
                for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                    let done = j * S::LANES;
                    let value = simd.mul(totals.get(simd, r, j), factor);
                    // SAFETY: numbers of this head and of queries of this task.
                    unsafe { simd.store_first(self.to.at(at + done), value, panel.width - done) };
                }
            }
        });
    }
}
