//! A model for other programs: one ONNX graph from a photo's bytes, of any size, over backbone and head
//! to probabilities.

mod head;
pub(crate) mod layers;
mod pass;
mod photo;
mod steps;

use std::{
    io,
    path::{Path, PathBuf},
};

use rehearsal_files::atomic;
use rehearsal_gaussian::Head;
use rehearsal_onnx::{Axis, ElementKind, GraphWriter, value};
use thiserror::Error;

use crate::{Backbone, BackboneError};

/// Why a model cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The backbone cannot be written as a graph.
    #[error(transparent)]
    Backbone(#[from] BackboneError),
    /// The head has no class.
    #[error("no class has been learned yet")]
    NoClasses,
    /// The head is that of another backbone.
    #[error("the backbone has {backbone} features, the head reads {head}")]
    Dimensions {
        /// Features of the backbone.
        backbone: usize,
        /// Features that the head reads.
        head: usize,
    },
    /// The backbone reads images that are not red, green and blue.
    #[error("the backbone reads images of {0} channels, expected 3")]
    Channels(usize),
    /// The temperature is not a positive number, or too small.
    #[error("the temperature is {0}, expected a positive number")]
    Temperature(f64),
    /// A file of protobuf has at most two gigabytes.
    #[error("the model is too large for an ONNX file")]
    TooLarge,
    /// The file cannot be written.
    #[error("{path} cannot be written: {error}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// How far the answers of a head can be trusted, as its holdout set says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// By which half distances are divided.
    pub temperature: f64,
    /// The probability from which on an answer is sure; none if none is.
    pub sure_from: Option<f64>,
    /// The distance beyond which a photo is unknown; none if that is not known.
    pub unknown_beyond: Option<f32>,
}

impl Limits {
    /// Only a temperature.
    pub const fn none(temperature: f64) -> Self {
        Self { temperature, sure_from: None, unknown_beyond: None }
    }
}

/// Writes an ONNX model, whole or not at all.
///
/// It reads `image`, the bytes `[height, width, 3]` of one photo of any size (red, green, blue, upright),
/// and gives `probabilities` `[classes]`, `distance`, the smallest squared Mahalanobis distance to a class
/// mean, and `class`, the index of the most probable class. The names of the classes are in the metadata.
///
/// # Errors
/// The backbone cannot be written as a graph, does not fit the head, no class has been learned, or the
/// file cannot be written.
pub fn export_onnx(backbone: &dyn Backbone, head: &Head, limits: Limits, path: &Path) -> Result<(), ExportError> {
    let bytes = encode(backbone, head, limits)?;
    atomic::write(path, &bytes).map_err(|error| ExportError::Unwritable { path: path.into(), error })
}

fn encode(backbone: &dyn Backbone, head: &Head, limits: Limits) -> Result<Vec<u8>, ExportError> {
    let temperature = limits.temperature;
    let per_distance = (0.5 / temperature) as f32;
    if !(per_distance > 0.0 && per_distance.is_finite()) {
        return Err(ExportError::Temperature(temperature));
    }
    if head.names().is_empty() {
        return Err(ExportError::NoClasses);
    }
    if head.dimensions() != backbone.dimensions() {
        return Err(ExportError::Dimensions { backbone: backbone.dimensions(), head: head.dimensions() });
    }
    let preprocessing = backbone.preprocessing();
    if preprocessing.shape.channels != 3 {
        return Err(ExportError::Channels(preprocessing.shape.channels));
    }
    let mut graph = GraphWriter::default();
    let image = photo::prepared(&mut graph, &GraphWriter::input("image"), &preprocessing);
    let features = backbone.onnx(&mut graph, &image)?;
    head::predicted(&mut graph, &features, head, per_distance);
    let axes = [Axis::Any("height"), Axis::Any("width"), Axis::Fixed(3)];
    let about = "bytes of one photo of any size, row by row: red, green, blue";
    let inputs = vec![value("image", ElementKind::Uint8, &axes, about)];
    let classes = [Axis::Fixed(head.names().len())];
    let outputs = vec![
        value("probabilities", ElementKind::Float, &classes, "of each class, in the order of `classes`"),
        value("distance", ElementKind::Float, &[], "smallest squared Mahalanobis distance to a class mean"),
        value("class", ElementKind::Int64, &[], "the most probable class: its index in `classes`"),
    ];
    let graph = graph.finish("classifier", inputs, outputs);
    let about = "An image classifier: a photo's bytes to probabilities. Its classes are in the metadata.";
    let metadata = metadata(backbone, head, limits);
    rehearsal_onnx::encode(graph, about, env!("CARGO_PKG_VERSION"), &metadata).ok_or(ExportError::TooLarge)
}

/// What the model says about itself: values are JSON.
fn metadata(backbone: &dyn Backbone, head: &Head, limits: Limits) -> [(&'static str, String); 7] {
    let json = |value: Result<String, serde_json::Error>| value.expect("names and numbers are plain data");
    [
        ("classes", json(serde_json::to_string(head.names()))),
        ("backbone", json(serde_json::to_string(backbone.name()))),
        ("backbone-sha256", json(serde_json::to_string(backbone.sha256()))),
        ("preprocessing", json(serde_json::to_string(&backbone.preprocessing()))),
        ("temperature", json(serde_json::to_string(&limits.temperature))),
        ("sure-from", json(serde_json::to_string(&limits.sure_from))),
        ("unknown-beyond", json(serde_json::to_string(&limits.unknown_beyond))),
    ]
}

#[cfg(test)]
mod tests;
