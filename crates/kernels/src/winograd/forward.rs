//! The forward pass (and, with other weights, the input gradient), in chunks of tiles that stay in
//! the second-level cache.
//!
//! With many tiles, a task does all three steps of a chunk. With few tiles but many channels, all tiles
//! are transformed first, then a task does the other two steps of a block of output channels.

use super::tiles::{Tiles, Transformed, transform_input};
use super::{POINTS, Weights, transform};
use crate::buffer::Shared;
use crate::convolution::Machine;
use crate::gemm::{Block, Panel, row_blocks, with_panel};
use crate::image::{Image, Layout, TILE};
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::sink::Sink;
use crate::sums::{Sums, add_to_row};
use std::ops::Range;

/// Tiles of a chunk.
const CHUNK: usize = 24;
/// About how many output channels are computed between two output transforms (panels are not split).
const BLOCK: usize = 48;
/// Below this many chunks, tasks are blocks of output channels.
const FEW: usize = 12;
/// The largest number of registers of a block's row, for the sums: four lanes each, and two panels may
/// have one more than a pair.
const MOST: usize = BLOCK / 4 + 2;

impl Weights {
    /// Convolves `input` and gives the result to `sink`, which writes to an image of layout `out`.
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
        let tiles = Tiles::new(out.shape());
        let chunks = tiles.count().div_ceil(CHUNK);
        let (rows, stride) = sums.map(|sums| sums.begin(chunks, out.shape().c)).unzip();
        let job = Job { weights: self, tiles, input, out, sink, rows, stride: stride.unwrap_or(0) };
        if chunks >= FEW { job.by_chunks(machine, chunks) } else { job.by_channels(machine, chunks) }
    }

    /// Blocks of panels, of nearly equal width.
    fn blocks(&self) -> Blocks {
        let panels = self.panels;
        let per_block = panels.count().div_ceil(panels.padded().div_ceil(BLOCK));
        let count = panels.count().div_ceil(per_block);
        let registers = |block: usize| {
            let range = block * per_block..panels.count().min((block + 1) * per_block);
            range.map(|index| panels.panel(index).registers()).sum()
        };
        Blocks { count, per_block, panels: panels.count(), registers: (0..count).map(registers).max().unwrap_or(0) }
    }
}

#[derive(Clone, Copy)]
struct Blocks {
    count: usize,
    per_block: usize,
    panels: usize,
    /// The size of the widest block.
    registers: usize,
}

impl Blocks {
    fn panels(self, block: usize) -> Range<usize> {
        block * self.per_block..self.panels.min((block + 1) * self.per_block)
    }
}

#[derive(Clone, Copy)]
struct Job<'a, K> {
    weights: &'a Weights,
    tiles: Tiles,
    input: &'a Image,
    out: Layout,
    sink: K,
    rows: Option<Shared>,
    stride: usize,
}

impl<K: Sink> Job<'_, K> {
    fn chunk(&self, index: usize) -> Range<usize> {
        index * CHUNK..self.tiles.count().min((index + 1) * CHUNK)
    }

    /// The chunk's row of sums.
    fn sums(&self, chunk: usize) -> *mut f32 {
        // SAFETY: there is a row per chunk.
        self.rows.map_or(std::ptr::null_mut(), |rows| unsafe { rows.at(chunk * 2 * self.stride) })
    }

    fn by_chunks(self, machine: &Machine, chunks: usize) {
        let blocks = self.weights.blocks();
        let lanes = machine.isa.lanes();
        let at = Transformed::new(CHUNK, self.weights.depth, lanes);
        let products = Transformed::new(CHUNK, blocks.registers * lanes, lanes);
        machine.pool.run(chunks, |index, scratch| {
            let (v, m) = scratch.at_least(at.len() + products.len()).split_at_mut(at.len());
            let tiles = self.chunk(index);
            machine.isa.run(Transform {
                tiles: self.tiles,
                input: self.input,
                range: tiles.clone(),
                to: v.as_mut_ptr(),
                at,
            });
            for block in 0..blocks.count {
                let panels = blocks.panels(block);
                let (v, sums) = (v.as_ptr(), self.sums(index));
                machine.isa.run(Multiply {
                    job: self,
                    v,
                    at,
                    m: m.as_mut_ptr(),
                    products,
                    tiles: tiles.clone(),
                    panels,
                    sums,
                });
            }
        });
    }

    fn by_channels(self, machine: &Machine, chunks: usize) {
        const STEP: usize = 4;
        let count = self.tiles.count();
        let (blocks, lanes) = (self.weights.blocks(), machine.isa.lanes());
        let at = Transformed::new(count, self.weights.depth, lanes);
        let products = Transformed::new(CHUNK, blocks.registers * lanes, lanes);
        let mut transformed = machine.spare.lend(at.len());
        let shared = Shared::new(&mut transformed);
        machine.pool.run(count.div_ceil(STEP), |task, _| {
            let range = task * STEP..count.min((task + 1) * STEP);
            // SAFETY: each task writes its own tiles of every point's matrix.
            let to = unsafe { shared.at(range.start * at.pitch) };
            machine.isa.run(Transform { tiles: self.tiles, input: self.input, range, to, at });
        });
        machine.pool.run(blocks.count * chunks, |task, scratch| {
            let (block, chunk) = (task / chunks, task % chunks);
            let panels = blocks.panels(block);
            let tiles = self.chunk(chunk);
            let v = transformed[tiles.start * at.pitch..].as_ptr();
            let m = scratch.at_least(products.len()).as_mut_ptr();
            machine.isa.run(Multiply { job: self, v, at, m, products, tiles, panels, sums: self.sums(chunk) });
        });
    }
}

