//! McNemar's test: is one of two classifiers better, on the same test images?

/// With fewer images on which they disagree, the p-value is exact; otherwise the χ² approximation is
/// good enough.
const FEWEST_APPROXIMATE: u64 = 25;

/// What McNemar's test says about two classifiers tested on the same images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// Images that only the first classifier gets right.
    pub only_first: u64,
    /// Images that only the second classifier gets right.
    pub only_second: u64,
    /// The probability of a disagreement at least this one-sided by chance alone.
    pub p: f64,
    /// χ² with continuity correction; `None` if `p` is the exact binomial one.
    pub chi_squared: Option<f64>,
}

impl McNemar {
    /// The size of the effect, Cohen's g: the second classifier's share of the disagreements minus
    /// one half, from −0.5 to 0.5; `None` if they never disagree.
    pub fn effect(&self) -> Option<f64> {
        let disagreements = self.only_first + self.only_second;
        (disagreements > 0).then(|| self.only_second as f64 / disagreements as f64 - 0.5)
    }
}

/// Tests, two-sided, how many images only one of the two classifiers gets right.
pub fn mcnemar(only_first: u64, only_second: u64) -> McNemar {
    let disagreements = only_first + only_second;
    if disagreements < FEWEST_APPROXIMATE {
        let p = exact_p(disagreements, only_first.min(only_second));
        return McNemar { only_first, only_second, p, chi_squared: None };
    }
    let difference = only_first.abs_diff(only_second) as f64;
    let chi_squared = (difference - 1.0).powi(2) / disagreements as f64;
    // A χ² of one degree of freedom is a squared normal.
    McNemar { only_first, only_second, p: libm::erfc((chi_squared / 2.0).sqrt()), chi_squared: Some(chi_squared) }
}

/// Counts the images on which two classifiers disagree, and tests them. `first` and `second` say which
/// images each gets right, in the same order.
///
/// # Panics
///
/// If they were not tested on the same number of images.
pub fn mcnemar_of(first: &[bool], second: &[bool]) -> McNemar {
    assert_eq!(first.len(), second.len(), "the same images");
    let count = |one: &[bool], other: &[bool]| one.iter().zip(other).filter(|&(&a, &b)| a && !b).count() as u64;
    mcnemar(count(first, second), count(second, first))
}

/// Twice the probability that at most `fewer` of `n` fair coins show heads.
fn exact_p(n: u64, fewer: u64) -> f64 {
    let mut ways = 1.0; // n over i, exact below 2^53
    let mut at_most = 0.0;
    for i in 0..=fewer {
        at_most += ways;
        ways = ways * (n - i) as f64 / (i + 1) as f64;
    }
    (2.0 * at_most / (1_u64 << n) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-8, "{found} is not {expected}");
    }

    /// The reference vectors, V12.
    #[test]
    fn v12_mcnemar() {
        let many = mcnemar(30, 14);
        assert_near(many.chi_squared.unwrap(), 5.11363636);
        assert_near(many.p, 0.02373852);
        assert_near(exact_p(44, 14), 0.02262884);
        let few = mcnemar(8, 2);
        assert_eq!((few.p, few.chi_squared), (0.109375, None));
        assert_near(few.effect().unwrap(), -0.3);
        let thousands = mcnemar(864, 776);
        assert_near(thousands.chi_squared.unwrap(), 4.61524390);
        assert_near(thousands.p, 0.03168899);
    }

    #[test]
    fn an_even_split_is_no_difference() {
        assert_near(mcnemar(0, 0).p, 1.0);
        assert_eq!(mcnemar(0, 0).effect(), None);
        assert_near(mcnemar(5, 5).p, 1.0);
        // The continuity correction leaves a little: 1 / 100.
        assert_near(mcnemar(50, 50).chi_squared.unwrap(), 0.01);
    }

    #[test]
    fn it_is_exact_below_25_disagreements() {
        assert_eq!(mcnemar(20, 4).chi_squared, None);
        assert!(mcnemar(20, 5).chi_squared.is_some());
    }

    #[test]
    fn disagreements_are_counted_image_by_image() {
        let (first, second) = ([true, true, true, false, false], [true, false, false, true, false]);
        let found = mcnemar_of(&first, &second);
        assert_eq!((found.only_first, found.only_second), (2, 1));
    }
}
