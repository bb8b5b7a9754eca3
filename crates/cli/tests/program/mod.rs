//! The real binary, as a person or a script runs it.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

/// The program in a directory, nobody at the keyboard.
pub fn rehearsal(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rehearsal"));
    command.current_dir(directory).args(arguments).stdin(Stdio::null());
    command
}

/// What it says, and how it ends.
pub fn output(directory: &Path, arguments: &[&str]) -> Output {
    rehearsal(directory, arguments).output().unwrap()
}

/// What it said, as text.
pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
