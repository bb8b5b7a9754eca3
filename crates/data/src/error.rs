//! What can be wrong with a data set.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{Dataset, ImageShape, Incomplete, LONGEST_SIDE, limits::megabytes};

/// What can be wrong with a data set.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DataError {
    /// The data set was not found.
    #[error("{dataset} is not in {}: {expected} is missing", home.display())]
    Absent { dataset: Dataset, home: PathBuf, expected: String },
    /// A folder of images has no default place.
    #[error("no directory was given for the folder of images")]
    NoFolder,
    /// No data directory is known.
    #[error("no data directory is known: the environment names no home directory")]
    NoHome,
    /// A file is missing.
    #[error("{} is missing: expected {expected}", path.display())]
    Missing { path: PathBuf, expected: String },
    /// The contents of a file are not valid at `offset`, counted from 0.
    #[error("{}, byte {offset}: expected {expected}, found {found}", path.display())]
    Malformed { path: PathBuf, offset: u64, expected: String, found: String },
    /// A line of a text file is not valid, counted from 1.
    #[error("{}, line {line}: expected {expected}, found `{found}`", path.display())]
    Line { path: PathBuf, line: usize, expected: String, found: String },
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// A file cannot be written.
    #[error("{} cannot be written: {error}", path.display())]
    Unwritable { path: PathBuf, error: io::Error },
    /// A file is not an image.
    #[error("{} is not a readable image: {why}", path.display())]
    Image { path: PathBuf, why: String },
    /// A folder of images does not have the expected contents.
    #[error("{}: {why}", path.display())]
    Folder { path: PathBuf, why: String },
    /// A link leads out of the data set's directory.
    #[error("{} is a link out of the data set's directory, to {}", path.display(), to.display())]
    Link { path: PathBuf, to: PathBuf },
    /// An archive must not be unpacked.
    #[error("{} is refused: `{entry}` {why}", archive.display())]
    Hostile { archive: PathBuf, entry: String, why: String },
    /// A file has another checksum than the published one.
    #[error("{} is not the official file: its {kind} is {found}, expected {expected}", path.display())]
    Checksum { path: PathBuf, kind: &'static str, expected: String, found: String },
    /// A file has another size than the published one.
    #[error("{} is not the official file: it has {found} bytes, expected {expected}", path.display())]
    Length { path: PathBuf, expected: u64, found: u64 },
    /// No checksum is known for a download.
    #[error("{url} cannot be checked: no checksum of it is known")]
    Untrusted { url: String },
    /// A download failed.
    #[error("{url} cannot be fetched: {why}")]
    Download { url: String, why: String },
    /// The fetched files have fewer images than were published.
    #[error("the fetched files are not complete and were not kept: there are only {0}")]
    FetchedPart(Incomplete),
    /// The fetched files cannot be read.
    #[error("the fetched files of {dataset} cannot be used and were not kept: {why}")]
    FetchedBad { dataset: Dataset, why: String },
    /// There is no address to download it from.
    #[error("{0} has no official download")]
    ByHand(Dataset),
    /// A data set that is never downloaded.
    #[error("there is nothing to fetch for {0}")]
    NothingToFetch(Dataset),
    /// A given file is not one of the data set's archives.
    #[error("{} is not a file of {dataset}: expected {}", path.display(), expected.join(", "))]
    UnknownFile { path: PathBuf, dataset: Dataset, expected: Vec<&'static str> },
    /// A height or width that is not supported.
    #[error(
        "images of {side}×{side} pixels ({} each) cannot be learned from: sizes are 1 to {LONGEST_SIDE}",
        megabytes(side.saturating_mul(*side).saturating_mul(3))
    )]
    Size { side: usize },
    /// The images of a data set are larger than those that can be learned from.
    #[error(
        "{dataset} has images of {}×{}: {} each, {} in all, and a network needs many times as much for each image \
         of a batch",
        shape.height, shape.width, megabytes(shape.bytes()), megabytes(shape.bytes().saturating_mul(*images))
    )]
    TooLarge { dataset: Dataset, shape: ImageShape, images: usize },
    /// Threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The request makes no sense.
    #[error("{0}")]
    Refused(String),
}

impl DataError {
    /// Whether the user asked for something wrong, or gave wrong files, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Unwritable { error, .. } => rehearsal_files::regular::is_wrong_place(error),
            Self::Download { .. }
            | Self::FetchedPart(_)
            | Self::FetchedBad { .. }
            | Self::Checksum { .. }
            | Self::Length { .. }
            | Self::Hostile { .. }
            | Self::Threads(_) => false,
            _ => true,
        }
    }
}
