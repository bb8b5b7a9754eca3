//! A batch of images in memory: NHWC, rows and columns rounded up to whole Winograd tiles, with or
//! without a border of zeros.
//!
//! An image that a 3×3 convolution reads has a border of one pixel that is 0 and stays 0: only
//! pixels inside are ever written, so kernels need no border code. An image that kernels only write
//! has no border, and the pixels beyond its true height and width (at most three rows and columns)
//! have no meaning.

use crate::buffer::{Buffer, Shared};
use crate::size;

/// Pixels along the side of a Winograd output tile: sizes are rounded up to it.
pub(crate) const TILE: usize = 4;

/// Batch, height, width, channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Images in the batch.
    pub n: usize,
    /// Rows.
    pub h: usize,
    /// Columns.
    pub w: usize,
    /// Channels.
    pub c: usize,
}

impl Shape {
    /// Images × rows × columns.
    ///
    /// # Panics
    /// If there are more than fit into memory.
    pub fn pixels(self) -> usize {
        size::floats([self.n, self.h, self.w])
    }

    /// Floats of the dense array `[n, h, w, c]`.
    ///
    /// # Panics
    /// If there are more than fit into memory.
    pub fn len(self) -> usize {
        size::floats([self.n, self.h, self.w, self.c])
    }

    /// Whether the dense array is empty.
    pub fn is_empty(self) -> bool {
        [self.n, self.h, self.w, self.c].contains(&0)
    }
}

/// The offsets of the pixels of a batch, without memory. There is at least one pixel, and all of them
/// fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    border: usize,
}

impl Layout {
    /// With a border of zeros, for images that a 3×3 convolution reads.
    ///
    /// # Panics
    /// If the shape is empty, or does not fit into memory.
    pub fn bordered(shape: Shape) -> Self {
        Self::new(shape, 1)
    }

    /// Without a border.
    ///
    /// # Panics
    /// If the shape is empty, or does not fit into memory.
    pub fn plain(shape: Shape) -> Self {
        Self::new(shape, 0)
    }

    /// If the length of all images together does not wrap around, no offset inside them does.
    fn new(shape: Shape, border: usize) -> Self {
        let Shape { n, h, w, c } = shape;
        assert!(!shape.is_empty(), "a batch has at least one image, row, column and channel, not {shape:?}");
        // Rounding up cannot wrap around below this limit, and a larger image does not fit into memory.
        assert!(h.max(w) <= size::MOST, "{shape:?} does not fit into memory");
        let side = |pixels: usize| pixels.next_multiple_of(TILE) + 2 * border;
        size::floats([n, side(h), side(w), c]);
        Self { shape, border }
    }

    /// What the image holds.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Whether there is a border of zeros.
    pub(crate) fn is_bordered(self) -> bool {
        self.border == 1
    }

    /// Floats from a pixel to the one below it.
    pub(crate) fn row(self) -> usize {
        (self.shape.w.next_multiple_of(TILE) + 2 * self.border) * self.shape.c
    }

    /// Floats from an image to the next.
    pub(crate) fn image(self) -> usize {
        (self.shape.h.next_multiple_of(TILE) + 2 * self.border) * self.row()
    }

    /// The offset of pixel `(y, x)` of image `n`.
    pub(crate) fn offset(self, n: usize, y: usize, x: usize) -> usize {
        n * self.image() + (y + self.border) * self.row() + (x + self.border) * self.shape.c
    }

    /// The offset of the pixel above and left of `(y, x)`: the first pixel that a 3×3 kernel reads.
    pub(crate) fn offset_before(self, n: usize, y: usize, x: usize) -> usize {
        debug_assert_eq!(self.border, 1, "a 3×3 kernel reads the border");
        n * self.image() + y * self.row() + x * self.shape.c
    }

    /// Floats of all images.
    pub(crate) fn len(self) -> usize {
        self.shape.n * self.image()
    }
}

/// A batch of images and its memory.
///
/// The buffer is at least as long as the layout says: kernels rely on it.
pub struct Image {
    layout: Layout,
    data: Buffer,
}

impl Image {
    /// All zeros.
    pub fn new(layout: Layout) -> Self {
        Self { layout, data: Buffer::new(layout.len()) }
    }

    /// All zeros, with room for other layouts of up to `floats`.
    pub(crate) fn with_room(layout: Layout, floats: usize) -> Self {
        Self { layout, data: Buffer::new(floats.max(layout.len())) }
    }

    /// Changes the layout. Pixels then have unspecified values, and the border is zero.
    ///
    /// # Panics
    /// If there is no room for it.
    pub(crate) fn lay_out(&mut self, layout: Layout) {
        if self.layout == layout {
            return;
        }
        let Shape { h, w, c, .. } = layout.shape;
        let around = layout.border * c;
        let data = &mut self.data[..layout.len()];
        self.layout = layout;
        for image in data.chunks_exact_mut(layout.image()) {
            for (y, row) in image.chunks_exact_mut(layout.row()).enumerate() {
                if (layout.border..layout.border + h).contains(&y) {
                    row[..around].fill(0.0);
                    row[around + w * c..].fill(0.0);
                } else {
                    row.fill(0.0);
                }
            }
        }
    }

