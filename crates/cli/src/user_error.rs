//! Errors of the user: what is wrong with what was asked of a model, or with the model itself. One
//! sentence, exit code 2, nothing changed.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use rehearsal_data::{DataError, printable};
use rehearsal_model::ModelError;

use crate::{flags::as_flags, hints::print_hint, printer::message};

/// A sentence that was made on the command line.
#[derive(Debug)]
pub struct UserError(pub String);

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

/// Says so where the model and what it is to look at were given in the wrong order.
pub fn model_first<T>(opened: Result<T, ModelError>, others: &[PathBuf]) -> Result<T> {
    let is_model = |path: &PathBuf| path.join("model.toml").exists() || !path.exists();
    match opened {
        Err(error @ ModelError::Foreign { .. }) if others.iter().any(is_model) => {
            Err(UserError(format!("{error}: the model comes first, then the photos")).into())
        }
        opened => Ok(opened?),
    }
}

/// Prints an error and makes it an exit code: 2 if the user can mend it, else 1.
pub fn exit_code(done: Result<ExitCode>) -> Result<ExitCode> {
    let Err(error) = done else { return done };
    let is_user_error = error.is::<UserError>()
        || error.downcast_ref::<ModelError>().is_some_and(ModelError::is_user_error)
        || error.downcast_ref::<DataError>().is_some_and(|error| !matches!(error, DataError::Unwritable { .. }));
    let sentence = printable(&as_flags(&format!("error: {error:#}")));
    message(&sentence);
    print_hint(&error);
    Ok(if is_user_error { ExitCode::from(2) } else { ExitCode::FAILURE })
}
