//! Weights in the transformed domain, packed in panels of output channels: `[panel][ξ][cin][panel
//! width]`.

use super::{POINTS, transform};
use crate::buffer::{Loan, Shared};
use crate::convolution::{Convolution, Machine};
use crate::gemm::Panels;
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::size;
use std::ops::Range;

/// Transformed weights of one layer, for one direction.
pub(crate) struct Weights {
    /// Input channels: the depth of the products.
    pub(super) depth: usize,
    /// Output channels.
    pub(super) panels: Panels,
    pub(super) packed: Loan,
}

/// Input channels of one packing task.
const ROWS: usize = 8;

impl Weights {
    /// From `weights` `[3, 3, cin, cout]`.
    pub(crate) fn forward(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        Self::transform(machine, conv.cin, conv.cout, weights)
    }

    /// From `weights` `[3, 3, cin, cout]`, rotated by 180° and transposed to `[3, 3, cout, cin]`.
    pub(crate) fn input_gradient(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        let Convolution { cin, cout, .. } = conv;
        let mut turned = machine.spare.lend(weights.len());
        let shared = Shared::new(&mut turned);
        machine.pool.run(9, |tap, _| {
            let from = &weights[(8 - tap) * cin * cout..][..cin * cout];
            // SAFETY: the taps' matrices do not overlap.
            let to = unsafe { std::slice::from_raw_parts_mut(shared.at(tap * cin * cout), cin * cout) };
            transpose(from, cin, cout, to);
        });
        Self::transform(machine, cout, cin, &turned)
    }

    fn transform(machine: &Machine, depth: usize, columns: usize, weights: &[f32]) -> Self {
        let panels = Panels::new(columns, machine.isa.lanes(), machine.isa.halves());
        let mut packed = machine.spare.lend(size::floats([POINTS, depth, panels.padded()]));
        let out = Shared::new(&mut packed);
        machine.pool.run(depth.div_ceil(ROWS), |task, _| {
            let rows = task * ROWS..depth.min((task + 1) * ROWS);
            machine.isa.run(Pack { weights, depth, columns, panels, rows, out });
        });
        Self { depth, panels, packed }
    }
}

/// `to[j][i] = from[i][j]`, in squares that stay in the first-level cache.
fn transpose(from: &[f32], rows: usize, columns: usize, to: &mut [f32]) {
    const SIDE: usize = 16;
    for first_row in (0..rows).step_by(SIDE) {
        for first_column in (0..columns).step_by(SIDE) {
            for column in first_column..columns.min(first_column + SIDE) {
                for row in first_row..rows.min(first_row + SIDE) {
                    to[column * rows + row] = from[row * columns + column];
                }
            }
        }
    }
}

struct Pack<'a> {
    weights: &'a [f32],
    depth: usize,
    columns: usize,
    panels: Panels,
    rows: Range<usize>,
    out: Shared,
}

impl Kernel for Pack<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for index in 0..self.panels.count() {
            let panel = self.panels.panel(index);
            let width = panel.registers() * S::LANES;
            let base = panel.packed_at(POINTS * self.depth);
            for row in self.rows.clone() {
                let mut column = 0;
                while column < width {
                    let from = row * self.columns + panel.first + column;
                    let count = (panel.width - column.min(panel.width)).min(S::LANES);
                    // SAFETY: `count` weights of each tap; the packed rows of these input channels
                    // are this task's own.
                    unsafe {
                        let to = self.out.at(base + row * width + column);
                        self.one(simd, from, count, to, self.depth * width);
                    }
                    column += S::LANES;
                }
            }
        }
    }
}

impl Pack<'_> {
    /// `G g Gᵀ` of the kernels at `from` to `to`, points `step` floats apart.
    #[inline(always)]
    unsafe fn one<S: Simd>(&self, simd: S, from: usize, count: usize, to: *mut f32, step: usize) {
        let tap = self.depth * self.columns;
        let mut half = [[simd.zero(); 6]; 3];
        for x in 0..3 {
            let mut g = [simd.zero(); 3];
            for y in 0..3 {
                let at = from + (3 * y + x) * tap;
                // SAFETY: the caller guarantees `count` weights per tap.
                g[y] = unsafe { simd.load_first(self.weights.as_ptr().add(at), count) };
            }
            half[x] = transform::weight(simd, g);
        }
        for i in 0..6 {
            let u = transform::weight(simd, [half[0][i], half[1][i], half[2][i]]);
            for j in 0..6 {
                // SAFETY: the caller guarantees the packed rows.
                unsafe { simd.store(to.add((6 * i + j) * step), u[j]) };
            }
        }
    }
}
