//! A data set whose images are in memory.

use crate::{DataError, Image, ImageShape, Source, Split};

/// A data set whose images are in memory. The arrays are in the order of [`Split::BOTH`].
#[derive(Clone, Debug)]
pub struct InMemory {
    /// Height, width and channels of every image.
    pub shape: ImageShape,
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// The labels of the training and of the test images.
    pub labels: [Vec<u16>; 2],
    /// The training and the test images.
    pub images: [Vec<Image>; 2],
    /// SHA-256 of the data, in hexadecimal.
    pub sha256: String,
}

impl Source for InMemory {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        &self.class_names
    }

    fn labels(&self, split: Split) -> &[u16] {
        &self.labels[split as usize]
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        Ok(self.images[split as usize][index].clone())
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }
}
