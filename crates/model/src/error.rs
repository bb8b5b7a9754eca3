//! The errors of a model store.

use std::{io, path::PathBuf};

use rehearsal_backbone::{BackboneError, ExportError};
use rehearsal_data::{DataError, ImageShape};
use rehearsal_files::{model_file::ModelFileError, text::thousands};
use thiserror::Error;

use crate::Relabel;

/// Why a model cannot do what was asked. The model is unchanged then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nothing is there.
    #[error("there is no model {}", path.display())]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("{} is not a model of Rehearsal", path.display())]
    Foreign {
        /// What was looked at.
        path: PathBuf,
    },
    /// The first session was never finished.
    #[error("{} has no complete version yet: its first training session was interrupted", path.display())]
    Unfinished {
        /// Which.
        path: PathBuf,
    },
    /// It was written by another release.
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
    /// The current version is damaged, and others are kept.
    #[error("{error}")]
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
    #[error("{} cannot be written: {error}; the model is unchanged", path.display())]
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
    #[error("version {asked} is not kept: choose one of {}", list(kept))]
    NoVersion {
        /// Which one.
        asked: u32,
        /// Those that are.
        kept: Vec<u32>,
    },
    /// No photo at all.
    #[error("no photos found")]
    NoImages,
    /// There is no such folder.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// A file in the place of a folder.
    #[error("{} is not a folder: expected a folder that holds one folder of photos per class", .0.display())]
    NotAFolder(PathBuf),
    /// Photos cannot be read.
    #[error("{}", unreadable(*count, first))]
    UnreadablePhotos {
        /// How many.
        count: usize,
        /// The first, with the reason.
        first: String,
    },
    /// The photos do not fit into memory.
    #[error("{} photos of {}×{} need {:.1} GB of memory, and this machine has {:.1} GB: choose a smaller size, or fewer photos",
        thousands(photos), shape.height, shape.width, needed / 1e9, available / 1e9)]
    TooManyPhotos {
        /// How many.
        photos: usize,
        /// Of this shape.
        shape: ImageShape,
        /// Bytes.
        needed: f64,
        /// Bytes.
        available: f64,
    },
    /// An evaluation without photos of known classes.
    #[error("there is no photo of a class that the model knows")]
    NoKnownPhotos,
    /// The place of a page is not free.
    #[error("{} is not empty and holds no evaluation: choose another directory", .0.display())]
    Occupied(PathBuf),
    /// A folder cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A new model needs two classes.
    #[error("only one class found ({0}): a new model needs at least two")]
    OneClass(String),
    /// The memory holds fewer images than there are classes.
    #[error("a memory of {} is too small for {classes} classes: it needs at least one image per class", images(*memory))]
    SmallMemory {
        /// Images.
        memory: usize,
        /// Classes after the session.
        classes: usize,
    },
    /// A setting cannot change after the first session.
    #[error("`{setting}` is {is} in this model and cannot become {asked}: leave it out, or make another model")]
    Fixed {
        /// Which.
        setting: String,
        /// As the model has it.
        is: String,
        /// As it was given.
        asked: String,
    },
    /// An argument has an impossible value.
    #[error("{0}")]
    Refused(String),
    /// Fewer than two classes would be left.
    #[error("without `{0}` only one class is left: a model needs at least two")]
    LastClasses(String),
    /// Photos whose features are needed are no longer in memory.
    #[error("{} that {} needed for this {} no longer in memory", photos_text(*photos), be(*photos), be(*photos))]
    NotKept {
        /// How many.
        photos: usize,
    },
    /// A folder inside a folder, where folders are classes.
    #[error("{class} is a folder inside a folder: a class is one folder of photos")]
    Nested {
        /// The model that was to learn.
        model: PathBuf,
        /// The first of them.
        class: String,
        /// The folders that hold such folders, if they hold nothing else: each is probably a session.
        sessions: Vec<PathBuf>,
    },
    /// Two names that are probably one.
    #[error("`{one}` and `{other}` differ only in capitals, spaces or a plural")]
    SimilarClasses {
        /// The first, known or new.
        one: String,
        /// A new one.
        other: String,
    },
    /// All photos were learned before, some as another class.
    #[error("{}", crate::learn::another_class(photos))]
    AnotherClass {
        /// The model.
        model: PathBuf,
        /// Which.
        photos: Vec<Relabel>,
        /// Whether the model can move them exactly.
        is_exact: bool,
    },
    /// A Gaussian head has learned its photos exactly: there is nothing to repeat.
    #[error("the head of this model has learned its photos exactly: to learn them again would change nothing")]
    LearnedExactly,
    /// There is no such class.
    #[error("there is no class `{0}`")]
    NoSuchClass(String),
    /// Another class has that name.
    #[error("there is a class `{0}` already")]
    TakenName(String),
    /// No version knows any of the photos.
    #[error("the model does not know these photos")]
    UnknownPhotos,
    /// The file `lock` was deleted while the model was held.
    #[error("{} was deleted while the model was being changed: nothing was changed, do the same again", path.display())]
    LostLock {
        /// Which.
        path: PathBuf,
    },
    /// No photo fits a pattern.
    #[error("no photo matches `{0}`")]
    NoMatch(String),
    /// None of the photos that were asked for is held in another class.
    #[error("none of these photos is in memory or holdout set as another class")]
    NoneHeld,
    /// A network that is trained from scratch cannot take back what it learned.
    #[error("this model is trained from scratch: only a model with a pre-trained backbone can do this exactly")]
    NotExact,
    /// This program has no training from scratch.
    #[error("this model is trained from scratch, and this program was built without training")]
    NotBuilt,
    /// The backbone on this machine has other weights than the one of the model.
    #[error("the model was made with other weights of {name} (SHA-256 {expected}) than this program has ({found})")]
    OtherBackbone {
        /// Which.
        name: String,
        /// SHA-256 of the model's.
        expected: String,
        /// SHA-256 of those that are there.
        found: String,
    },
    /// The file of the backbone is not where it was.
    #[error("the backbone of this model, {} with SHA-256 {sha256}, cannot be read: {error}", path.display())]
    BackboneFile {
        /// Where it was.
        path: PathBuf,
        /// SHA-256 of the file.
        sha256: String,
        /// Why.
        error: io::Error,
    },
    /// The backbone cannot be used.
    #[error(transparent)]
    Backbone(#[from] BackboneError),
    /// It cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A version's file.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The learner.
    #[cfg(feature = "scratch")]
    #[error(transparent)]
    Learner(#[from] rehearsal::learner::LearnerError),
    /// The threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(String),
}

impl ModelError {
    /// Whether the input or the model is wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Unwritable { error, .. } => rehearsal_files::regular::is_wrong_place(error),
            Self::Threads(_) | Self::LostLock { .. } => false,
            Self::Backbone(error) => error.is_user_error(),
            Self::File(error) => error.is_user_error(),
            Self::Export(ExportError::Unwritable { error, .. }) => rehearsal_files::regular::is_wrong_place(error),
            #[cfg(feature = "scratch")]
            Self::Learner(error) => error.is_user_error(),
            Self::Data(error) => error.is_user_error(),
            _ => true,
        }
    }
}

fn unreadable(count: usize, first: &str) -> String {
    if count == 1 {
        format!("a photo cannot be read: {first}")
    } else {
        format!("{} photos cannot be read", thousands(count))
    }
}

fn photos_text(count: usize) -> String {
    if count == 1 { "1 photo".to_owned() } else { format!("{} photos", thousands(count)) }
}

fn be(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn images(count: usize) -> String {
    if count == 1 { "1 image".to_owned() } else { format!("{count} images") }
}

fn list(kept: &[u32]) -> String {
    kept.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
