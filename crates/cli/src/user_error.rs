//! Errors that the command line finds in what the user asked.

use std::path::PathBuf;

use anyhow::Result;
use rehearsal_model::ModelError;

/// What is wrong with the input, as the user reads it.
#[derive(Debug)]
pub struct UserError(pub String);

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

/// What to do about an error of a model.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    Some(match error.downcast_ref()? {
        ModelError::Absent { path } => format!("`rehearsal learn {} FOLDER` makes one", path.display()),
        ModelError::Unfinished { .. } => "run the same `rehearsal learn` again: it continues".into(),
        ModelError::DamagedVersion { path, other, .. } => {
            format!("`rehearsal use {} {other}` uses version {other} instead", path.display())
        }
        ModelError::NoImages | ModelError::OneClass(_) => "put one folder per class: FOLDER/CLASS/*.jpg".into(),
        ModelError::UnreadablePhotos { .. } => "`--skip-bad` leaves them out".into(),
        ModelError::TooManyPhotos { .. } => "give a smaller `--size`".into(),
        ModelError::SmallMemory { classes, .. } => format!("give `--memory {classes}` or more"),
        _ => return None,
    })
}

/// Hints when the model and the photos were swapped on the command line.
pub fn model_first<T>(opened: Result<T, ModelError>, others: &[PathBuf]) -> Result<T> {
    let is_model = |path: &PathBuf| path.join("model.toml").exists() || !path.exists();
    match opened {
        Err(error @ ModelError::Foreign { .. }) if others.iter().any(is_model) => {
            Err(UserError(format!("{error}: the model comes first, then the photos")).into())
        }
        opened => Ok(opened?),
    }
}
