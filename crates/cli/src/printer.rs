//! Everything printed for people: progress, messages and tables.

mod bar;
mod columns;
mod comparison;
mod font;
mod learning;
#[cfg(feature = "training")]
mod learning_bar;
#[cfg(feature = "training")]
mod overview;
#[cfg(feature = "training")]
mod progress;
#[cfg(feature = "training")]
mod summary;

use std::{
    io::{self, Write},
    time::Duration,
};

use rehearsal_data::printable;

pub use bar::Bar;
pub use columns::{clipped, columns, display_width, padded, terminal_columns};
pub use comparison::{comparison, comparison_json};
pub use font::draw_text;
pub use learning::{class_name, interval_text, score_text, session_text};
#[cfg(feature = "training")]
pub use learning_bar::LearningBar;
#[cfg(feature = "training")]
pub use overview::Overview;
#[cfg(feature = "training")]
pub use progress::{Progress, clock};
pub use rehearsal_files::text::{plural, thousands as count};
#[cfg(feature = "training")]
pub use summary::summary;

/// How often a line is written if there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The longest name of a class in a table of 60 columns.
pub const LONGEST_NAME: usize = 28;

/// A fraction as a percentage with one decimal, `-` for none.
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

/// `1 class`, `3 classes`.
pub fn classes(number: usize) -> String {
    if number == 1 { "1 class".to_owned() } else { format!("{} classes", count(number)) }
}

/// Prints a message on standard error, without control characters. A closed pipe is ignored.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr(), "{}", safe(text));
}

/// The same lines, safe to print.
pub fn safe(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Prints to standard output. A closed pipe is ignored.
///
/// # Errors
/// It cannot be written for another reason.
pub fn print(text: &str) -> io::Result<()> {
    is_heard(text).map(drop)
}

/// Prints to standard output; whether somebody still reads it.
///
/// # Errors
/// It cannot be written for another reason than a closed pipe.
pub fn is_heard(text: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!((plural(1, "image"), plural(5000, "image")), ("1 image".into(), "5,000 images".into()));
    }
}
