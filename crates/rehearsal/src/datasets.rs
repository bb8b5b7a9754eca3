//! Where images come from. A [`Source`] is one data set, opened; [`Dataset`] lists them all.

mod cifar;
mod embedded;
mod idx;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{
    choice::choice,
    sample::{Image, ImageShape},
};

/// The two parts of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// What a learner learns from.
    Train,
    /// What it is tested on.
    Test,
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
}

/// Every data set there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// 3,500 images of Fashion-MNIST, compiled into the program.
    Embedded,
    /// CIFAR-10 in its official binary layout.
    Cifar10,
    /// CIFAR-100 in its official binary layout, fine labels.
    Cifar100,
}
choice!(Dataset, "data set", Embedded = "embedded", Cifar10 = "cifar10", Cifar100 = "cifar100");

impl Dataset {
    /// Opens the data set; `directory` is what the user gave as `--data`.
    ///
    /// # Errors
    /// Files are missing or malformed, or a directory is needed and none was given.
    pub fn open(self, directory: Option<&Path>) -> Result<Arc<dyn Source>, DataError> {
        let directory = || directory.ok_or(DataError::NoDirectory { dataset: self });
        Ok(match self {
            Self::Embedded => Arc::new(embedded::open()?),
            Self::Cifar10 => Arc::new(cifar::open(&cifar::CIFAR10, directory()?)?),
            Self::Cifar100 => Arc::new(cifar::open(&cifar::CIFAR100, directory()?)?),
        })
    }

    /// Into how many tasks the paper (or the habit of the field) cuts it.
    pub fn usual_tasks(self) -> usize {
        match self {
            Self::Embedded | Self::Cifar10 => 5,
            Self::Cifar100 => 20,
        }
    }
}

/// What can be wrong with a data set.
#[derive(Debug, Error)]
pub enum DataError {
    /// The data set lives in files, and no directory was given.
    #[error("the data set {dataset} is read from files: say where they are with `--data DIR`")]
    NoDirectory {
        /// Which one.
        dataset: Dataset,
    },
    /// A file is not there.
    #[error("{path} is missing: expected {expected}")]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What it should be.
        expected: String,
    },
    /// A file is there and says something impossible.
    #[error("{path}, byte {offset}: expected {expected}, found {found}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in it, from 0.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What does.
        found: String,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// A file's bytes, added to `digest`. `expected` says, for the error, what the file should have been.
fn read(path: &Path, expected: &str, digest: &mut Sha256) -> Result<Vec<u8>, DataError> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => DataError::Missing { path: path.into(), expected: expected.into() },
        _ => DataError::Unreadable { path: path.into(), error },
    })?;
    digest.update(&bytes);
    Ok(bytes)
}

/// A digest in hexadecimal.
fn hexadecimal(digest: Sha256) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
    digest.finalize().iter().flat_map(digits).collect()
}
