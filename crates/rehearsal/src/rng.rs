//! Random numbers: every draw of an experiment, from one seed.
//!
//! A [`Rng`] is made from the seed, the name of what it decides, and a key (task, epoch, step,
//! image, …). It has no other state, so nothing about randomness needs saving: a resumed run makes
//! the same generators again. Streams of different names are independent, hence two methods run
//! with the same seed see the same class order, initial weights and sample order: comparisons are
//! paired.
//!
//! The draws below are written out here, on top of the generator's bits, because the results of a
//! published run must not change with the next release of a crate of distributions.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// What a stream of draws decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RngStream {
    /// In which order the classes appear.
    ClassOrder,
    /// In which order the domains appear.
    DomainOrder,
    /// Which samples of a blurry stream change their task; key: task.
    Blur,
    /// Which images are for training and which for testing, if a data set has no split of its own.
    Split,
    /// The first weights.
    Initialisation,
    /// The first weights of a class that comes later; key: class.
    NewClass,
    /// The order of a task's samples; key: task, epoch.
    Shuffling,
    /// The augmented views of incoming samples; key: step, index.
    Augmentation,
    /// The augmented views of replayed samples; key: step, index.
    ReplayAugmentation,
    /// Which samples stay in memory; key: step.
    Reservoir,
    /// Which of the samples that fill no batch stay in memory; key: task.
    Rest,
    /// Which samples leave a memory that is made smaller; key: step.
    Shrinking,
    /// Which samples are replayed; key: step.
    Retrieval,
    /// Which averaged networks move; key: step.
    Averaging,
    /// Which stored samples recalibration uses; key: step.
    Calibration,
}

impl RngStream {
    fn name(self) -> &'static str {
        match self {
            Self::ClassOrder => "class order",
            Self::DomainOrder => "domain order",
            Self::Blur => "blur",
            Self::Split => "split",
            Self::Initialisation => "initialisation",
            Self::NewClass => "new class",
            Self::Shuffling => "shuffling",
            Self::Augmentation => "augmentation",
            Self::ReplayAugmentation => "replay augmentation",
            Self::Reservoir => "reservoir",
            Self::Rest => "rest",
            Self::Shrinking => "shrinking",
            Self::Retrieval => "retrieval",
            Self::Averaging => "averaging",
            Self::Calibration => "calibration",
        }
    }
}

/// A seeded source of draws.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream that decides `what` under `seed`, for `key`.
    pub fn new(seed: u64, what: RngStream, key: &[u64]) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"rehearsal 1 ");
        digest.update(what.name());
        digest.update(seed.to_le_bytes());
        for part in key {
            digest.update(part.to_le_bytes());
        }
        Self(Xoshiro256PlusPlus::from_seed(digest.finalize().into()))
    }

    /// Uniform in [0, 1), on a grid of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform between `low` and `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True with probability `p`.
    pub fn happens(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `0..bound`, without bias (Lemire's multiplication with rejection). `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a draw needs something to draw from");
        let rejected = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= rejected {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts `items` into a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// `count` distinct numbers of `0..from`, uniformly, in the order drawn; all of them, shuffled, if there are fewer.
    pub fn distinct(&mut self, from: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..from).collect();
        let count = count.min(from);
        for i in 0..count {
            let other = i + self.below((from - i) as u64) as usize;
            all.swap(i, other);
        }
        all.truncate(count);
        all
    }

    /// `count` distinct indices of `weights`, drawn one after another, each in proportion to its
    /// weight among those left. Weights are positive.
    pub fn weighted_distinct(&mut self, weights: &[f64], count: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..weights.len()).collect();
        let mut drawn = Vec::with_capacity(count.min(left.len()));
        while drawn.len() < count && !left.is_empty() {
            let total: f64 = left.iter().map(|&index| weights[index]).sum();
            let mut at = self.unit() * total;
            let place = left.iter().position(|&index| {
                at -= weights[index];
                at < 0.0
            });
            // Rounding can leave a trace after the last weight: then it is the last.
            drawn.push(left.remove(place.unwrap_or(left.len() - 1)));
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_name_and_key_draw_the_same() {
        let draw = |seed, what, key: &[u64]| Rng::new(seed, what, key).below(u64::MAX);
        assert_eq!(draw(1, RngStream::Retrieval, &[5]), draw(1, RngStream::Retrieval, &[5]));
        assert_ne!(draw(1, RngStream::Retrieval, &[5]), draw(2, RngStream::Retrieval, &[5]));
        assert_ne!(draw(1, RngStream::Retrieval, &[5]), draw(1, RngStream::Reservoir, &[5]));
        assert_ne!(draw(1, RngStream::Retrieval, &[5]), draw(1, RngStream::Retrieval, &[6]));
    }

    /// The stream is part of what a published result means: if this fails, results of earlier
    /// versions no longer reproduce.
    #[test]
    fn the_stream_does_not_change_between_versions() {
        let mut rng = Rng::new(0, RngStream::ClassOrder, &[]);
        assert_eq!(rng.distinct(10, 10), [8, 7, 3, 4, 5, 1, 9, 0, 6, 2]);
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(3, RngStream::Split, &[]);
        let mut counts = [0f64; 7];
        for _ in 0..70_000 {
            counts[rng.below(7) as usize] += 1.0;
        }
        let chi_square: f64 = counts.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 27.86, "p < 1e-4 at 6 degrees of freedom: {counts:?}");
    }

    #[test]
    fn distinct_draws_are_distinct_and_uniform_in_every_place() {
        let mut rng = Rng::new(4, RngStream::Split, &[]);
        let mut first = [0f64; 5];
        for _ in 0..50_000 {
            let drawn = rng.distinct(5, 3);
            assert_eq!(drawn.len(), 3);
            assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2]);
            first[drawn[2]] += 1.0;
        }
        let chi_square: f64 = first.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 23.51, "p < 1e-4 at 4 degrees of freedom: {first:?}");
        assert_eq!(rng.distinct(2, 9).len(), 2);
        assert!(rng.distinct(0, 9).is_empty());
    }

    #[test]
    fn weighted_draws_are_distinct_and_in_proportion() {
        let mut rng = Rng::new(5, RngStream::Split, &[]);
        let mut first = [0f64; 3];
        for _ in 0..60_000 {
            let drawn = rng.weighted_distinct(&[1.0, 2.0, 3.0], 2);
            assert!(drawn.len() == 2 && drawn[0] != drawn[1]);
            first[drawn[0]] += 1.0;
        }
        let expected = [10_000.0, 20_000.0, 30_000.0];
        let chi_square: f64 = first.iter().zip(expected).map(|(c, e)| (c - e).powi(2) / e).sum();
        assert!(chi_square < 18.43, "p < 1e-4 at 2 degrees of freedom: {first:?}");
        assert_eq!(rng.weighted_distinct(&[1.0], 9), [0]);
    }
}
