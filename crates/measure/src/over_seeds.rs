//! A measure over runs that differ only in their seed.

use serde::{Deserialize, Serialize};

use crate::student;

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
    /// From the values of some runs; `None` without a run.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (n > 0).then(|| Self { n, mean, deviation: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()) })
    }
}

impl OverSeeds {
    /// The 95 % interval of the mean by Student's t; one run has none.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let (freedom, deviation) = (self.n.checked_sub(1).filter(|&freedom| freedom > 0)?, self.deviation?);
        let half = student::quantile(freedom) * deviation / (self.n as f64).sqrt();
        Some([self.mean - half, self.mean + half])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_students() {
        // t of 2 degrees of freedom is 4.302653 at 97.5 %.
        let [low, high] = OverSeeds::from_values(&[1.0, 2.0, 3.0]).unwrap().interval().unwrap();
        assert!((high - 2.0 - 4.302_653 / 3.0_f64.sqrt()).abs() < 1e-5 && (low + high - 4.0).abs() < 1e-12);
        assert_eq!(OverSeeds::from_values(&[1.0]).unwrap().interval(), None);
    }

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
