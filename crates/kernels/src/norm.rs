//! Batch norm with residual and `ReLU`, in as few passes over memory as possible.
//!
//! Forward: the convolution computes `Σ y`, `Σ y²` ([`Statistics::new`]); one pass computes
//! `relu(scale · y + shift + residual)` ([`activate`]). Backward: one pass masks by the `ReLU` and
//! computes `Σ g`, `Σ g · y` ([`gate`]); one pass computes the gradient of `y` ([`Backward::run`]).
//!
//! All passes process whole rows of `w · c` floats with per-channel factors repeated along the row,
//! so a number of channels that is not a multiple of a register costs nothing.

mod backward;
mod forward;
mod rows;

pub(crate) use backward::{Backward, gate};
pub use forward::Statistics;
pub(crate) use forward::{Affine, Residual, activate};

/// Added to variances before the square root.
const EPSILON: f32 = 1e-5;
