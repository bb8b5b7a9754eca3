//! A measure over runs that differ in their seed only.

use serde::{Deserialize, Serialize};

/// Mean and spread of a measure over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverSeeds {
    /// How many runs.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation (division by n − 1); one run has none.
    pub deviation: Option<f64>,
}

impl OverSeeds {
    /// Of the values of some runs; `None` without a run.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (n > 0).then(|| Self { n, mean, deviation: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        // Squares about the mean 5: 9 1 1 1 0 0 4 16, sum 32, over 7.
        let found = OverSeeds::from_values(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((found.n, found.mean), (8, 5.0));
        assert!((found.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn one_run_has_no_spread_and_none_has_no_mean() {
        assert_eq!(OverSeeds::from_values(&[0.5]), Some(OverSeeds { n: 1, mean: 0.5, deviation: None }));
        assert_eq!(OverSeeds::from_values(&[]), None);
    }
}
