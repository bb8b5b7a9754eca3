//! Correlations of two quantities.

use crate::ranks::mean_ranks;

/// Pearson's correlation of pairs; `None` for fewer than two pairs, or if all values of one side are equal.
///
/// ```
/// assert_eq!(rehearsal_measure::pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), Some(1.0));
/// ```
///
/// # Panics
///
/// If the two sides differ in length.
pub fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "pairs");
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let products = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    let scale = (products(a, mean_a, a, mean_a) * products(b, mean_b, b, mean_b)).sqrt();
    let correlation = products(a, mean_a, b, mean_b) / scale;
    (a.len() > 1 && scale > 0.0 && correlation.is_finite()).then(|| correlation.clamp(-1.0, 1.0))
}

/// Spearman's correlation of pairs: Pearson's of their ranks. Equal values have their mean rank.
///
/// # Panics
///
/// If the two sides differ in length.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    pearson(&mean_ranks(a).ranks, &mean_ranks(b).ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?}, expected {expected}");
    }

    /// The numbers are from the textbook's formula in Python's floats; the ranks of b are 1, 2, 3.5, 5, 3.5.
    #[test]
    fn correlations_are_those_of_the_textbook() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0]);
        close(pearson(&a, &b), 0.832_050_294_337_843_7);
        close(spearman(&a, &b), 0.820_782_681_668_123_2);
        close(spearman(&[1.0, 10.0, 100.0], &[-1.0, -5.0, -6.0]), -1.0);
    }

    #[test]
    fn what_never_changes_goes_with_nothing() {
        assert_eq!(pearson(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[2.0], &[3.0]), None);
        assert_eq!(pearson(&[], &[]), None);
    }
}
