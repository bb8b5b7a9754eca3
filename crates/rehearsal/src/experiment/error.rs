//! Why a run cannot begin or go on.

use std::path::PathBuf;

use rehearsal_backbone::BackboneError;
use rehearsal_data::DataError;
use rehearsal_runs::DirectoryError;
use thiserror::Error;

use crate::{config::ConfigError, learner::LearnerError, stream::StreamError};

/// Why a run cannot begin or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ExperimentError {
    /// The settings make no sense.
    #[error(transparent)]
    Refused(#[from] ConfigError),
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The pre-trained backbone cannot be used.
    #[error(transparent)]
    Backbone(#[from] BackboneError),
    /// The data cannot be cut as the settings ask.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The run's directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The learner cannot be made, saved or restored, or has diverged.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The checkpoint is whole, but not one of this run.
    #[error("{path} is not a checkpoint of this run: {why}")]
    Checkpoint { path: PathBuf, why: String },
    /// No threads to be had.
    #[error("threads cannot be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl ExperimentError {
    /// Whether the user asked for something wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Data(error) => error.is_user_error(),
            Self::Backbone(error) => error.is_user_error(),
            Self::Directory(error) => error.is_user_error(),
            Self::Learner(error) => error.is_user_error(),
            Self::Refused(_) | Self::Stream(_) | Self::Checkpoint { .. } => true,
            Self::Threads(_) => false,
        }
    }
}
