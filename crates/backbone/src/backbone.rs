//! What a backbone is: a frozen network that gives one vector of features per photo.

use rehearsal_data::{Image, Preprocessing};
use rehearsal_onnx::{GraphWriter, Value};

use crate::BackboneError;

/// A frozen network that turns images into features.
pub trait Backbone: Send + Sync {
    /// Its name in the catalogue.
    fn name(&self) -> &str;

    /// SHA-256 of its weights, in hexadecimal: another network is another backbone.
    fn sha256(&self) -> &str;

    /// How a photo becomes what it reads.
    fn preprocessing(&self) -> Preprocessing;

    /// Features of an image.
    fn dimensions(&self) -> usize;

    /// The features `[n, dimensions]` of preprocessed images.
    fn features(&self, images: &[Image]) -> Vec<f32>;

    /// Adds its operations to an ONNX graph behind a normalised image `[1, channels, height, width]` and
    /// gives the features `[1, dimensions]`. Names of its own operations begin with `backbone.`.
    ///
    /// # Errors
    /// It cannot be written as a graph: then [`BackboneError::NoGraph`], as unless it is overridden.
    fn onnx(&self, graph: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        let _ = (graph, image);
        Err(BackboneError::NoGraph(self.name().into()))
    }
}
