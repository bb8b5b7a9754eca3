//! Numbers and counts as text: one way for each.

/// In place of a value that does not exist.
pub const NONE: &str = "–";

pub use rehearsal_files::text::{escaped_html as escaped, thousands};

/// "1 run", "20 runs".
pub fn counted(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// "1 epoch", "20 epochs".
pub fn epochs_text(epochs: f64) -> String {
    if epochs as u64 == 1 { "1 epoch".into() } else { format!("{epochs} epochs") }
}

/// A number with a real minus sign.
pub fn number(number: f64, decimals: usize) -> String {
    format!("{number:.decimals$}").replace('-', "−")
}

/// A number with its sign, as papers write it.
pub fn signed(number: f64, decimals: usize) -> String {
    format!("{number:+.decimals$}").replace('-', "−")
}

/// A fraction in percentage points, with its sign.
pub fn points(fraction: f64) -> String {
    signed(100.0 * fraction, 2)
}

/// An interval of fractions in percentage points.
pub fn interval(ends: Option<[f64; 2]>) -> String {
    ends.map_or(NONE.into(), |[low, high]| format!("[{}, {}]", points(low), points(high)))
}

/// "49.96 ± 0.31", or only the mean for one seed.
pub fn mean_text(mean: f64, deviation: Option<f64>, decimals: usize) -> String {
    let mean = number(mean, decimals);
    deviation.map_or(mean.clone(), |deviation| format!("{mean} ± {deviation:.decimals$}"))
}
