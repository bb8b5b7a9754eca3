//! Direct convolution: every output pixel is a sum over a few runs of neighbouring input pixels.
//!
//! Stride 1 and 2, 3×3 and 1×1, forward and input gradient are all one loop, a [`Sweep`]: for each
//! pixel of a grid, read `rows` runs of `run` floats, one image row apart, multiply by packed weights
//! `[rows · run, cout]`, and write the result to a grid of output pixels. The gradient to the input
//! of a stride-2 layer is four sweeps, one per parity of the input's row and column. Each has only
//! the taps that reach these pixels, so it does not multiply by zeros.

mod sweep;
mod weight_gradient;

pub(crate) use sweep::PackedSweep;
pub(crate) use weight_gradient::weight_gradient;