    /// An image with a border, filled from the dense array `[n, h, w, c]`.
    ///
    /// # Panics
    /// If the shape is empty, or `dense` has another length.
    pub fn bordered_from(shape: Shape, dense: &[f32]) -> Self {
        let mut image = Self::new(Layout::bordered(shape));
        image.fill(dense);
        image
    }

    /// An image without a border, filled from the dense array `[n, h, w, c]`.
    ///
    /// # Panics
    /// If the shape is empty, or `dense` has another length.
    pub fn plain_from(shape: Shape, dense: &[f32]) -> Self {
        let mut image = Self::new(Layout::plain(shape));
        image.fill(dense);
        image
    }

    /// What the image holds.
    pub fn shape(&self) -> Shape {
        self.layout.shape
    }

    /// The layout of the pixels.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The memory: at least as many floats as the layout says.
    pub(crate) fn data(&self) -> &Buffer {
        &self.data
    }

    /// The address of float `offset`. It may be read up to a register beyond the end.
    ///
    /// # Panics
    /// If `offset` is beyond the end.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize) -> *const f32 {
        self.data.at(offset)
    }

    /// The memory, for kernels that write pixels at the layout's offsets.
    pub(crate) fn shared(&mut self) -> Shared {
        Shared::new(&mut self.data)
    }

    /// Row `y` of image `n`: `w · c` floats.
    pub(crate) fn row_mut(&mut self, n: usize, y: usize) -> &mut [f32] {
        let at = self.layout.offset(n, y, 0);
        &mut self.data[at..at + self.layout.shape.w * self.layout.shape.c]
    }

    /// Row `y` of image `n`: `w · c` floats.
    pub(crate) fn row(&self, n: usize, y: usize) -> &[f32] {
        let at = self.layout.offset(n, y, 0);
        &self.data[at..at + self.layout.shape.w * self.layout.shape.c]
    }

    /// Sets the pixels from the dense array `[n, h, w, c]`.
    ///
    /// # Panics
    /// If `dense` has another length.
    pub fn fill(&mut self, dense: &[f32]) {
        let Shape { h, w, c, .. } = self.shape();
        assert_eq!(dense.len(), self.shape().len(), "a dense array of {:?}", self.shape());
        for (row, values) in dense.chunks_exact(w * c).enumerate() {
            self.row_mut(row / h, row % h).copy_from_slice(values);
        }
    }

    /// The pixels as a dense array `[n, h, w, c]`.
    pub fn to_dense(&self) -> Vec<f32> {
        let Shape { n, h, .. } = self.shape();
        let mut dense = Vec::with_capacity(self.shape().len());
        for row in 0..n * h {
            dense.extend_from_slice(self.row(row / h, row % h));
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    const HALF: usize = 1 << (usize::BITS / 2);

    #[test]
    fn shapes_without_pixels_or_beyond_memory_have_no_layout() {
        let good = Shape { n: 2, h: 5, w: 3, c: 7 };
        assert_eq!((Layout::plain(good).len(), Layout::bordered(good).len()), (2 * 8 * 4 * 7, 2 * 10 * 6 * 7));
        for shape in [
            Shape { n: 0, ..good },
            Shape { h: 0, ..good },
            Shape { w: 0, ..good },
            Shape { c: 0, ..good },
            Shape { h: usize::MAX, ..good },
            Shape { w: usize::MAX - 3, ..good },
            Shape { n: HALF, c: HALF, ..good },
            Shape { h: HALF, w: HALF, ..good },
            Shape { n: size::MOST, h: 1, w: 1, c: 1 },
        ] {
            assert!(catch_unwind(|| Layout::plain(shape)).is_err(), "{shape:?}");
            assert!(catch_unwind(|| Layout::bordered(shape)).is_err(), "{shape:?}");
        }
    }

    #[test]
    fn there_is_memory_for_every_pixel_and_border() {
        for layout in [Layout::plain, Layout::bordered] {
            let layout = layout(Shape { n: 3, h: 5, w: 7, c: 2 });
            let image = Image::new(layout);
            let last = layout.offset(2, 4, 6) + 2;
            assert!(last <= layout.len() && layout.len() <= image.data.len());
        }
    }

    #[test]
    fn an_image_without_room_for_a_layout_keeps_its_own() {
        let small = Layout::plain(Shape { n: 1, h: 4, w: 4, c: 1 });
        let large = Layout::bordered(Shape { n: 1, h: 4, w: 4, c: 2 });
        let mut image = Image::new(small);
        let result = catch_unwind(std::panic::AssertUnwindSafe(|| image.lay_out(large)));
        assert!(result.is_err() && image.layout() == small);
    }
}
