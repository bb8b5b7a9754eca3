//! Pre-trained networks that turn photos into features.

#![forbid(unsafe_code)]

mod error;
mod lite0;
mod weights;

pub use error::BackboneError;
pub use lite0::EfficientNetLite0;
