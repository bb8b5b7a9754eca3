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
    ///
    /// # Errors
    /// The network cannot be computed.
    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError>;

    /// Adds its operations to an ONNX graph behind a normalised image `[1, channels, height, width]` and
    /// gives the features `[1, dimensions]`. Names of its own operations begin with `backbone.`.
    ///
    /// # Errors
    /// It cannot be written as a graph.
    fn onnx(&self, graph: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError>;
}

/// The numbers `[n, height, width, 3]` that a network reads.
pub(crate) fn normalized(preprocessing: &Preprocessing, images: &[Image]) -> Vec<f32> {
    let mut values = Vec::with_capacity(images.len() * preprocessing.shape.bytes());
    images.iter().for_each(|image| preprocessing.normalize(image, &mut values));
    values
}

/// The mean and the standard deviation of `ImageNet`'s bytes, as most networks that were trained on it
/// expect.
pub(crate) const IMAGENET_MEAN: [f32; 3] = [0.485 * 255.0, 0.456 * 255.0, 0.406 * 255.0];
pub(crate) const IMAGENET_STD: [f32; 3] = [0.229 * 255.0, 0.224 * 255.0, 0.225 * 255.0];
