//! What a person sees: a progress bar on a terminal, plain lines now and then in a pipe, and a table at the end.

mod progress;
mod summary;

use std::io::{self, Write};

pub use progress::Progress;
pub use summary::summary;

/// A fraction as a percentage with one decimal, `-` where there is none.
fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1}", 100.0 * fraction))
}

/// Says a line on standard error. A reader who has gone away does not stop a run.
pub fn talk(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints to standard output; a reader who has gone away has seen enough.
///
/// # Errors
/// It cannot be written for another reason.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
