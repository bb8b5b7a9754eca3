//! How to learn from what a folder holds, where nothing was said: so that five classes of 30 photos
//! take about 150 steps.

use rehearsal::{
    config::{Offer, PartialConfig},
    memory::PolicyKind,
    optimizer::Schedule,
};

/// How to learn, where nothing was said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defaults {
    /// Passes over the images of a visit.
    pub passes: usize,
    /// The learning rate that a visit begins with.
    pub lr: f64,
    /// How it changes in a visit.
    pub schedule: Schedule,
}

impl Defaults {
    /// For a visit of so many images to learn.
    pub fn new(images: usize) -> Self {
        // Few images are looked at often, many not for hours.
        let passes = (PRESENTATIONS / images.max(1)).clamp(FEWEST_PASSES, MOST_PASSES);
        Self { passes, lr: 0.1, schedule: Schedule::Cosine }
    }

    /// Height and width of a new model's images, where the photos' short sides are about `side`.
    pub fn size(side: usize) -> usize {
        // What is small stays as it is; photos lose little of what tells classes apart at this size,
        // and a step of larger ones takes much longer.
        if side < LARGEST { side.max(SMALLEST) } else { LARGEST }
    }

    /// What a new model's learner is, unless said otherwise.
    pub fn settings() -> PartialConfig {
        PartialConfig {
            // Every class has its share, however many images it came with, and an image its one
            // place, however often it was looked at.
            memory_policy: Some(PolicyKind::ClassBalanced),
            offer: Some(Offer::FirstEpoch),
            ..PartialConfig::default()
        }
    }
}

const PRESENTATIONS: usize = 10_000;
const FEWEST_PASSES: usize = 2;
const MOST_PASSES: usize = 12;
const SMALLEST: usize = 16;
const LARGEST: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_images_are_looked_at_often() {
        assert_eq!([135, 1000, 100_000].map(|images| Defaults::new(images).passes), [12, 10, 2]);
        assert_eq!([8, 28, 32, 84, 4000].map(Defaults::size), [16, 28, 32, 48, 48]);
    }
}