struct Transform<'a> {
    tiles: Tiles,
    input: &'a Image,
    range: Range<usize>,
    to: *mut f32,
    at: Transformed,
}

impl Kernel for Transform<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        // SAFETY: `to` was made for these tiles.
        unsafe { transform_input(simd, self.tiles, self.input, self.range, self.to, self.at) };
    }
}

/// Products of one chunk of tiles and one block of panels, and their transform back into the image.
struct Multiply<'a, K> {
    job: Job<'a, K>,
    v: *const f32,
    at: Transformed,
    /// This task's memory for the products.
    m: *mut f32,
    products: Transformed,
    tiles: Range<usize>,
    panels: Range<usize>,
    sums: *mut f32,
}

impl<K: Sink> Kernel for Multiply<'_, K> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let panels = self.job.weights.panels;
        let first = panels.panel(self.panels.start).first;
        let mut end = first;
        for index in self.panels.clone() {
            let panel = panels.panel(index);
            with_panel!(panel, self.products::<S>(simd, panel, first));
            end = panel.first + panel.width;
        }
        self.write(simd, first..end);
    }
}

impl<K: Sink> Multiply<'_, K> {
    /// The products of one panel, point after point.
    #[inline(always)]
    fn products<S: Simd, const NV: usize, const HALF: bool>(&self, simd: S, panel: Panel, first: usize) {
        let Weights { depth, packed, .. } = self.job.weights;
        let width = (NV + usize::from(HALF)) * S::LANES;
        let u = packed[panel.packed_at(POINTS * depth)..].as_ptr();
        let m = self.m.wrapping_add(panel.first - first);
        let (depth, v_pitch, m_pitch, tiles) = (*depth, self.at.pitch, self.products.pitch, self.tiles.len());
        for point in 0..POINTS {
            let u = u.wrapping_add(point * depth * width);
            let v = self.v.wrapping_add(point * self.at.point);
            let m = m.wrapping_add(point * self.products.point);
            row_blocks!(S, NV, HALF, tiles, t, MR => {
                let mut totals = Block::<S, MR, NV, HALF>::zero(simd);
                let mut left = [v; MR];
                for r in 0..MR {
                    left[r] = v.wrapping_add((t + r) * v_pitch);
                }
                // SAFETY: rows of `depth` floats of the transformed tiles and of the packed
                // weights; `m` is this task's own and has room for the chunk's tiles and the
                // block's registers.
                unsafe {
                    totals.accumulate(simd, left, 1, u, width, depth);
                    totals.store(simd, m.add(t * m_pitch), m_pitch);
                }
            });
        }
    }

    /// `Aᵀ m A` of every tile, to the sink.
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, channels: Range<usize>) {
        let (shape, row) = (self.job.out.shape(), self.job.out.row());
        let c = shape.c;
        let mut sums = [[simd.zero(); 2]; MOST];
        for (t, tile) in self.tiles.clone().enumerate() {
            let (n, y, x) = self.job.tiles.corner(tile);
            let at = self.job.out.offset(n, y, x);
            let whole = y + TILE <= shape.h && x + TILE <= shape.w;
            let (mut channel, mut register) = (channels.start, 0);
            while channel < channels.end {
                let from = self.m.cast_const().wrapping_add(t * self.products.pitch + channel - channels.start);
                let count = channels.end - channel;
                for parity in [0, 1] {
                    // SAFETY: the products of this tile.
                    let rows = unsafe { transform::output_rows(simd, parity, from, self.products.point) };
                    for (i, values) in [parity, parity + 2].into_iter().zip(rows) {
                        let at = at + i * row;
                        let sums = &mut sums[register];
                        // SAFETY: pixels of this task's tile that lie inside the image.
                        unsafe {
                            if whole {
                                let at = [at, at + c, at + 2 * c, at + 3 * c];
                                self.job.sink.put(simd, at, channel, count, values, sums);
                            } else if y + i < shape.h {
                                for j in 0..TILE.min(shape.w - x) {
                                    self.job.sink.put(simd, [at + j * c], channel, count, [values[j]], sums);
                                }
                            }
                        }
                    }
                }
                channel += S::LANES;
                register += 1;
            }
        }
        if K::GATHERS {
            for register in 0..channels.len().div_ceil(S::LANES) {
                let channel = channels.start + register * S::LANES;
                // SAFETY: these channels of this chunk's row of sums belong to this task.
                unsafe { add_to_row(simd, self.sums.add(channel), self.job.stride, sums[register]) };
            }
        }
    }
}
