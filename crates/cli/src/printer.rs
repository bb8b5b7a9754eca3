//! What a person sees: a progress bar on a terminal, plain lines now and then in a pipe, and a table at the end.

mod progress;
mod summary;

pub use progress::Progress;
pub use summary::summary;

/// A fraction as a percentage with one decimal, `-` where there is none.
fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1}", 100.0 * fraction))
}
