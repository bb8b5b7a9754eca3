//! What can be wrong with a network.

use thiserror::Error;

/// Why a network cannot be built from a file of weights, or not be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackboneError {
    /// It is not a safetensors file, or a damaged one.
    #[error("the weights cannot be read: {0}")]
    Unreadable(#[from] safetensors::SafeTensorError),
    /// A tensor that the network needs is not there.
    #[error("the weights have no tensor `{0}`")]
    Missing(String),
    /// A tensor has another shape, or another type than float16 or float32.
    #[error("the tensor `{name}` is {found}, expected {expected}")]
    Shape {
        /// Its name.
        name: String,
        /// Its type and shape.
        found: String,
        /// The shape that the network needs.
        expected: String,
    },
    /// A weight is NaN or infinite.
    #[error("the tensor `{0}` contains NaN or infinity")]
    NotFinite(String),
    /// The network cannot be written as a graph of operations.
    #[error("the backbone `{0}` cannot be exported")]
    NoGraph(String),
}
