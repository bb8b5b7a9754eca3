//! The real binary, as a person or a script runs it.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

/// The program in a directory, nobody at the keyboard.
pub fn rehearsal(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rehearsal"));
    // The cache of features, so that tests do not write to the user's home.
    command.env("XDG_DATA_HOME", env!("CARGO_TARGET_TMPDIR"));
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

/// A screen whose measured numbers, those with a decimal point and clock times, are `#`. Columns stay where they are.
pub fn masked(screen: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ':';
    let mut masked = String::new();
    let mut rest = screen;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        let number = rest[start..end].trim_end_matches(['.', ':']);
        let (before, after) = (&rest[..start], &rest[start + number.len()..]);
        if number.contains(['.', ':']) || after.starts_with(" samples/s") {
            let unsigned = if before.ends_with(" -") { &before[..start - 1] } else { before };
            let words = unsigned.trim_end_matches(' ');
            let spaces = unsigned.len() - words.len();
            let width = if spaces < 2 { spaces + 1 } else { start - words.len() + number.len() };
            masked += &format!("{words}{:>width$}", "#");
        } else {
            masked += before;
            masked += number;
        }
        rest = after;
    }
    masked + rest
}
