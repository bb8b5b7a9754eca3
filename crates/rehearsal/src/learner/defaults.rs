//! The defaults of a learner that people keep, chosen so that a task takes some 150 to 300 steps, a
//! minute or two on 2 cores. docs/models.md says what was measured with them.

use crate::{
    config::{Insertion, PartialConfig},
    memory::PolicyKind,
    methods::MethodKind,
    optimizer::Schedule,
    retrieval::RetrievalKind,
};

/// The defaults of [`Learner::builder`](super::Learner::builder) and of a model.
pub struct Defaults;

/// New images that a task shows, all epochs together.
const IMAGES_SHOWN: usize = 3_000;
const FEWEST_EPOCHS: usize = 2;
const MOST_EPOCHS: usize = 12;
const SMALLEST: usize = 16;
const LARGEST: usize = 32;

impl Defaults {
    /// Images in memory.
    pub const MEMORY: usize = 5000;
    /// The learning rate that a task begins with.
    pub const LR: f64 = 0.1;
    /// How it changes in a task.
    pub const SCHEDULE: Schedule = Schedule::Cosine;

    /// Epochs of a task of that many images: few images are shown often, many not for hours.
    pub fn epochs(images: usize) -> usize {
        let images = images.max(1);
        ((IMAGES_SHOWN + images / 2) / images).clamp(FEWEST_EPOCHS, MOST_EPOCHS)
    }

    /// Height and width for photos whose short sides are about `side`.
    pub fn size(side: usize) -> usize {
        // Small photos keep their size. A step on images of twice the size takes four times as long:
        // in the same minutes, twice the epochs on small ones came to as much.
        if side < LARGEST { side.max(SMALLEST) } else { LARGEST }
    }

    /// Every setting that differs from the benchmark's default.
    pub fn settings() -> PartialConfig {
        PartialConfig {
            // Every class has its share, however many images it came with, and an image its one
            // place, however many epochs there were.
            memory_policy: Some(PolicyKind::ClassBalanced),
            offer: Some(Insertion::FirstEpoch),
            memory: Some(Self::MEMORY),
            lr: Some(Self::LR),
            schedule: Some(Self::SCHEDULE),
            // In the same time it learned more than retrieval by scores: docs/results.
            retrieval: Some(RetrievalKind::Random),
            ..PartialConfig::default()
        }
    }

    /// The given settings, completed by [`Defaults::settings`].
    pub fn complete(given: &PartialConfig) -> PartialConfig {
        let mut defaults = Self::settings();
        // ASER has its own retrieval, and a ratio is balanced retrieval's.
        if given.method == Some(MethodKind::Aser) || given.ratio.is_some() {
            defaults.retrieval = None;
        }
        defaults.overridden_by(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_images_are_shown_often() {
        assert_eq!([135, 270, 1000, 100_000].map(Defaults::epochs), [12, 11, 3, 2]);
        assert_eq!([8, 28, 32, 84, 4000].map(Defaults::size), [16, 28, 32, 32, 32]);
    }

    #[test]
    fn replay_is_random_unless_the_method_or_the_user_says_otherwise() {
        let retrieval = |given: &str| {
            let given = PartialConfig::parse(given).unwrap();
            Defaults::complete(&given).learner().unwrap().replay.retrieval
        };
        for (given, expected) in [
            ("", Some(RetrievalKind::Random)),
            ("method = 'er'", Some(RetrievalKind::Random)),
            ("method = 'aser'", Some(RetrievalKind::Aser)),
            ("method = 'aser'\nretrieval = 'random'", Some(RetrievalKind::Random)),
            ("method = 'fine-tune'", None),
            ("retrieval = 'mir'", Some(RetrievalKind::Mir)),
            ("ratio = '7:3'", Some(RetrievalKind::Balanced)),
        ] {
            assert_eq!(retrieval(given), expected, "{given}");
        }
    }
}
