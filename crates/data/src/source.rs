//! A data set, opened.

use std::path::{Path, PathBuf};

use crate::{DataError, Image, ImageShape, Incomplete, InputShape, photos::Ignored};

/// The two parts of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// For training.
    Train,
    /// For testing.
    Test,
}

impl Split {
    /// Both, in the order in which they are read.
    pub const BOTH: [Self; 2] = [Self::Train, Self::Test];

    /// Its name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A file that is not an image and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why it is not an image.
    pub why: String,
}

/// A data set, opened. Labels are the data set's own numbers, `0..class_names().len()`.
pub trait Source: Send + Sync {
    /// Height, width and channels of every image.
    fn shape(&self) -> ImageShape;
    /// The names of the classes.
    fn class_names(&self) -> &[String];
    /// The label of every image of a split.
    fn labels(&self, split: Split) -> &[u16];
    /// One image, `index < labels(split).len()`, as `[height, width, channels]`.
    ///
    /// # Errors
    /// The image cannot be read.
    fn image(&self, split: Split, index: usize) -> Result<Image, DataError>;
    /// SHA-256 of all bytes of the data set, in hexadecimal.
    fn sha256(&self) -> &str;

    /// What the bytes of [`Source::image`] are: pixels, unless they are features.
    fn input(&self) -> InputShape {
        InputShape::Pixels(self.shape())
    }
    /// The file of an image, if each image is a file.
    fn file(&self, _: Split, _index: usize) -> Option<&Path> {
        None
    }

    /// The names of the domains, if the same classes were recorded under several conditions (the
    /// sessions of CORe50).
    fn domain_names(&self) -> &[String] {
        &[]
    }
    /// The domain of every image of a split; empty if there are none.
    fn domains(&self, _: Split) -> &[u16] {
        &[]
    }
    /// The number of classes of each of the concatenated data sets.
    fn parts(&self) -> Vec<usize> {
        vec![self.class_names().len()]
    }
    /// The data sets with fewer images than were published.
    fn incomplete(&self) -> &[Incomplete] {
        &[]
    }
    /// Files that were skipped.
    fn skipped(&self) -> &[Skipped] {
        &[]
    }
    /// Files among the images that are not read.
    fn ignored(&self) -> &[Ignored] {
        &[]
    }
}
