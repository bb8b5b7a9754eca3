//! What a person sees: a progress bar on a terminal, plain lines now and then in a pipe, and a
//! table at the end.

mod bar;
mod columns;
mod comparison;
mod font;
mod overview;
mod progress;
mod summary;

use std::io::{self, Write};

pub use bar::Bar;
pub use columns::{columns, padded};
pub use comparison::{comparison, comparison_json};
pub use font::Font;
pub use overview::{Overview, Told};
pub use progress::{Progress, clock};
pub use summary::summary;

/// A fraction as a percentage with one decimal, `-` where there is none.
pub fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1}", 100.0 * fraction))
}

/// 1234567 bytes as 1.2 MB.
pub fn bytes(count: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.iter().find(|(size, _)| count as f64 >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", count as f64 / size),
        None => format!("{count} B"),
    }
}

/// Says a line on standard error. A reader who has gone away does not stop a run.
pub fn message(line: &str) {
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
