//! Pre-trained networks that turn photos into features.

#![forbid(unsafe_code)]

mod backbone;
mod cache;
mod error;
mod export;
mod extractor;
mod lite0;
mod thumbnail;
mod weights;

pub use backbone::Backbone;
pub use cache::FeatureCache;
pub use error::BackboneError;
pub use export::{ExportError, Limits, export_onnx};
pub use extractor::{Extracted, Extractor};
pub use lite0::EfficientNetLite0;
