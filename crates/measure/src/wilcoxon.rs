//! The Wilcoxon signed-rank test: do paired runs differ, whatever the shape of their distribution?
//!
//! Pairs that do not differ are dropped before the others are ranked, as with SciPy's
//! `zero_method="wilcox"`: they do not say which side is better. Equal differences share the mean of
//! their ranks.

use crate::ranks::mean_ranks;

/// Up to this number of pairs that differ, the p-value counts every assignment of signs, with or without
/// ties; above it, the normal approximation is good enough.
const MOST_EXACT: usize = 50;

/// What the two-sided Wilcoxon signed-rank test says about some paired differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wilcoxon {
    /// Pairs that differ; the others are dropped. Print it with every p-value, which cannot be below
    /// `2 / 2^n`.
    pub n: usize,
    /// Sum of the ranks of positive differences, W+.
    pub positive: f64,
    /// Sum of the ranks of negative differences, W−.
    pub negative: f64,
    /// The probability of a difference at least this large by chance alone.
    pub p: f64,
    /// Whether `p` is exact; otherwise it is the normal approximation, corrected for ties but not
    /// for continuity.
    pub exact: bool,
}

impl Wilcoxon {
    /// The size of the effect, the rank-biserial correlation: from −1 (every pair that differs is
    /// negative) to 1; `None` if no pair differs.
    pub fn effect(&self) -> Option<f64> {
        (self.n > 0).then(|| (self.positive - self.negative) / (self.positive + self.negative))
    }
}

/// Tests paired differences, two-sided. Zeros are dropped, ties get their mean rank; with no
/// difference left, `p` is 1.
///
/// Differences are compared exactly: round away noise in the last bits, or equal differences will not
/// tie.
///
/// # Panics
///
/// If a difference is not a number.
pub fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    assert!(differences.iter().all(|d| !d.is_nan()), "differences are numbers");
    let differences: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranked = mean_ranks(&sizes);
    let sum = |positive: bool| -> f64 {
        let ranks = differences.iter().zip(&ranked.ranks);
        ranks.filter(|(difference, _)| (**difference > 0.0) == positive).map(|(_, rank)| rank).sum()
    };
    // An empty sum of floats is minus zero.
    let (n, positive, negative) = (differences.len(), sum(true) + 0.0, sum(false) + 0.0);
    let exact = n <= MOST_EXACT;
    let p = if exact { exact_p(&ranked.ranks, positive.min(negative)) } else { normal_p(n, positive, &ranked.ties) };
    Wilcoxon { n, positive, negative, p, exact }
}

/// Twice the share of the `2^n` sign assignments whose rank sum is at most `smaller`. Both tails are
/// alike, with or without ties: if all signs change, a sum becomes the sum of the other side.
fn exact_p(ranks: &[f64], smaller: f64) -> f64 {
    // A mean rank is a multiple of one half, so twice a rank is an integer.
    let doubled = |rank: f64| (2.0 * rank).round() as usize;
    let most: usize = ranks.iter().map(|&rank| doubled(rank)).sum();
    let mut ways = vec![0_u64; most + 1]; // by twice the rank sum
    ways[0] = 1;
    for &rank in ranks {
        let rank = doubled(rank);
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let at_most: u64 = ways[..=doubled(smaller)].iter().sum();
    (2.0 * at_most as f64 / (1_u64 << ranks.len()) as f64).min(1.0)
}

fn normal_p(n: usize, positive: f64, ties: &[usize]) -> f64 {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let tied: f64 = ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0;
    let z = (positive - mean) / variance.sqrt();
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The reference vectors, V12: `scipy.stats.wilcoxon`, exact and approximate without continuity
    /// correction.
    #[test]
    fn v12_wilcoxon() {
        for (differences, positive, negative, p) in [
            (&[2.33, 2.65, 2.49, 1.72, 1.74, 0.88][..], 21.0, 0.0, 0.03125),
            (&[0.99, 8.70, -1.20, -0.53, 1.64, 1.21], 17.0, 4.0, 0.21875),
            (&[-4.08, 1.12, -0.72, -0.47, 0.69, 0.49], 10.0, 11.0, 1.0),
            (&[1.5, -0.5, 2.0, 0.7, -0.2, 3.1, 0.9, 1.1], 33.0, 3.0, 0.0390625),
        ] {
            let found = wilcoxon(differences);
            assert_eq!(found, Wilcoxon { n: differences.len(), positive, negative, p, exact: true });
        }
        assert_eq!(wilcoxon(&[2.33, 2.65]).negative.to_string(), "0", "not minus zero");
        for (n, positive, p) in [(6, 21.0, 0.02770785), (8, 33.0, 0.03569190)] {
            assert!((normal_p(n, positive, &[]) - p).abs() < 1e-8);
        }
    }

    /// By hand: ranks 1.5 1.5 3, W− 1.5; of the eight sums 0 1.5 1.5 3 3 4.5 4.5 6 three are at most
    /// 1.5, so p is 2 · 3 / 8.
    #[test]
    fn zeros_are_dropped_and_ties_are_counted_exactly() {
        let found = wilcoxon(&[0.0, 1.0, -1.0, 2.0, 0.0]);
        assert_eq!(found, Wilcoxon { n: 3, positive: 4.5, negative: 1.5, p: 0.75, exact: true });
        assert_eq!((found.effect(), wilcoxon(&[0.0]).effect()), (Some(0.5), None));
    }

    #[test]
    fn the_normal_approximation_begins_above_50_pairs() {
        let differences: Vec<f64> = (1..=51).map(f64::from).collect();
        assert!(wilcoxon(&differences[..50]).exact && !wilcoxon(&differences).exact);
        assert_eq!(Some(wilcoxon(&differences[..50]).p), Some(2.0 / 2_f64.powi(50)));
    }

    #[test]
    fn equal_runs_do_not_differ() {
        let nothing = Wilcoxon { n: 0, positive: 0.0, negative: 0.0, p: 1.0, exact: true };
        assert_eq!([wilcoxon(&[]), wilcoxon(&[0.0, -0.0])], [nothing; 2]);
    }

    proptest! {
        #[test]
        fn opposite_signs_swap_the_sums(differences in vec(-4_i8..4, 0..70)) {
            let d: Vec<f64> = differences.iter().map(|&d| f64::from(d)).collect();
            let turned: Vec<f64> = d.iter().map(|d| -d).collect();
            let (one, other) = (wilcoxon(&d), wilcoxon(&turned));
            prop_assert_eq!((one.positive, one.negative), (other.negative, other.positive));
            prop_assert!((one.positive + one.negative - (one.n * (one.n + 1)) as f64 / 2.0).abs() < 1e-9);
            prop_assert!((one.p - other.p).abs() < 1e-15 && (0.0..=1.0).contains(&one.p));
        }
    }
}
