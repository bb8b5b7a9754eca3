//! How to learn from what a folder holds, where nothing is given: so that a visit takes some 150 to
//! 300 steps, a minute or two on 2 cores. docs/models.md says what was measured with them.

use rehearsal::{
    config::{Offer, PartialConfig},
    memory::PolicyKind,
    methods::MethodKind,
    optimizer::Schedule,
    retrieval::RetrievalKind,
};

/// How to learn, where nothing is given.
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
        // Few images are looked at often, many not for hours: who has the time says `--passes`.
        let images = images.max(1);
        let passes = ((PRESENTATIONS + images / 2) / images).clamp(FEWEST_PASSES, MOST_PASSES);
        Self { passes, lr: 0.1, schedule: Schedule::Cosine }
    }

    /// Height and width of a new model's images, where the photos' short sides are about `side`.
    pub fn size(side: usize) -> usize {
        // What is small stays as it is. A step of images of twice the size takes four times as long:
        // in the same minutes, twice the passes over small ones came to as much.
        if side < LARGEST { side.max(SMALLEST) } else { LARGEST }
    }

    /// What a new model's learner is, unless given otherwise.
    pub fn settings() -> PartialConfig {
        PartialConfig {
            // Every class has its share, however many images it came with, and an image its one
            // place, however often it was looked at.
            memory_policy: Some(PolicyKind::ClassBalanced),
            offer: Some(Offer::FirstEpoch),
            // In the same time it learned more than retrieval by scores: docs/results.
            retrieval: Some(RetrievalKind::Random),
            ..PartialConfig::default()
        }
    }

    /// What is given, completed by [`Defaults::settings`].
    pub fn complete(given: &PartialConfig) -> PartialConfig {
        let mut defaults = Self::settings();
        // ASER has its own retrieval, and a ratio is balanced retrieval's.
        if given.method == Some(MethodKind::Aser) || given.ratio.is_some() {
            defaults.retrieval = None;
        }
        defaults.overridden_by(given)
    }
}

const PRESENTATIONS: usize = 3_000;
const FEWEST_PASSES: usize = 2;
const MOST_PASSES: usize = 12;
const SMALLEST: usize = 16;
const LARGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_images_are_looked_at_often() {
        assert_eq!([135, 270, 1000, 100_000].map(|images| Defaults::new(images).passes), [12, 11, 3, 2]);
        assert_eq!([8, 28, 32, 84, 4000].map(Defaults::size), [16, 28, 32, 32, 32]);
    }

    #[test]
    fn replay_is_random_unless_the_method_or_the_user_says_otherwise() {
        let retrieval = |given: &str| {
            let given = PartialConfig::parse(given).unwrap();
            Defaults::complete(&given).learner().unwrap().retrieval
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
