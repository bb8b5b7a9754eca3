//! Exit codes, and the one function that decides which an error gets.

use std::process::ExitCode;

use anyhow::Error;
#[cfg(feature = "training")]
use rehearsal::{config::ConfigError, device::DeviceError, experiment::ExperimentError, learner::LearnerError};
use rehearsal_backbone::BackboneError;
use rehearsal_data::{DataError, choice::UnknownName};
use rehearsal_files::regular::is_wrong_place;
#[cfg(feature = "training")]
use rehearsal_grid::PlanError;
use rehearsal_model::ModelError;
use rehearsal_report::report::WriteError;
use rehearsal_runs::DirectoryError;
use rehearsal_serve::ServeError;

use crate::user_error::UserError;

/// Done.
pub const DONE: u8 = 0;
/// Something failed on the way.
pub const FAILED: u8 = 1;
/// The input is wrong: arguments, settings, data, or a place. Found before the first batch.
pub const WRONG_INPUT: u8 = 2;
/// `learn` made a version and rejected it, because it forgets too much.
pub const REJECTED: u8 = 3;
/// Stopped by the user.
pub const STOPPED: u8 = 130;

/// The exit code of an error.
pub fn exit_code(error: &Error) -> ExitCode {
    if is_user_error(error) { WRONG_INPUT } else { FAILED }.into()
}

/// Whether the input is wrong, by the type of the error. An error of an unknown type is not.
pub fn is_user_error(error: &Error) -> bool {
    fn is<E: std::error::Error + Send + Sync + 'static>(error: &Error, judge: impl Fn(&E) -> bool) -> bool {
        error.downcast_ref().is_some_and(judge)
    }
    #[cfg(feature = "training")]
    let in_training = is(error, |_: &ConfigError| true)
        || is(error, |_: &DeviceError| true)
        || is(error, LearnerError::is_user_error)
        || is(error, ExperimentError::is_user_error)
        || is(error, PlanError::is_user_error);
    #[cfg(not(feature = "training"))]
    let in_training = false;
    in_training
        || is(error, |_: &UserError| true)
        || is(error, |_: &UnknownName| true)
        || is(error, DataError::is_user_error)
        || is(error, DirectoryError::is_user_error)
        || is(error, BackboneError::is_user_error)
        || is(error, ModelError::is_user_error)
        || is(error, ServeError::is_user_error)
        || is(error, WriteError::is_user_error)
        || is(error, is_wrong_place)
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn the_type_of_an_error_decides_whatever_stands_around_it() {
        let unwritable = |kind: io::ErrorKind| DirectoryError::Unwritable { path: "runs".into(), error: kind.into() };
        let wrong = || unwritable(io::ErrorKind::PermissionDenied);
        for error in [
            UserError("no".into()).into(),
            wrong().into(),
            #[cfg(feature = "training")]
            ExperimentError::from(wrong()).into(),
            #[cfg(feature = "training")]
            PlanError::from(wrong()).into(),
            Err::<(), _>(wrong()).context("in a grid").unwrap_err(),
            Err::<(), _>(io::Error::from(io::ErrorKind::NotADirectory)).context("cannot be written").unwrap_err(),
            ModelError::Unwritable { path: "m".into(), error: io::ErrorKind::PermissionDenied.into() }.into(),
            DataError::Unwritable { path: "m".into(), error: io::ErrorKind::PermissionDenied.into() }.into(),
        ] {
            assert_eq!(exit_code(&error), WRONG_INPUT.into(), "{error:#}");
        }
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for error in [
            anyhow!("something"),
            unwritable(io::ErrorKind::StorageFull).into(),
            ModelError::Unwritable { path: "m".into(), error: full() }.into(),
            DataError::Unwritable { path: "m".into(), error: full() }.into(),
            full().into(),
        ] {
            assert_eq!(exit_code(&error), FAILED.into(), "{error:#}");
        }
    }
}
