//! What a backbone is: a frozen network that gives one vector of features per photo.

use rehearsal_data::{Image, Preprocessing};

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
}
