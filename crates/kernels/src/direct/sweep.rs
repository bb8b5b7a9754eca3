//! The forward loop of every direct convolution, and (with other weights) of its input gradient.

use crate::buffer::{Loan, Shared};
use crate::convolution::{Convolution, Machine};
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::image::{Image, Layout, Shape};
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::sink::Sink;
use crate::size;
use crate::sums::{Sums, add_to_row};

/// The largest number of pixels of one task.
const MOST: usize = 192;

/// Which pixels are read and written, and how; see the parent module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// Runs of input floats per output pixel, one input row apart.
    rows: usize,
    /// Pixels of one run.
    columns: usize,
    /// The first input row and column read is `step · (grid row, grid column) − before`.
    step: usize,
    before: usize,
    /// The output pixel is `spread · (grid row, grid column) + parity`.
    spread: usize,
    parity: [usize; 2],
}

impl Sweep {
    pub(crate) fn forward(conv: Convolution) -> Self {
        let k = conv.kernel;
        Self { rows: k, columns: k, step: conv.stride, before: k / 2, spread: 1, parity: [0, 0] }
    }

    /// The sweeps that together give the gradient to the input.
    pub(crate) fn input_gradient(conv: Convolution) -> Vec<Self> {
        if conv.stride == 1 {
            return vec![Self::forward(conv)];
        }
        let one =
            |y: usize, x: usize| Self { rows: 1 + y, columns: 1 + x, step: 1, before: 0, spread: 2, parity: [y, x] };
        match conv.kernel {
            1 => vec![one(0, 0)],
            _ => vec![one(0, 0), one(0, 1), one(1, 0), one(1, 1)],
        }
    }

    /// The row (or column) of the convolution's kernel that tap `t` of a gradient sweep along axis
    /// `axis` stands for.
    fn gradient_tap(self, conv: Convolution, axis: usize, t: usize) -> usize {
        match (conv.stride, conv.kernel, self.parity[axis]) {
            (_, 1, _) => 0,
            (1, k, _) => k - 1 - t,
            (_, _, 0) => 1,
            _ => 2 - 2 * t,
        }
    }

    /// The grid of pixels of this sweep, to fill `out`.
    fn grid(self, out: Shape) -> Shape {
        let along = |size: usize, parity: usize| (size - parity.min(size)).div_ceil(self.spread);
        Shape { h: along(out.h, self.parity[0]), w: along(out.w, self.parity[1]), ..out }
    }
}

/// A sweep and its weights, panel by panel `[rows · columns · cin][panel]`.
pub(crate) struct PackedSweep {
    sweep: Sweep,
    depth: usize,
    panels: Panels,
    weights: Loan,
}

impl PackedSweep {
    /// Packs the weights `[k, k, cin, cout]` for the forward pass.
    pub(crate) fn forward(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        let sweep = Sweep::forward(conv);
        let depth = conv.kernel * conv.kernel * conv.cin;
        Self::pack(machine, sweep, depth, conv.cout, |k, column| weights[k * conv.cout + column])
    }

    /// Packs the weights `[k, k, cin, cout]` for every sweep of the input gradient.
    pub(crate) fn input_gradient(machine: &Machine, conv: Convolution, weights: &[f32]) -> Vec<Self> {
        let Convolution { kernel, cin, cout, .. } = conv;
        let pack = |sweep: Sweep| {
            Self::pack(machine, sweep, sweep.rows * sweep.columns * cout, cin, |k, ci| {
                let (tap, co) = (k / cout, k % cout);
                let y = sweep.gradient_tap(conv, 0, tap / sweep.columns);
                let x = sweep.gradient_tap(conv, 1, tap % sweep.columns);
                weights[((y * kernel + x) * cin + ci) * cout + co]
            })
        };
        Sweep::input_gradient(conv).into_iter().map(pack).collect()
    }

    fn pack(
        machine: &Machine,
        sweep: Sweep,
        depth: usize,
        columns: usize,
        weight: impl Fn(usize, usize) -> f32 + Sync,
    ) -> Self {
        let lanes = machine.isa.lanes();
        let panels = Panels::new(columns, lanes, machine.isa.halves());
        let mut packed = machine.spare.lend(size::floats([depth, panels.padded()]));
        let shared = Shared::new(&mut packed);
        machine.pool.run(panels.count(), |index, _| {
            let panel = panels.panel(index);
            let (at, width) = (panel.packed_at(depth), panel.registers() * lanes);
            // SAFETY: the panels' weights do not overlap.
            let to = unsafe { std::slice::from_raw_parts_mut(shared.at(at), depth * width) };
            for (k, row) in to.chunks_exact_mut(width).enumerate() {
                let (used, padding) = row.split_at_mut(panel.width);
                used.iter_mut().enumerate().for_each(|(j, to)| *to = weight(k, panel.first + j));
                padding.fill(0.0);
            }
        });
        Self { sweep, depth, panels, weights: packed }
    }

