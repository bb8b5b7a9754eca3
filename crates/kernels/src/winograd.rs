//! Winograd F(4×4, 3×3): stride-1 3×3 convolution with 36 multiplications per 16 outputs instead of
//! 144.
//!
//! A tile of 6×6 inputs `d` and a kernel `g` of 3×3 give 4×4 outputs `Aᵀ [(Bᵀ d B) ⊙ (G g Gᵀ)] A`.
//! Summed over input channels the elementwise product becomes one small matrix product per point
//! `ξ` of the 6×6: `M[ξ] = V[ξ] · U[ξ]`, with `V` `[tiles, cin]` and `U` `[cin, cout]`. The
//! gradient to the input is the same with kernels rotated by 180° and transposed; the gradient to the
//! weights is `Gᵀ [V[ξ]ᵀ · (A y Aᵀ)[ξ]] G`, with `y` the 4×4 gradients of a tile's outputs.
//!
//! The interpolation points are 0, ±1, ±2, ∞. Errors are about ten times those of the direct sum
//! (see `tests/convolution.rs`).

mod forward;
mod tiles;
mod transform;
mod weight_gradient;
mod weights;

pub(crate) use weight_gradient::weight_gradient;
pub(crate) use weights::Weights;

/// Points of the transformed tile.
const POINTS: usize = 36;

/// Floats between the end of one point's matrix and the beginning of the next: without them, 36
/// streams at distances of a power of two would compete for the same few cache sets.
const GAP: usize = 16;
