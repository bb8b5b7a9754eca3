//! A batch of images in memory: NHWC, rows and columns rounded up to whole Winograd tiles, with or without a border of zeros.
//!
//! An image that a 3×3 convolution reads has a border of one pixel that is 0 and stays 0: only pixels inside are ever written,
//! so kernels need no border code. An image that is only written by kernels has none, and what lies beyond its true height and
//! width (never more than three rows and columns) is nobody's.

use crate::buffer::Buffer;

/// Pixels along the side of a Winograd output tile: sizes are rounded up to it.
pub const TILE: usize = 4;

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
    pub fn pixels(self) -> usize {
        self.n * self.h * self.w
    }

    /// Floats of the dense array `[n, h, w, c]`.
    pub fn len(self) -> usize {
        self.pixels() * self.c
    }

    /// Whether the dense array is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Where the pixels of a batch lie: offsets only, no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What the image holds.
    pub shape: Shape,
    border: usize,
}

impl Layout {
    /// With a border of zeros, for images a 3×3 convolution reads.
    pub fn bordered(shape: Shape) -> Self {
        Self { shape, border: 1 }
    }

    /// Without a border.
    pub fn plain(shape: Shape) -> Self {
        Self { shape, border: 0 }
    }

    /// Floats from a pixel to the one below it.
    pub fn row(self) -> usize {
        (self.shape.w.next_multiple_of(TILE) + 2 * self.border) * self.shape.c
    }

    /// Floats from an image to the next.
    pub fn image(self) -> usize {
        (self.shape.h.next_multiple_of(TILE) + 2 * self.border) * self.row()
    }

    /// Where the pixel `(y, x)` of image `n` begins.
    pub fn offset(self, n: usize, y: usize, x: usize) -> usize {
        n * self.image() + (y + self.border) * self.row() + (x + self.border) * self.shape.c
    }

    /// Where the pixel above and left of `(y, x)` begins: the first one a 3×3 kernel reads.
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
pub struct Image {
    /// Where the pixels lie.
    pub layout: Layout,
    pub(crate) data: Buffer,
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

    /// Lets pixels lie otherwise from now on. Those that there are become any values; what is around them, zeros.
    ///
    /// # Panics
    /// If there is no room for it.
    pub(crate) fn lay_out(&mut self, layout: Layout) {
        if self.layout == layout {
            return;
        }
        self.layout = layout;
        let Shape { n, h, w, c } = layout.shape;
        let around = layout.border * c;
        for image in self.data[..layout.len()].chunks_exact_mut(layout.image()).take(n) {
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
    pub fn bordered_from(shape: Shape, dense: &[f32]) -> Self {
        let mut image = Self::new(Layout::bordered(shape));
        image.fill(dense);
        image
    }

    /// An image without a border, filled from the dense array `[n, h, w, c]`.
    pub fn plain_from(shape: Shape, dense: &[f32]) -> Self {
        let mut image = Self::new(Layout::plain(shape));
        image.fill(dense);
        image
    }

    /// What the image holds.
    pub fn shape(&self) -> Shape {
        self.layout.shape
    }

    /// Sets the pixels from the dense array `[n, h, w, c]`.
    ///
    /// # Panics
    /// If `dense` has another length.
    pub fn fill(&mut self, dense: &[f32]) {
        let Shape { h, w, c, .. } = self.shape();
        assert_eq!(dense.len(), self.shape().len(), "a dense array of {:?}", self.shape());
        for (row, values) in dense.chunks_exact(w * c).enumerate() {
            let at = self.layout.offset(row / h, row % h, 0);
            self.data[at..at + w * c].copy_from_slice(values);
        }
    }

    /// The pixels as a dense array `[n, h, w, c]`.
    pub fn to_dense(&self) -> Vec<f32> {
        let Shape { n, h, w, c } = self.shape();
        let mut dense = Vec::with_capacity(self.shape().len());
        for row in 0..n * h {
            let at = self.layout.offset(row / h, row % h, 0);
            dense.extend_from_slice(&self.data[at..at + w * c]);
        }
        dense
    }
}