    /// Number of tasks, and of rows of sums, for an output of shape `out`.
    pub(crate) fn tasks(&self, out: Shape) -> usize {
        let pixels = self.sweep.grid(out).pixels();
        pixels.div_ceil(pixels_per_task(pixels))
    }

    /// Sweeps over `input` and gives all sums to `sink`, which writes to an image of layout `out`.
    /// The caller has checked that these are the shapes of the layer, that `input` has a
    /// border and that `machine` has the registers the weights were packed for.
    pub(crate) fn run<K: Sink>(
        &self,
        machine: &Machine,
        input: &Image,
        out: Layout,
        sink: K,
        sums: Option<&mut Sums<2>>,
    ) {
        debug_assert_eq!(K::GATHERS, sums.is_some());
        let grid = self.sweep.grid(out.shape());
        let per_task = pixels_per_task(grid.pixels());
        let tasks = self.tasks(out.shape());
        let (rows, stride) = sums.map(|sums| sums.begin(tasks, out.shape().c)).unzip();
        let stride = stride.unwrap_or(0);
        machine.pool.run(tasks, |task, _| {
            let first = task * per_task;
            // SAFETY: row `task` of the sums is this task's own.
            let sums = rows.map_or(std::ptr::null_mut(), |rows: Shared| unsafe { rows.at(task * 2 * stride) });
            let count = per_task.min(grid.pixels() - first);
            machine.isa.run(Task { packed: self, input, out, grid, first, count, sink, sums, stride });
        });
    }
}

fn pixels_per_task(pixels: usize) -> usize {
    pixels.div_ceil(32).next_multiple_of(12).clamp(24, MOST)
}

struct Task<'a, K> {
    packed: &'a PackedSweep,
    input: &'a Image,
    out: Layout,
    grid: Shape,
    first: usize,
    count: usize,
    sink: K,
    sums: *mut f32,
    stride: usize,
}

impl<K: Sink> Kernel for Task<'_, K> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut from = [0usize; MOST];
        let mut to = [0usize; MOST];
        self.offsets(&mut from, &mut to);
        for index in 0..self.packed.panels.count() {
            let panel = self.packed.panels.panel(index);
            with_panel!(panel, self.panel::<S>(simd, panel, &from, &to));
        }
    }
}

impl<K: Sink> Task<'_, K> {
    /// The offsets that each of the task's pixels reads and writes.
    #[inline(always)]
    fn offsets(&self, from: &mut [usize; MOST], to: &mut [usize; MOST]) {
        let (sweep, grid, input) = (self.packed.sweep, self.grid, self.input.layout());
        for i in 0..self.count {
            let pixel = self.first + i;
            let (n, y, x) = (pixel / (grid.h * grid.w), pixel / grid.w % grid.h, pixel % grid.w);
            let (iy, ix) = (y * sweep.step, x * sweep.step);
            from[i] = if sweep.before == 1 { input.offset_before(n, iy, ix) } else { input.offset(n, iy, ix) };
            to[i] = self.out.offset(n, y * sweep.spread + sweep.parity[0], x * sweep.spread + sweep.parity[1]);
        }
    }

    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(
        &self,
        simd: S,
        panel: Panel,
        from: &[usize; MOST],
        to: &[usize; MOST],
    ) {
        let PackedSweep { sweep, depth, weights, .. } = self.packed;
        let weights = weights[panel.packed_at(*depth)..].as_ptr();
        let run = sweep.columns * self.input.shape().c;
        let (pitch, width) = (self.input.layout().row(), (NV + usize::from(HALF)) * S::LANES);
        row_blocks!(S, NV, HALF, self.count, i, MR => {
            let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
            let mut left = [std::ptr::null(); MR];
            for r in 0..MR {
                left[r] = self.input.at(from[i + r]);
            }
            for row in 0..sweep.rows {
                // SAFETY: a run of pixels inside the bordered input, and the weights packed for it.
                unsafe { totals.accumulate(simd, left, 1, weights.add(row * run * width), width, run) };
                for r in 0..MR {
                    left[r] = left[r].wrapping_add(pitch);
                }
            }
            let mut at = [0; MR];
            at.copy_from_slice(&to[i..][..MR]);
            for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                let mut values = [simd.zero(); MR];
                for r in 0..MR {
                    values[r] = totals.get(simd, r, j);
                }
                let (channel, done) = (panel.first + j * S::LANES, j * S::LANES);
                let mut sums = [simd.zero(); 2];
                // SAFETY: the pixels are this task's own, inside the output; the sums are this
                // task's row.
                unsafe {
                    self.sink.put(simd, at, channel, panel.width - done, values, &mut sums);
                    if K::GATHERS {
                        add_to_row(simd, self.sums.add(channel), self.stride, sums);
                    }
                }
            }
        });
    }
}
