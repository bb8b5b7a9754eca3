//! The command `rehearsal`.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use pyo3::prelude::*;

/// Runs the command line and gives its exit code; the first argument is the program.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    if let Some(program) = arguments.first() {
        rehearsal_cli::set_program(PathBuf::from(program));
    }
    let ended = py.detach(|| rehearsal_cli::run(arguments));
    // An exit code tells its number only by comparison.
    (0..=u8::MAX).find(|code| ExitCode::from(*code) == ended).unwrap_or(1)
}
