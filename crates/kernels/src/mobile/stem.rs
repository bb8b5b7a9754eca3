//! The first convolution: K×K at stride 2 on colour images, limited to 0 … `limit`.

use super::pointwise::Packed;
use super::{By, Folded};
use crate::buffer::Shared;
use crate::convolution::Machine;
use crate::gemm::{Block, Panel, row_blocks, with_panel};
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::size;

const COLOURS: usize = 3;
const STRIDE: usize = 2;

/// The padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    /// TensorFlow's "SAME": no more zeros than needed, and an odd one at the bottom and on the right.
    Same,
    /// `PyTorch`'s: half a kernel on each side.
    Half,
}

/// Weights `[K · K · 3][panel]`.
pub(crate) struct Stem<const K: usize> {
    packed: Packed,
    padding: Padding,
    limit: f32,
}

/// The layout of a padded image.
struct Padded {
    above: usize,
    left: usize,
    rows: usize,
    /// Floats of a row.
    pitch: usize,
}

impl<const K: usize> Stem<K> {
    pub(crate) fn new(machine: &Machine, folded: Folded<'_>, padding: Padding, limit: f32) -> Self {
        Self { packed: Packed::new(machine, K * K * COLOURS, folded), padding, limit }
    }

    pub(crate) fn channels(&self) -> usize {
        self.packed.channels
    }

    /// Rows and columns of the output.
    pub(crate) fn output((h, w): (usize, usize)) -> (usize, usize) {
        (h.div_ceil(STRIDE), w.div_ceil(STRIDE))
    }

    fn padded(&self, (h, w): (usize, usize)) -> Padded {
        let (rows, columns) = Self::output((h, w));
        let needed = |out: usize| (out - 1) * STRIDE + K;
        let before = |size: usize, out: usize| match self.padding {
            Padding::Same => needed(out).saturating_sub(size) / 2,
            Padding::Half => K / 2,
        };
        let (above, left) = (before(h, rows), before(w, columns));
        let pitch = size::floats([needed(columns).max(left + w), COLOURS]);
        Padded { above, left, rows: needed(rows).max(above + h), pitch }
    }

    /// Floats of the padded image.
    pub(crate) fn scratch(&self, size: (usize, usize)) -> usize {
        let padded = self.padded(size);
        size::floats([padded.rows, padded.pitch])
    }

    /// Convolves one image `[h, w, 3]`.
    pub(crate) fn run(&self, by: By<'_>, image: &[f32], (h, w): (usize, usize), work: &mut [f32], to: &mut [f32]) {
        let Padded { above, left, rows, pitch } = self.padded((h, w));
        let padded = &mut work[..rows * pitch];
        padded.fill(0.0);
        for (y, from) in image.chunks_exact(w * COLOURS).enumerate() {
            padded[(y + above) * pitch + left * COLOURS..][..from.len()].copy_from_slice(from);
        }
        let padded = &*padded;
        let (rows, columns) = Self::output((h, w));
        let to = Shared::new(&mut to[..rows * columns * self.channels()]);
        let panels = self.packed.panels;
        by.each(rows * panels.count(), 0, &mut [], |task, _| {
            let y = task / panels.count();
            // SAFETY: an output row of this task's own.
            let to = unsafe { to.at(y * columns * self.channels()) };
            let from = &padded[STRIDE * y * pitch..][..K * pitch];
            by.isa.run(Row { stem: self, panel: panels.panel(task % panels.count()), from, pitch, columns, to });
        });
    }
}

/// One panel of one output row.
struct Row<'a, const K: usize> {
    stem: &'a Stem<K>,
    panel: Panel,
    from: &'a [f32],
    pitch: usize,
    columns: usize,
    to: *mut f32,
}

impl<const K: usize> Kernel for Row<'_, K> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        with_panel!(self.panel, self.panel::<S>(simd));
    }
}

impl<const K: usize> Row<'_, K> {
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(&self, simd: S) {
        let (stem, panel) = (self.stem, self.panel);
        let run = K * COLOURS;
        let width = panel.registers() * S::LANES;
        let weights = stem.packed.weights.at(panel.packed_at(K * run));
        let (low, high) = (simd.zero(), simd.splat(stem.limit));
        row_blocks!(S, NV, HALF, self.columns, x, MR => {
            // SAFETY: bias and weights were packed for this panel; K rows of K pixels are read inside
            // the padded image; the output row is this task's own.
            unsafe {
                let mut totals = Block::<S, MR, NV, HALF>::of(simd, stem.packed.bias.at(panel.first));
                for y in 0..K {
                    let mut left = [std::ptr::null(); MR];
                    for r in 0..MR {
                        left[r] = self.from[y * self.pitch + STRIDE * (x + r) * COLOURS..].as_ptr();
                    }
                    totals.accumulate(simd, left, 1, weights.add(y * run * width), width, run);
                }
                for r in 0..MR {
                    for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                        let value = simd.min(simd.max(totals.get(simd, r, j), low), high);
                        let done = j * S::LANES;
                        let at = (x + r) * stem.channels() + panel.first + done;
                        simd.store_first(self.to.add(at), value, panel.width - done);
                    }
                }
            }
        });
    }
}
