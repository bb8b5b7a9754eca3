//! Pre-trained networks that turn photos into features.

#![forbid(unsafe_code)]

mod backbone;
mod cache;
pub mod catalogue;
mod dataset;
mod dinov2;
mod error;
mod export;
mod extractor;
#[cfg(feature = "fetch")]
mod fetch;
mod folding;
mod kept;
mod lite0;
#[cfg(feature = "onnx")]
mod onnx;
mod positions;
mod published;
mod resnet18;
mod thumbnail;
mod weights;

pub use backbone::Backbone;
pub use cache::FeatureCache;
pub use catalogue::{BackboneName, Card, open, open_file};
pub use dataset::{features_by, features_of};
pub use error::BackboneError;
pub use export::{ExportError, Limits, export_onnx};
pub use extractor::{Extracted, Extractor};
#[cfg(feature = "fetch")]
pub use fetch::Fetch;
pub use kept::{FEATURES, KeptFeatures, kept_features};
#[cfg(feature = "onnx")]
pub use onnx::OnnxBackbone;
pub use published::Published;
pub use thumbnail::thumbnail;
