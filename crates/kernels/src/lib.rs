//! Fast CPU kernels for a CIFAR-form ResNet-18: convolution, batch norm, residual and `ReLU`,
//! forward and backward.
//!
//! Everything works on plain `f32` slices in NHWC order. [`Engine`] runs the whole backbone and
//! reuses its memory; its convolutions ([`convolution`]) can be used one layer at a time. [`mobile`],
//! [`residual`] and [`transformer`] are pre-trained networks at inference. Results are bit-identical
//! for every number of threads: work is split by shape alone, and partial sums are added in a fixed
//! order.
//!
//! Kernels read and write through pointers. They stay inside their memory because every public
//! function checks all shapes before it computes: shapes that do not fit together are a panic with a
//! message, never a wrong access.

#![allow(unsafe_code, reason = "kernels read and write through pointers; every block says why it may")]
#![allow(clippy::cast_possible_wrap, reason = "sizes of tensors, far below the limits")]
#![allow(clippy::too_many_arguments, reason = "a kernel's operands are its signature: structs would hide the loop")]
#![allow(clippy::inline_always, reason = "what is not inlined into a dispatched entry point lacks its vector features")]
#![allow(clippy::needless_range_loop, reason = "registers are picked by constant indices so that loops unroll")]

mod architecture;
mod buffer;
pub mod convolution;
mod direct;
mod engine;
mod functions;
mod gemm;
mod image;
mod isa;
pub mod mobile;
mod norm;
mod plan;
mod pool;
pub mod residual;
mod simd;
mod sink;
mod size;
mod sums;
pub mod transformer;
mod winograd;

pub use architecture::{Architecture, Block, Layer};
pub use convolution::{Algorithm, Convolution, Machine};
pub use engine::{Engine, Forward, Gradients, LayerGradient, LayerParameters, PackedParameters, Tape};
pub use image::{Image, Layout, Shape};
pub use isa::Isa;
pub use norm::Statistics;
pub use plan::{Part, Plan, PlannedLayer};
pub use pool::Pool;
pub use sums::Sums;
