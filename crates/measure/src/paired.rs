//! How far paired runs differ, how certain that is, and which difference such pairs could show.

use serde::Serialize;

use crate::{OverSeeds, bootstrap, student};

/// The mean of paired differences, with its intervals, effect size and power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// How many pairs.
    pub n: usize,
    /// The mean difference.
    pub mean: f64,
    /// The sample standard deviation of single differences; one pair has none.
    pub deviation: Option<f64>,
    /// The 95 % interval of the mean by Student's t; one pair has none.
    pub interval: Option<[f64; 2]>,
    /// The same by the bootstrap, from percentiles of 10,000 draws with a fixed seed.
    pub bootstrap: Option<[f64; 2]>,
    /// The size of the effect, Cohen's d for pairs: the mean in standard deviations; `None` without a
    /// spread.
    pub effect: Option<f64>,
    /// The smallest true mean difference that a two-sided paired t test at 5 % would find 4 times in
    /// 5, with this number of pairs and this spread.
    pub detectable: Option<f64>,
}

impl Paired {
    /// From the differences of some pairs; `None` without a pair.
    pub fn from_differences(differences: &[f64]) -> Option<Self> {
        let over = OverSeeds::from_values(differences)?;
        let OverSeeds { n, mean, deviation } = over;
        Some(Self {
            n,
            mean,
            deviation,
            interval: over.interval(),
            bootstrap: deviation.map(|_| bootstrap::interval(differences)),
            effect: deviation.filter(|&deviation| deviation > 0.0).map(|deviation| mean / deviation),
            detectable: deviation.map(|deviation| student::detectable(n) * deviation),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_has_a_difference_and_no_interval() {
        let one = Paired::from_differences(&[0.5]).unwrap();
        assert_eq!((one.n, one.mean, one.deviation, one.interval), (1, 0.5, None, None));
        assert_eq!((one.bootstrap, one.effect, one.detectable), (None, None, None));
        assert_eq!(Paired::from_differences(&[]), None);
    }

    #[test]
    fn pairs_that_differ_alike_have_no_size_of_effect() {
        let alike = Paired::from_differences(&[0.25, 0.25, 0.25]).unwrap();
        assert_eq!((alike.interval, alike.bootstrap), (Some([0.25, 0.25]), Some([0.25, 0.25])));
        assert_eq!((alike.effect, alike.detectable), (None, Some(0.0)));
    }
}
