//! The names of runs in a grid.

use std::{fmt, path::Component, path::Path, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::files;

/// Names that other files of a grid's directory have.
const TAKEN: [&str; 3] = [files::LOGS, files::MANIFEST, files::SLURM];

/// The name of a run in a grid, and of its directory: a single, visible file name on any system, so
/// that no name in a file leads out of the grid's directory.
///
/// ```
/// use rehearsal_runs::RunName;
///
/// assert_eq!("er-random-seed0".parse::<RunName>()?.as_str(), "er-random-seed0");
/// assert!("../er-random-seed0".parse::<RunName>().is_err());
/// # Ok::<(), rehearsal_runs::RunNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunName(String);

/// Why a text is not a name of a run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{name:?} does not name a run: {why}")]
pub struct RunNameError {
    /// The text.
    pub name: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl RunName {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RunName {
    type Error = RunNameError;

    fn try_from(name: String) -> Result<Self, RunNameError> {
        let why = if name.is_empty() {
            "it is empty"
        } else if name.starts_with('.') {
            "it begins with a dot"
        } else if name.chars().any(char::is_control) {
            "it has control characters"
        } else if name.contains(['/', '\\', ':']) || !is_one_component(&name) {
            "it is a path, not a single name"
        } else if TAKEN.contains(&name.as_str()) {
            "a grid uses that name for another file"
        } else {
            return Ok(Self(name));
        };
        Err(RunNameError { name, why })
    }
}

fn is_one_component(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(part)), None) if part == name)
}

impl FromStr for RunName {
    type Err = RunNameError;

    fn from_str(name: &str) -> Result<Self, RunNameError> {
        name.to_owned().try_into()
    }
}

impl From<RunName> for String {
    fn from(name: RunName) -> Self {
        name.0
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_hide_are_refused() {
        for name in [
            "",
            ".",
            "..",
            ".hidden",
            "../evil",
            "a/../../evil",
            "a/b",
            "a/",
            "/",
            "/tmp/evil",
            "..\\evil",
            "C:\\evil",
            "C:evil",
            "\\\\server\\share",
            "line\nbreak",
            "escape\u{1b}[2J",
            "nul\0",
            "logs",
            "manifest.jsonl",
            "slurm",
        ] {
            assert!(name.parse::<RunName>().is_err(), "{name:?}");
            let json = serde_json::to_string(name).unwrap();
            let read = serde_json::from_str::<RunName>(&json).unwrap_err().to_string();
            assert!(read.contains("does not name a run"), "{read}");
        }
    }

    #[test]
    fn names_of_runs_are_written_as_they_are() {
        for name in ["er-random-memory500-seed0", "run-..", "lr1e-5", "a..b", "é", "logs-2"] {
            let json = serde_json::to_string(&name.parse::<RunName>().unwrap()).unwrap();
            assert_eq!(json, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<RunName>(&json).unwrap().as_str(), name);
        }
    }

    #[test]
    fn errors_show_no_control_characters() {
        let error = "escape\u{1b}[2J".parse::<RunName>().unwrap_err().to_string();
        assert_eq!(error, r#""escape\u{1b}[2J" does not name a run: it has control characters"#);
    }
}
