//! What can go wrong with a directory.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{files, record::RecordError, seal::FileError};

/// What can go wrong with the directory of a run or a grid.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// It holds another run.
    #[error("{0} already holds a run")]
    Taken(PathBuf),
    /// It holds no run.
    #[error("{0} holds no run to resume: it has no {config}", config = files::CONFIG)]
    NoRun(PathBuf),
    /// It holds a run that is finished.
    #[error("the run in {0} is finished")]
    Finished(PathBuf),
    /// Another process holds it.
    #[error("another process is writing {0}")]
    Busy(PathBuf),
    /// It is unknown whether the process that holds it is still alive.
    #[error(
        "{directory} is, or was, written by a process on {host}, and this machine cannot know whether it still runs; \
         if it has ended, remove {file}"
    )]
    Unclear {
        /// Which directory.
        directory: PathBuf,
        /// The machine of the process.
        host: String,
        /// The file that it wrote about itself.
        file: PathBuf,
    },
    /// It is unknown whether another process writes there, so nothing is written.
    #[error("{path} cannot be locked: {error}; choose a place on another file system")]
    Unlockable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It has fewer lines than its checkpoint needs.
    #[error("{path} has {found} bytes, but the checkpoint was taken at {expected}: it cannot be resumed")]
    Short {
        /// Which file.
        path: PathBuf,
        /// Its length as the checkpoint says.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// Its lines are not those that its checkpoint needs.
    #[error("{0} is not as it was when the checkpoint was taken: it cannot be resumed")]
    Edited(PathBuf),
    /// It cannot be written.
    #[error("{path} cannot be written: {error}")]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Its result is not what a run writes, or of another version.
    #[error("{path}: {error}")]
    Record {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: RecordError,
    },
    /// Its result is complete, but was made with other settings than those in its configuration.
    #[error("{path} is of another run: `{setting}` is different in the {config} beside it", config = files::CONFIG)]
    OtherRun {
        /// The result.
        path: PathBuf,
        /// What differs.
        setting: String,
    },
    /// Its settings cannot be read.
    #[error("{0} is not what a run writes: it cannot be read as settings")]
    NoSettings(PathBuf),
    /// It cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file that belongs to its result was changed after the run was finished.
    #[error(transparent)]
    Changed(#[from] FileError),
}

impl DirectoryError {
    /// Whether the request or the place that the user named is wrong; false if something failed during the work.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Unwritable { error, .. } => rehearsal_files::regular::is_wrong_place(error),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_place_is_the_users_mistake_and_a_full_disk_is_not() {
        let unwritable = |kind: io::ErrorKind| DirectoryError::Unwritable { path: "runs".into(), error: kind.into() };
        assert!(unwritable(io::ErrorKind::PermissionDenied).is_user_error());
        assert!(rehearsal_files::regular::is_wrong_place(&io::Error::other("it is not a regular file")));
        assert!(!unwritable(io::ErrorKind::StorageFull).is_user_error());
        assert!(DirectoryError::Taken("runs".into()).is_user_error());
    }
}
