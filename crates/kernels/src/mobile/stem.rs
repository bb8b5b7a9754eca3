//! The first convolution: 3×3 at stride 2 on colour images, `ReLU6`.

use super::geometry::Geometry;
use super::pointwise::Packed;
use super::{By, Folded};
use crate::buffer::Shared;
use crate::convolution::Machine;
use crate::gemm::{Block, Panel, row_blocks, with_panel};
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::size;

const KERNEL: usize = 3;
const COLOURS: usize = 3;

/// Weights `[3 · 3 · 3][panel]`.
pub(super) struct Stem(Packed);

impl Stem {
    pub(super) fn new(machine: &Machine, folded: Folded<'_>) -> Self {
        Self(Packed::new(machine, KERNEL * KERNEL * COLOURS, folded))
    }

    pub(super) fn channels(&self) -> usize {
        self.0.channels
    }

    /// Floats of the padded image.
    pub(super) fn scratch(h: usize, w: usize) -> usize {
        let geometry = Geometry::new(h, w, KERNEL, 2);
        size::floats([h + KERNEL, geometry.pitch(), COLOURS])
    }

    /// Convolves one image `[h, w, 3]`.
    pub(super) fn run(&self, by: By<'_>, image: &[f32], (h, w): (usize, usize), work: &mut [f32], to: &mut [f32]) {
        let geometry = Geometry::new(h, w, KERNEL, 2);
        let row = geometry.pitch() * COLOURS;
        let padded = &mut work[..(h + KERNEL) * row];
        let above = geometry.strip(0).above;
        padded.fill(0.0);
        for (y, from) in image.chunks_exact(w * COLOURS).enumerate() {
            padded[(y + above) * row + geometry.left() * COLOURS..][..from.len()].copy_from_slice(from);
        }
        let padded = &*padded;
        let (rows, columns) = geometry.output();
        let to = Shared::new(&mut to[..rows * columns * self.channels()]);
        let panels = self.0.panels.count();
        by.each(rows * panels, 0, &mut [], |task, _| {
            let y = task / panels;
            // SAFETY: an output row of this task's own.
            let to = unsafe { to.at(y * columns * self.channels()) };
            let from = &padded[2 * y * row..][..KERNEL * row];
            by.isa.run(Row { stem: self, panel: self.0.panels.panel(task % panels), from, pitch: row, columns, to });
        });
    }
}

/// One panel of one output row.
struct Row<'a> {
    stem: &'a Stem,
    panel: Panel,
    from: &'a [f32],
    pitch: usize,
    columns: usize,
    to: *mut f32,
}

impl Kernel for Row<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        with_panel!(self.panel, self.panel::<S>(simd));
    }
}

impl Row<'_> {
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(&self, simd: S) {
        let (stem, panel) = (self.stem, self.panel);
        let run = KERNEL * COLOURS;
        let width = panel.registers() * S::LANES;
        let weights = stem.0.weights.at(panel.packed_at(KERNEL * run));
        row_blocks!(S, NV, HALF, self.columns, x, MR => {
            // SAFETY: bias and weights were packed for this panel; three rows of three pixels are
            // read inside the padded image; the output row is this task's own.
            unsafe {
                let mut totals = Block::<S, MR, NV, HALF>::of(simd, stem.0.bias.at(panel.first));
                for y in 0..KERNEL {
                    let mut left = [std::ptr::null(); MR];
                    for r in 0..MR {
                        left[r] = self.from[y * self.pitch + 2 * (x + r) * COLOURS..].as_ptr();
                    }
                    totals.accumulate(simd, left, 1, weights.add(y * run * width), width, run);
                }
                for r in 0..MR {
                    for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                        let value = simd.min(simd.max(totals.get(simd, r, j), simd.zero()), simd.splat(6.0));
                        let done = j * S::LANES;
                        let at = (x + r) * stem.channels() + panel.first + done;
                        simd.store_first(self.to.add(at), value, panel.width - done);
                    }
                }
            }
        });
    }
}
