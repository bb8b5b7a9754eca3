//! Counts of values in bins.

use serde::{Deserialize, Serialize};

/// Counts of values in bins of equal width from `from` to `to`. A value on a boundary belongs to
/// the higher bin, `to` to the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The lower end of the first bin.
    pub from: f64,
    /// The upper end of the last bin.
    pub to: f64,
    /// One count per bin.
    pub counts: Vec<u64>,
    /// How many values were below `from`.
    #[serde(default)]
    pub below: u64,
    /// How many values were above `to`.
    #[serde(default)]
    pub above: u64,
}

impl Histogram {
    /// An empty histogram.
    ///
    /// # Panics
    ///
    /// If it has no bins or no width.
    pub fn new(from: f64, to: f64, bins: usize) -> Self {
        assert!(from < to && bins > 0, "a histogram has bins, and its ends differ");
        Self { from, to, counts: vec![0; bins], below: 0, above: 0 }
    }

    /// Counts a value; one that is not a number is not counted.
    pub fn add(&mut self, value: f64) {
        let place = (value - self.from) / (self.to - self.from) * self.counts.len() as f64;
        if value < self.from {
            self.below += 1;
        } else if value > self.to {
            self.above += 1;
        } else if !value.is_nan() {
            let last = self.counts.len() - 1;
            self.counts[(place as usize).min(last)] += 1;
        }
    }

    /// How many values were counted, including those outside the bins.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.below + self.above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_their_bins() {
        let mut histogram = Histogram::new(-1.0, 1.0, 4);
        for value in [-1.0, -0.6, -0.5, 0.0, 0.99, 1.0, 1.01, -3.0, f64::NAN] {
            histogram.add(value);
        }
        assert_eq!((histogram.below, &histogram.counts[..], histogram.above), (1, &[2, 1, 1, 2][..], 1));
        assert_eq!(histogram.total(), 8);
    }
}
