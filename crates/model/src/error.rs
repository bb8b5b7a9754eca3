//! What can be wrong with a model, or with what it is asked.

use std::{io, path::PathBuf};

use rehearsal::learner::LearnerError;
use thiserror::Error;

/// Why a model cannot do what was asked. It is as it was then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is nothing.
    #[error("there is no model {}: `rehearsal learn {} FOLDER` makes one", path.display(), path.display())]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is something else.
    #[error("{} is no model of Rehearsal", path.display())]
    Foreign {
        /// What was looked at.
        path: PathBuf,
    },
    /// A model whose first visit was never finished.
    #[error("{} has no whole version yet: run the same `rehearsal learn` again, it goes on", path.display())]
    Unfinished {
        /// Which.
        path: PathBuf,
    },
    /// It was made by another version.
    #[error("{} has format {found}; this program reads format {expected}: use the version that wrote it", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// Ours.
        expected: u32,
    },
    /// A file has changed since it was written.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// The version that is used is damaged, and others are there.
    #[error("{error}; `rehearsal use {} {other}` uses version {other} instead", path.display())]
    DamagedVersion {
        /// Which model.
        path: PathBuf,
        /// Another version that is kept.
        other: u32,
        /// What is wrong.
        error: Box<ModelError>,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {error}; the model is as it was", path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another process is changing it.
    #[error("another process is changing {}: wait until it is done", path.display())]
    Busy {
        /// Which model.
        path: PathBuf,
    },
    /// Whether another process is changing it cannot be known.
    #[error("{} cannot be locked: {error}; choose a place on a file system that supports locks", path.display())]
    Unlockable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A version is not kept, or never was.
    #[error("version {asked} is not kept; there are {}", list(kept))]
    NoVersion {
        /// Which one.
        asked: u32,
        /// Those that are.
        kept: Vec<u32>,
    },
    /// No photo at all.
    #[error("there is nothing to learn: no image in folders of classes, DIR/CLASS/*.jpg")]
    NoImages,
    /// A model of one class would always be right.
    #[error("one class, `{0}`, is nothing to tell apart: a new model needs photos of two or more, DIR/CLASS/*.jpg")]
    OneClass(String),
    /// Fewer images than classes can be remembered.
    #[error("a memory of {} is too small for {classes} classes: `--memory {classes}` or more", images(*memory))]
    SmallMemory {
        /// Images.
        memory: usize,
        /// Classes after the visit.
        classes: usize,
    },
    /// A setting cannot change while a model lives.
    #[error("`{setting}` is {is} in this model and cannot become {asked}: leave it out, or make another model")]
    Fixed {
        /// Which.
        setting: String,
        /// As the model has it.
        is: String,
        /// As it was given.
        asked: String,
    },
    /// What was asked makes no sense.
    #[error("{0}")]
    Refused(String),
    /// The learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// No threads to be had.
    #[error("threads cannot be started: {0}")]
    Threads(String),
}

impl ModelError {
    /// Whether the user asked for something wrong, or the model is, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Unwritable { error, .. } => rehearsal_files::regular::is_wrong_place(error),
            Self::Threads(_) => false,
            Self::Learner(error) => error.is_user_error(),
            _ => true,
        }
    }
}

fn images(count: usize) -> String {
    if count == 1 { "1 image".to_owned() } else { format!("{count} images") }
}

fn list(kept: &[u32]) -> String {
    kept.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
