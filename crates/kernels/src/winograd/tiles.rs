//! The tiles of a batch, and their transform.

use super::transform;
use super::{GAP, POINTS};
use crate::image::{Image, Shape, TILE};
use crate::simd::Simd;
use crate::size;
use std::ops::Range;

/// All tiles of a batch, counted along rows, then columns of tiles, then images.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    rows: usize,
    columns: usize,
    images: usize,
}

impl Tiles {
    pub(super) fn new(shape: Shape) -> Self {
        Self { rows: shape.h.div_ceil(TILE), columns: shape.w.div_ceil(TILE), images: shape.n }
    }

    pub(super) fn count(self) -> usize {
        self.images * self.rows * self.columns
    }

    /// Image, row and column (in pixels) of the first output of tile `index`.
    #[inline(always)]
    pub(super) fn corner(self, index: usize) -> (usize, usize, usize) {
        let (row, column) = (index / self.columns, index % self.columns);
        (row / self.rows, row % self.rows * TILE, column * TILE)
    }
}

/// A matrix `[tiles, pitch]` for each point and each block of channels:
/// `[block][point][tile][channel]`.
#[derive(Clone, Copy)]
pub(super) struct Transformed {
    /// Floats from a tile to the next.
    pub pitch: usize,
    /// Floats from a point to the next.
    pub point: usize,
    /// Channels of a block.
    block: usize,
    channels: usize,
}

impl Transformed {
    /// `tiles` rows of `channels` floats, in whole registers of `lanes`; all channels are one block.
    pub(super) fn new(tiles: usize, channels: usize, lanes: usize) -> Self {
        let mut pitch = channels.next_multiple_of(lanes);
        if pitch.is_multiple_of(128) {
            // Rows at distances of a power of two would use the same cache sets.
            pitch += 16;
        }
        Self { pitch, point: size::floats([tiles, pitch]) + GAP, block: usize::MAX, channels }
    }

    /// Blocks of `block` channels, a multiple of `lanes`: what a weight gradient reads tile by
    /// tile, a few channels of each.
    pub(super) fn in_blocks(tiles: usize, channels: usize, block: usize) -> Self {
        Self { pitch: block, point: size::floats([tiles, block]) + GAP, block, channels }
    }

    pub(super) fn len(self) -> usize {
        size::floats([self.channels.div_ceil(self.block).max(1), POINTS, self.point])
    }

    /// The offset of channel `channel` of tile 0, point 0.
    #[inline(always)]
    pub(super) fn channel(self, channel: usize) -> usize {
        if channel < self.block {
            return channel;
        }
        channel / self.block * POINTS * self.point + channel % self.block
    }
}

/// Writes `Bᵀ d B` of the input tiles `range` to `to`, tile after tile.
///
/// # Safety
/// `to` must be writable for `range.len()` tiles of the layout `at` says, and `image` must have a
/// border and the tiles of `range`.
#[inline(always)]
pub(super) unsafe fn transform_input<S: Simd>(
    simd: S,
    tiles: Tiles,
    image: &Image,
    range: Range<usize>,
    to: *mut f32,
    at: Transformed,
) {
    let layout = image.layout();
    let (c, row) = (layout.shape().c, layout.row());
    for (t, tile) in range.enumerate() {
        let (n, y, x) = tiles.corner(tile);
        let from = image.at(layout.offset_before(n, y, x));
        let mut channel = 0;
        while channel < c {
            // SAFETY: 6×6 pixels inside the bordered image; a register may also read the next pixel
            // or the slack.
            unsafe {
                let to = to.add(t * at.pitch + at.channel(channel));
                transform::input_tile(simd, from.add(channel), row, c, to, at.point);
            }
            channel += S::LANES;
        }
    }
}

/// Writes `A y Aᵀ` of the output-gradient tiles `range` to `to`, tile after tile.
///
/// # Safety
/// `to` must be writable for `range.len()` tiles of the layout `at` says, and `image` must have the
/// tiles of `range`.
#[inline(always)]
pub(super) unsafe fn transform_output_gradient<S: Simd>(
    simd: S,
    tiles: Tiles,
    image: &Image,
    range: Range<usize>,
    to: *mut f32,
    at: Transformed,
) {
    let layout = image.layout();
    let (c, row) = (layout.shape().c, layout.row());
    for (t, tile) in range.enumerate() {
        let (n, y, x) = tiles.corner(tile);
        let from = image.at(layout.offset(n, y, x));
        let mut channel = 0;
        while channel < c {
            // SAFETY: 4×4 pixels inside the image rounded up to tiles; a register may also read the
            // next pixel or the slack.
            unsafe {
                let to = to.add(t * at.pitch + at.channel(channel));
                transform::output_gradient_tile(simd, from.add(channel), row, c, to, at.point);
            }
            channel += S::LANES;
        }
    }
}
