//! Rows of an image as flat arrays: per-channel values repeated along them, and their distribution
//! among tasks.

use crate::buffer::Buffer;
use crate::image::{Layout, Shape};
use crate::size;
use std::ops::Range;

/// Floats per task: a quarter of a first-level cache for each of two images.
const PER_TASK: usize = 1 << 13;

/// `values` repeated `w` times.
pub(super) fn repeat(values: &[f32], w: usize) -> Buffer {
    let mut row = Buffer::new(size::floats([values.len(), w]));
    for pixel in row.chunks_exact_mut(values.len()) {
        pixel.copy_from_slice(values);
    }
    row
}

/// All rows of a batch, split into tasks by shape alone.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    shape: Shape,
    per_task: usize,
}

impl Rows {
    /// The rows of a shape that is not empty.
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, per_task: (PER_TASK / (shape.w * shape.c)).max(1) }
    }

    pub(super) fn tasks(self) -> usize {
        (self.shape.n * self.shape.h).div_ceil(self.per_task)
    }

    pub(super) fn of_task(self, task: usize) -> Range<usize> {
        task * self.per_task..(self.shape.n * self.shape.h).min((task + 1) * self.per_task)
    }

    /// Floats of a row.
    pub(super) fn len(self) -> usize {
        self.shape.w * self.shape.c
    }
}

/// The offset of row `row`, counted through the batch.
#[inline(always)]
pub(super) fn start(layout: Layout, row: usize) -> usize {
    let h = layout.shape().h;
    layout.offset(row / h, row % h, 0)
}
