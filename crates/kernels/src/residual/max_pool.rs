//! Max pooling of 3×3 pixels at stride 2 with a padding of one, for images without negative values.

use crate::buffer::Shared;
use crate::convolution::Machine;
use crate::image::{Image, Layout, Shape};
use crate::isa::Kernel;
use crate::simd::Simd;
use std::ops::Range;

/// Rows and columns of the output.
pub(super) fn output((h, w): (usize, usize)) -> (usize, usize) {
    (h.div_ceil(2), w.div_ceil(2))
}

/// The three pixels (or fewer, at the edges) of output `at`.
fn window(at: usize, size: usize) -> Range<usize> {
    (2 * at).saturating_sub(1)..(2 * at + 2).min(size)
}

/// Pools one image `[h, w, c]` without negative values into image `n` of `to`.
pub(super) fn run(machine: &Machine, from: &[f32], shape: Shape, to: &mut Image, n: usize) {
    let layout = to.layout();
    let Shape { h, w, c, .. } = layout.shape();
    assert_eq!((h, w), output((shape.h, shape.w)), "the shape of the pooled image");
    assert!(n < layout.shape().n && c == shape.c && from.len() == shape.len(), "images that fit together");
    let to = to.shared();
    machine.pool.run(h, |y, _| machine.isa.run(Row { from, shape, to, layout, n, y }));
}

/// One output row.
struct Row<'a> {
    from: &'a [f32],
    shape: Shape,
    to: Shared,
    layout: Layout,
    n: usize,
    y: usize,
}

impl Kernel for Row<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Shape { h, w, c, .. } = self.shape;
        for x in 0..self.layout.shape().w {
            // SAFETY: a pixel of this task's row.
            let to = unsafe { self.to.at(self.layout.offset(self.n, self.y, x)) };
            for channel in (0..c).step_by(S::LANES) {
                let count = c - channel;
                let mut most = simd.zero();
                for row in window(self.y, h) {
                    for column in window(x, w) {
                        let from = &self.from[(row * w + column) * c + channel..][..count.min(S::LANES)];
                        // SAFETY: `from` has the floats that are read.
                        most = simd.max(most, unsafe { simd.load_first(from.as_ptr(), count) });
                    }
                }
                // SAFETY: channels of a pixel of this task's row.
                unsafe { simd.store_first(to.add(channel), most, count) };
            }
        }
    }
}
