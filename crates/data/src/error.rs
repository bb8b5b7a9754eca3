//! What can be wrong with a data set.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::Dataset;

/// What can be wrong with a data set.
#[derive(Debug, Error)]
pub enum DataError {
    /// The data set is not where it was looked for.
    #[error(
        "{dataset} is not in {}: there is no {expected}. Fetch it with `rehearsal data fetch \
         {dataset}`, or say where it is with `--data DIR`",
        home.display()
    )]
    Absent {
        /// Which one.
        dataset: Dataset,
        /// Where it was looked for.
        home: PathBuf,
        /// What would have shown that it is there.
        expected: String,
    },
    /// The user's own images are where the user says.
    #[error("a folder of images is read from where you say: `--data DIR`")]
    NoFolder,
    /// Nothing says where data live.
    #[error("nothing says where data live: set REHEARSAL_DATA, or give `--data DIR`")]
    NoHome,
    /// A file is not there.
    #[error("{} is missing: expected {expected}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What it should be.
        expected: String,
    },
    /// A file is there and says something impossible.
    #[error("{}, byte {offset}: expected {expected}, found {found}", path.display())]
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
    /// A file of text is there and a line of it is wrong.
    #[error("{}, line {line}: expected {expected}, found `{found}`", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What should stand there.
        expected: String,
        /// What does.
        found: String,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no image.
    #[error(
        "{} is no image that can be read: {why}. `--skip-bad` leaves such files out",
        path.display()
    )]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A folder of images does not hold what it should.
    #[error("{}: {why}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A link leads out of the data set's directory.
    #[error(
        "{} is a link out of the data set's directory, to {}. `--follow-links` follows it",
        path.display(), to.display()
    )]
    Link {
        /// The link, or a file below it.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// An archive that must not be unpacked.
    #[error("{} is refused: `{entry}` {why}", archive.display())]
    Hostile {
        /// The archive.
        archive: PathBuf,
        /// Which entry of it.
        entry: String,
        /// What it tries.
        why: String,
    },
    /// A file is not the one that was expected.
    #[error(
        "{} is not the official file: its {kind} is {found}, expected {expected}",
        path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// md5 or sha256.
        kind: &'static str,
        /// As published.
        expected: String,
        /// As it is.
        found: String,
    },
    /// A download that nothing vouches for.
    #[error(
        "nothing vouches for {url}: no checksum of it is known. Pass `--trust` to take it all the \
         same"
    )]
    Untrusted {
        /// From where.
        url: String,
    },
    /// A download that failed.
    #[error("{url} cannot be fetched: {why}")]
    Download {
        /// From where.
        url: String,
        /// Why.
        why: String,
    },
    /// What was fetched is not the whole data set.
    #[error("what was fetched is not the whole of {dataset}, and is not kept: {why}")]
    NotWhole {
        /// Of which data set.
        dataset: Dataset,
        /// What is missing or wrong.
        why: String,
    },
    /// No program can fetch it.
    #[error("{0}")]
    ByHand(String),
    /// What was asked makes no sense.
    #[error("{0}")]
    Refused(String),
}

impl DataError {
    /// Whether the user asked for something wrong, or gave wrong files, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        // As `is_wrong_place` of `rehearsal-runs`, which this crate does not depend on.
        use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound, Other, PermissionDenied};
        let places = [AlreadyExists, IsADirectory, NotADirectory, NotFound, Other, PermissionDenied];
        let is_place = |kind| places.contains(&kind) || kind == io::ErrorKind::ReadOnlyFilesystem;
        match self {
            Self::Unwritable { error, .. } => is_place(error.kind()),
            Self::Download { .. } | Self::NotWhole { .. } | Self::Checksum { .. } | Self::Hostile { .. } => false,
            _ => true,
        }
    }
}
