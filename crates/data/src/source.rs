//! A data set, opened.

use std::path::PathBuf;

use crate::{DataError, Image, ImageShape, Incomplete, photos::Ignored};

/// The two parts of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// What a learner learns from.
    Train,
    /// What it is tested on.
    Test,
}

impl Split {
    /// Both, in the order in which they are read.
    pub const BOTH: [Self; 2] = [Self::Train, Self::Test];

    /// Its name in files and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A file that could not be read as an image and was left out because the user allowed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// A data set, opened. Labels are the data set's own numbers, `0..class_names().len()`.
pub trait Source: Send + Sync {
    /// Height, width and channels of every image.
    fn shape(&self) -> ImageShape;
    /// What the classes are called, by number.
    fn class_names(&self) -> &[String];
    /// The label of every image of a split.
    fn labels(&self, split: Split) -> &[u16];
    /// One image, `index < labels(split).len()`, as `[height, width, channels]`.
    ///
    /// # Errors
    /// The image cannot be read.
    fn image(&self, split: Split, index: usize) -> Result<Image, DataError>;
    /// SHA-256 of all the bytes that the source was made from, in hexadecimal.
    fn sha256(&self) -> &str;

    /// What the domains are called, where the same classes were recorded under several conditions
    /// (the sessions of CORe50); else none.
    fn domain_names(&self) -> &[String] {
        &[]
    }
    /// The domain of every image of a split; empty where there are none.
    fn domains(&self, _: Split) -> &[u16] {
        &[]
    }
    /// How many classes each of the data sets has that this one is a chain of, in order; for a
    /// single one, all of them.
    fn parts(&self) -> Vec<usize> {
        vec![self.class_names().len()]
    }
    /// The data sets of which fewer images are here than were published; empty where all are.
    fn incomplete(&self) -> &[Incomplete] {
        &[]
    }
    /// What was left out.
    fn skipped(&self) -> &[Skipped] {
        &[]
    }
    /// Files among the images that are not read, because they are none or of another format.
    fn ignored(&self) -> &[Ignored] {
        &[]
    }
}
