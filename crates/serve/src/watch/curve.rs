//! A curve of at most some hundred points, however many steps it is of: each point is the mean of equally many steps.

use serde::Serialize;

/// The most points.
const POINTS: usize = 400;

/// The mean of a quantity over stretches of steps.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    stride: u64,
    /// Sum and count of each stretch.
    stretches: Vec<(f64, u64)>,
}

/// A curve as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Drawn {
    /// Steps of one point.
    pub stride: u64,
    /// The mean over each stretch of so many steps, or null if there is none.
    pub means: Vec<Option<f64>>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { stride: 1, stretches: Vec::new() }
    }
}

impl Curve {
    /// Adds the value of a step, from 1.
    pub fn add(&mut self, step: u64, value: f64) {
        let index = |stride: u64| usize::try_from(step.saturating_sub(1) / stride).unwrap_or(usize::MAX);
        while index(self.stride) >= POINTS {
            let both = |pair: &[(f64, u64)]| pair.iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            self.stretches = self.stretches.chunks(2).map(both).collect();
            self.stride *= 2;
        }
        let at = index(self.stride);
        if at >= self.stretches.len() {
            self.stretches.resize(at + 1, (0.0, 0));
        }
        self.stretches[at].0 += value;
        self.stretches[at].1 += 1;
    }

    pub fn drawn(&self) -> Drawn {
        let mean = |(sum, count): &(f64, u64)| (*count > 0).then(|| sum / *count as f64);
        Drawn { stride: self.stride, means: self.stretches.iter().map(mean).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_means_of_equally_many_steps_and_never_too_many() {
        let mut curve = Curve::default();
        (1..=3).for_each(|step| curve.add(step, f64::from(step as u32)));
        assert_eq!(curve.drawn(), Drawn { stride: 1, means: vec![Some(1.0), Some(2.0), Some(3.0)] });
        (4..=1000).for_each(|step| curve.add(step, 7.0));
        let drawn = curve.drawn();
        assert_eq!((drawn.stride, drawn.means.len()), (4, 250));
        assert_eq!(drawn.means[..2], [Some((1.0 + 2.0 + 3.0 + 7.0) / 4.0), Some(7.0)]);
        curve.add(u64::MAX, 1.0);
        assert!(curve.drawn().means.len() <= POINTS, "a step that cannot be");
    }
}
