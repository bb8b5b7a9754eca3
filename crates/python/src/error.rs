//! Errors of the libraries as exceptions: `FileNotFoundError` for what is not there, `ValueError` for wrong input, and
//! `RehearsalError` for everything else.

use std::{any::Any, io};

use pyo3::{
    create_exception,
    exceptions::{PyException, PyFileNotFoundError, PyKeyboardInterrupt, PyValueError},
    prelude::*,
};
use rehearsal_backbone::BackboneError;
use rehearsal_data::DataError;
use rehearsal_model::ModelError;

create_exception!(
    rehearsal_learn,
    RehearsalError,
    PyException,
    "A model, a backbone or a run cannot do what was asked."
);

/// An error on its way to Python.
#[derive(Debug)]
pub enum Error {
    Model(ModelError),
    /// Something that was named is not there.
    #[cfg(feature = "training")]
    Absent(String),
    /// A run cannot be read, or cannot go on.
    #[cfg(feature = "training")]
    Run(String),
    Python(PyErr),
    /// Wrong input.
    Value(String),
    /// A panic: a bug of ours.
    Bug(String),
    /// The work was stopped.
    Stopped,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What a thread ended with: a panic, or an exception that passed through it.
    pub fn of_panic(panic: Box<dyn Any + Send>) -> Self {
        match panic.downcast::<PyErr>() {
            Ok(raised) => Self::Python(*raised),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                Self::Bug(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
            }
        }
    }
}

macro_rules! from {
    ($($error:ty => $make:expr),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                $make(error)
            }
        })*
    };
}
from!(
    ModelError => Self::Model,
    PyErr => Self::Python,
    BackboneError => |error| Self::Model(ModelError::Backbone(error)),
    DataError => |error| Self::Model(ModelError::Data(error)),
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Python(error) => error,
            Error::Value(text) => PyValueError::new_err(text),
            Error::Bug(text) => {
                RehearsalError::new_err(format!("this is a bug in Rehearsal, please report it: {text}"))
            }
            Error::Stopped => PyKeyboardInterrupt::new_err("stopped"),
            Error::Model(error) if is_absent(&error) => PyFileNotFoundError::new_err(error.to_string()),
            Error::Model(error) if is_value(&error) => PyValueError::new_err(error.to_string()),
            Error::Model(error) => RehearsalError::new_err(error.to_string()),
            #[cfg(feature = "training")]
            Error::Absent(text) => PyFileNotFoundError::new_err(text),
            #[cfg(feature = "training")]
            Error::Run(text) => RehearsalError::new_err(text),
        }
    }
}

/// Whether something that was named is not there.
fn is_absent(error: &ModelError) -> bool {
    let absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    match error {
        ModelError::Absent { .. }
        | ModelError::NoFolder(_)
        | ModelError::Data(DataError::Absent { .. } | DataError::Missing { .. }) => true,
        ModelError::Unreadable { error, .. }
        | ModelError::File(rehearsal_files::model_file::ModelFileError::Unreadable { error, .. })
        | ModelError::Data(DataError::Unreadable { error, .. })
        | ModelError::Backbone(BackboneError::File { error, .. }) => absent(error),
        ModelError::Backbone(error) => error.absent().is_some(),
        _ => false,
    }
}

/// Whether an argument is wrong, rather than a file.
fn is_value(error: &ModelError) -> bool {
    use ModelError as M;
    match error {
        M::NoVersion { .. }
        | M::NoImages
        | M::NotAFolder(_)
        | M::UnreadablePhotos { .. }
        | M::NoKnownPhotos
        | M::OneClass(_)
        | M::SmallMemory { .. }
        | M::Fixed { .. }
        | M::Refused(_)
        | M::LastClasses(_)
        | M::NotKept { .. }
        | M::NoSuchClass(_)
        | M::TakenName(_)
        | M::NoMatch(_) => true,
        M::Data(error) | M::Backbone(BackboneError::Data(error)) => error.is_user_error(),
        M::Backbone(error) => matches!(error, BackboneError::Onnx { .. } | BackboneError::NotFiniteFeatures { .. }),
        _ => false,
    }
}

/// Errors of runs.
#[cfg(feature = "training")]
mod training {
    use rehearsal::{config::ConfigError, experiment::ExperimentError, learner::LearnerError};
    use rehearsal_runs::DirectoryError;

    use super::Error;

    from!(
        ConfigError => |error: ConfigError| Self::Value(error.to_string()),
        ExperimentError => |error| match error {
            ExperimentError::Data(error) | ExperimentError::Learner(LearnerError::Data(error)) => error.into(),
            ExperimentError::Backbone(error) => error.into(),
            ExperimentError::Directory(error) => error.into(),
            ExperimentError::Refused(_) | ExperimentError::Stream(_) => Self::Value(error.to_string()),
            ExperimentError::Learner(LearnerError::File(_)) => Self::Run(error.to_string()),
            ExperimentError::Learner(ref refused) if refused.is_user_error() => Self::Value(error.to_string()),
            _ => Self::Run(error.to_string()),
        },
        DirectoryError => |error| match error {
            DirectoryError::NoRun(_) => Self::Absent(error.to_string()),
            DirectoryError::Taken(_) | DirectoryError::Finished(_) => Self::Value(error.to_string()),
            _ => Self::Run(error.to_string()),
        },
    );
}
