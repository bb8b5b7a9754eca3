//! The pixels of a depthwise convolution: padding, and strips of rows.

use crate::size;

/// The largest number of padded pixels of a strip: 32 channels of them stay in the second-level cache.
const STRIP: usize = 2048;

/// A depthwise convolution on images of one size.
#[derive(Debug)]
pub(super) struct Geometry {
    pub h: usize,
    pub w: usize,
    pub kernel: usize,
    pub stride: usize,
    /// Zeros above and on the left. The zeros below and on the right follow from the sizes.
    pad: (usize, usize),
    /// Output rows of every strip but the last.
    rows: usize,
}

/// Output rows `first .. first + rows`, and the input rows that they need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub first: usize,
    pub rows: usize,
    /// The first input row that exists.
    pub input: usize,
    /// How many input rows exist.
    pub inputs: usize,
    /// Rows of zeros before them.
    pub above: usize,
}

impl Geometry {
    pub(super) fn new(h: usize, w: usize, kernel: usize, stride: usize) -> Self {
        let pad = |size: usize| ((size.div_ceil(stride) - 1) * stride + kernel).saturating_sub(size) / 2;
        let mut geometry = Self { h, w, kernel, stride, pad: (pad(h), pad(w)), rows: 1 };
        let out = geometry.output().0;
        while geometry.rows < out && geometry.padded(geometry.rows + 1) <= STRIP {
            geometry.rows += 1;
        }
        // Strips of about the same height.
        geometry.rows = out.div_ceil(out.div_ceil(geometry.rows));
        geometry
    }

    pub(super) fn output(&self) -> (usize, usize) {
        (self.h.div_ceil(self.stride), self.w.div_ceil(self.stride))
    }

    /// Pixels of a padded input row.
    pub(super) fn pitch(&self) -> usize {
        ((self.output().1 - 1) * self.stride + self.kernel).max(self.pad.1 + self.w)
    }

    pub(super) fn left(&self) -> usize {
        self.pad.1
    }

    /// Padded input pixels of a strip of `rows` output rows.
    fn padded(&self, rows: usize) -> usize {
        size::floats([(rows - 1) * self.stride + self.kernel, self.pitch()])
    }

    /// Padded input pixels of the largest strip.
    pub(super) fn largest(&self) -> usize {
        self.padded(self.rows)
    }

    /// Output pixels of the largest strip.
    pub(super) fn strip_pixels(&self) -> usize {
        self.rows * self.output().1
    }

    pub(super) fn strips(&self) -> usize {
        self.output().0.div_ceil(self.rows)
    }

    pub(super) fn strip(&self, index: usize) -> Strip {
        let first = index * self.rows;
        let rows = self.rows.min(self.output().0 - first);
        let (start, end) = (first * self.stride, (first + rows - 1) * self.stride + self.kernel);
        let (input, end) = (start.saturating_sub(self.pad.0), (end - self.pad.0).min(self.h));
        Strip { first, rows, input, inputs: end - input, above: self.pad.0.saturating_sub(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_tensorflows() {
        // 224 at stride 2: nothing above, one row below; 7 at kernel 5: two on each side.
        let even = Geometry::new(224, 224, 3, 2);
        assert_eq!((even.pad, even.pitch(), even.output()), ((0, 0), 225, (112, 112)));
        let odd = Geometry::new(7, 7, 5, 1);
        assert_eq!((odd.pad, odd.pitch(), odd.output()), ((2, 2), 11, (7, 7)));
        let five = Geometry::new(56, 57, 5, 2);
        assert_eq!((five.pad, five.pitch(), five.output()), ((1, 2), 61, (28, 29)));
    }

    #[test]
    fn strips_cover_every_row_once_and_have_the_rows_they_need() {
        for (h, w, kernel, stride) in [(112, 112, 3, 1), (112, 112, 3, 2), (56, 56, 5, 2), (9, 300, 5, 1), (1, 1, 5, 2)]
        {
            let geometry = Geometry::new(h, w, kernel, stride);
            let mut next = 0;
            for strip in (0..geometry.strips()).map(|index| geometry.strip(index)) {
                assert_eq!(strip.first, next);
                next += strip.rows;
                let needed = (strip.rows - 1) * stride + kernel;
                assert!(strip.above + strip.inputs <= needed && strip.input + strip.inputs <= h && strip.rows > 0);
                let below = needed - strip.above - strip.inputs;
                assert!(below == 0 || strip.input + strip.inputs == h, "only the last rows end in zeros");
                assert_eq!(strip.input + geometry.pad.0, strip.first * stride + strip.above);
            }
            assert_eq!(next, geometry.output().0);
        }
    }
}
