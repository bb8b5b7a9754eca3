//! What the holdout set says of a head: how sure its probabilities may be, and how far a photo of a
//! known class may be from it.

use rehearsal_gaussian::Head;
use serde::{Deserialize, Serialize};

use crate::threshold::{FEWEST, threshold_of};

/// The share of holdout photos that must not be called unknown.
const KNOWN: f64 = 0.95;
/// For a holdout set that is too small to fit one. Every answer is unsure then.
const DEFAULT_TEMPERATURE: f64 = 10.0;
/// The logarithms of the lowest and the highest temperature.
const TEMPERATURES: (f64, f64) = (-3.0, 9.0);
/// So often is the interval cut; each cut leaves 0.618 of it.
const CUTS: usize = 40;

/// More photos make no better temperature.
const MOST_FITTED: usize = 2000;

/// What the holdout set says of a head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    /// By which half distances are divided.
    pub temperature: f64,
    /// The probability from which on at least 19 of 20 answers are right.
    pub threshold: Option<f64>,
    /// The squared distance beyond which a photo is unknown.
    pub farthest: Option<f32>,
}

/// The distances of a holdout photo to all classes, and its class.
pub(crate) struct Measured {
    pub distances: Vec<f32>,
    pub class: usize,
}

impl Calibration {
    /// Before there is a holdout set.
    pub const NONE: Self = Self { temperature: DEFAULT_TEMPERATURE, threshold: None, farthest: None };

    /// Of a holdout set.
    pub fn new(holdout: &[Measured]) -> Self {
        if holdout.len() < FEWEST {
            return Self::NONE;
        }
        // Spread over all classes.
        let every = holdout.len().div_ceil(MOST_FITTED);
        let temperature = temperature(&holdout.iter().step_by(every).collect::<Vec<_>>());
        let answer = |photo: &Measured| {
            let probabilities = Head::probabilities(&photo.distances, temperature);
            let best = nearest(&photo.distances);
            (probabilities[best] as f32, best == photo.class)
        };
        let mut nearest: Vec<f32> = holdout.iter().map(|photo| photo.distances[nearest(&photo.distances)]).collect();
        nearest.sort_by(f32::total_cmp);
        let last = (KNOWN * nearest.len() as f64).ceil() as usize;
        Self {
            temperature,
            threshold: threshold_of(holdout.iter().map(answer).collect()),
            farthest: nearest.get(last.max(1) - 1).copied(),
        }
    }
}

/// The class with the smallest distance; of two alike the first.
pub(crate) fn nearest(distances: &[f32]) -> usize {
    let pairs = distances.iter().enumerate();
    pairs.min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(&b.0))).map_or(0, |(class, _)| class)
}

/// The temperature at which the true classes are most likely, by golden-section search. As if one more
/// photo were right and one wrong (the rule of succession), a share of each photo counts for the nearest
/// other class: a small holdout set without a mistake does not make the model certain.
fn temperature(holdout: &[&Measured]) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let wrong = 1.0 / (holdout.len() as f64 + 2.0);
    let loss = |logarithm: f64| -> f64 {
        let temperature = logarithm.exp();
        let of_photo = |photo: &&Measured| {
            let other = nearest_other(photo);
            let log = |class| log_probability(&photo.distances, class, temperature);
            -(1.0 - wrong) * log(photo.class) - wrong * log(other)
        };
        holdout.iter().map(of_photo).sum()
    };
    let (mut low, mut high) = TEMPERATURES;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (loss(left), loss(right));
    for _ in 0..CUTS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = loss(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = loss(right);
        }
    }
    low.midpoint(high).exp()
}

/// The nearest class but the true one.
fn nearest_other(photo: &Measured) -> usize {
    let others = photo.distances.iter().enumerate().filter(|(class, _)| *class != photo.class);
    others.min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(&b.0))).map_or(photo.class, |(class, _)| class)
}

fn log_probability(distances: &[f32], class: usize, temperature: f64) -> f64 {
    let smallest = distances[nearest(distances)];
    let score = |distance: f32| f64::from(smallest - distance) / (2.0 * temperature);
    let sum: f64 = distances.iter().map(|&distance| score(distance).exp()).sum();
    score(distances[class]) - sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes; every `wrong`-th photo is nearer to the other one.
    fn measured(count: usize, wrong: usize) -> Vec<Measured> {
        let photo = |i: usize| Measured {
            distances: vec![100.0 + i as f32, 150.0],
            class: usize::from(i.is_multiple_of(wrong)),
        };
        (0..count).map(photo).collect()
    }

    #[test]
    fn probabilities_say_how_often_an_answer_is_right() {
        let holdout = |count: usize, wrong: usize| -> Vec<Measured> {
            (0..count)
                .map(|i| Measured { distances: vec![0.0, 40.0], class: usize::from(i.is_multiple_of(wrong)) })
                .collect()
        };
        let probability = |calibration: Calibration| Head::probabilities(&[0.0, 40.0], calibration.temperature)[0];
        let calibration = Calibration::new(&holdout(200, 4));
        // 150 of 200 right, one more right and one more wrong.
        assert!((probability(calibration) - 150.5 / 202.0).abs() < 3e-3, "{}", probability(calibration));
        assert_eq!(calibration.threshold, None, "three of four are not nineteen of twenty");
        let all_right = Calibration::new(&holdout(28, usize::MAX)[1..]);
        assert!((probability(all_right) - 28.0 / 29.0).abs() < 1e-6, "{}", probability(all_right));
    }

    #[test]
    fn one_in_twenty_holdout_photos_is_beyond_the_farthest() {
        let calibration = Calibration::new(&measured(40, 100));
        assert_eq!(calibration.farthest, Some(137.0));
        assert!(calibration.threshold.is_some());
        assert_eq!(Calibration::new(&measured(19, 100)), Calibration::NONE, "too few");
    }
}
