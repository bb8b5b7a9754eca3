//! Retrieval: which stored samples are replayed beside the incoming batch.

mod aser;
mod loss_change;
mod memory_match;
mod random;

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

pub use aser::Aser;
pub use loss_change::LossChange;
pub use memory_match::MemoryMatch;
pub use random::Random;

use rehearsal_data::{choice, choice::About};

use crate::{memory::Memory, probe::Probe, rng::Rng, sample::Slot, shapley::ShapleyOptions};

/// Decides which stored samples are replayed.
///
/// ```
/// use rehearsal::{memory::Memory, prelude::*, probe::Probe, retrieval::{Retrieval, Retrieved}, rng::Rng, sample::Slot};
///
/// /// The samples that were stored last.
/// struct Newest;
///
/// impl Retrieval for Newest {
///     fn retrieve(&self, count: usize, memory: &Memory, _: &mut dyn Probe, _: &mut Rng) -> Vec<Retrieved> {
///         (0..memory.len()).rev().take(count).map(|slot| Slot(slot).into()).collect()
///     }
/// }
///
/// # fn main() -> Result<(), LearnerError> {
/// let parts = Parts::new().retrieval("newest", Newest);
/// let learner = Learner::builder().size(8).backbone(BackboneKind::Tiny).parts(parts).build()?;
/// # Ok(())
/// # }
/// ```
///
/// It has no state of its own, so that a resumed run chooses as an
/// uninterrupted one would: all it may go by is the memory, the probe and the draws.
pub trait Retrieval: Send + Sync {
    /// What to replay, in training order: at most `count` samples, which is the setting `retrieved`; nothing from an
    /// empty memory. A slot may appear twice.
    fn retrieve(&self, count: usize, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved>;
}

/// A stored sample that was chosen for replay, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrieved {
    /// Where it is stored.
    pub slot: Slot,
    /// The end of loss change that it was chosen from, if it was chosen by that.
    pub side: Option<Side>,
    /// How much the coming update would change its loss, if that was asked.
    pub loss_change: Option<f32>,
}

/// An end of loss change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The coming update would raise the loss: conflicting gradients, which protect old knowledge.
    High,
    /// It would lower the loss: aligned gradients, which keep the network plastic.
    Low,
}

impl From<Slot> for Retrieved {
    fn from(slot: Slot) -> Self {
        Self { slot, side: None, loss_change: None }
    }
}

/// The retrievals a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetrievalKind {
    /// Uniformly.
    Random,
    /// Maximally interfered: those whose loss the coming update would raise most.
    Mir,
    /// Inverse MIR: those whose loss it would lower most.
    Imir,
    /// Some of both ends, half and half unless a ratio says otherwise.
    Balanced,
    /// Adversarial Shapley value: those near the new samples that also help to classify the old.
    Aser,
    /// Random samples, each with a partner of its class.
    MemoryMatch,
}
choice!(
    RetrievalKind,
    "retrieval",
    Random = "random",
    Mir = "mir",
    Imir = "imir",
    Balanced = "balanced",
    Aser = "aser",
    MemoryMatch = "memory-match",
);

/// Options of the retrievals.
#[derive(Clone, Copy, Debug)]
pub struct RetrievalOptions {
    /// How many samples.
    pub count: usize,
    /// Loss change: how many of them from each end; the retrieval's default if not given.
    pub ratio: Option<Ratio>,
    /// Loss change: how many slots each draw looks at.
    pub candidates: usize,
    /// ASER.
    pub shapley: ShapleyOptions,
}

impl RetrievalKind {
    /// The retrieval, ready to choose.
    pub fn build(self, options: &RetrievalOptions) -> Arc<dyn Retrieval> {
        let &RetrievalOptions { count, ratio, candidates, shapley } = options;
        match self {
            Self::Random => Arc::new(Random),
            Self::Mir | Self::Imir | Self::Balanced => {
                let default = || self.default_ratio(count).unwrap_or(Ratio { high: count, low: 0 });
                let Ratio { high, low } = ratio.unwrap_or_else(default);
                Arc::new(LossChange { high, low, candidates })
            }
            Self::Aser => Arc::new(Aser { shapley }),
            Self::MemoryMatch => Arc::new(MemoryMatch),
        }
    }

    /// The split between both ends of loss change that the name stands for, if it stands for one.
    pub fn default_ratio(self, retrieved: usize) -> Option<Ratio> {
        match self {
            Self::Mir => Some(Ratio { high: retrieved, low: 0 }),
            Self::Imir => Some(Ratio { high: 0, low: retrieved }),
            Self::Balanced => Some(Ratio { high: retrieved.div_ceil(2), low: retrieved / 2 }),
            Self::Random | Self::Aser | Self::MemoryMatch => None,
        }
    }

    /// What it does and costs.
    pub fn about(self) -> About {
        let (does, costs) = match self {
            Self::Random => ("uniformly", ""),
            Self::Mir => ("those whose loss the coming update would raise most", "one draw scored"),
            Self::Imir => ("those whose loss it would lower most", "one draw scored"),
            Self::Balanced => ("half and half, or as --ratio says", "two draws scored"),
            Self::Aser => ("those between the new samples and the old", "features of 4 slots a class, Shapley values"),
            Self::MemoryMatch => ("random samples, each with a partner of its class", ""),
        };
        About { does, costs }
    }
}

/// How many samples come from the high end of loss change (conflicting) and from the low end (aligned). Written `5:5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ratio {
    /// From the high end.
    pub high: usize,
    /// From the low end.
    pub low: usize,
}

impl Ratio {
    /// Both ends together.
    pub fn total(self) -> usize {
        self.high + self.low
    }
}

impl FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.trim().parse::<u32>().ok().map(|count| count as usize);
        text.split_once(':')
            .and_then(|(high, low)| Some(Self { high: side(high)?, low: side(low)? }))
            .ok_or_else(|| format!("`{text}` is not a ratio: write high:low, such as 5:5"))
    }
}

impl TryFrom<String> for Ratio {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.high, self.low)
    }
}

impl From<Ratio> for String {
    fn from(ratio: Ratio) -> Self {
        ratio.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        memory::{Memorized, testing::sample},
        rng::{Rng, RngStream},
        sample::Sample,
        shapley::ShapleyScore,
    };
    use rehearsal_data::choice::Choice;

    /// Answers with numbers that depend on nothing but the slot.
    struct Arbitrary(Vec<Sample>);

    impl Probe for Arbitrary {
        fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
            slots.iter().map(|slot| ((slot.0 * 37) % 11) as f32 - 5.0).collect()
        }
        fn features(&mut self, slots: &[Slot]) -> Vec<Vec<f32>> {
            slots.iter().map(|slot| vec![((slot.0 * 53) % 17) as f32, (slot.0 % 3) as f32]).collect()
        }
        fn incoming_features(&mut self) -> Vec<Vec<f32>> {
            self.0.iter().map(|sample| vec![f32::from(sample.image[0]), 1.0]).collect()
        }
        fn incoming(&self) -> &[Sample] {
            &self.0
        }
    }

    proptest! {
        #[test]
        fn retrieved_slots_exist_and_are_no_more_than_asked(
            labels in prop::collection::vec(0u16..5, 0..60),
            spare in 0usize..30,
            seen in 0usize..90,
            half in 1usize..8,
            seed in any::<u64>(),
        ) {
            let mut memory = Memory::new(labels.len() + spare);
            for (slot, &label) in labels.iter().enumerate() {
                memory.place(Memorized::from(sample(label, slot as u8)), Some(Slot(slot)));
            }
            (0..seen).for_each(|_| memory.place(sample(0, 0).into(), None));
            let count = 2 * half;
            for &kind in RetrievalKind::ALL {
                let shapley = ShapleyOptions { score: ShapleyScore::Asvm, neighbours: 3 };
                let ratio = kind.default_ratio(count);
                let options = RetrievalOptions { count, ratio, candidates: 20, shapley };
                let mut probe = Arbitrary(vec![sample(1, 3), sample(4, 9)]);
                let mut rng = Rng::new(seed, RngStream::Retrieval, &[]);
                let slots = kind.build(&options).retrieve(count, &memory, &mut probe, &mut rng);
                prop_assert!(slots.len() <= count, "{kind}: {} of {count}", slots.len());
                prop_assert!(slots.iter().all(|retrieved| retrieved.slot.0 < memory.len()), "{kind}: {slots:?}");
                let warm = kind != RetrievalKind::MemoryMatch || memory.samples_seen() > 40;
                prop_assert_eq!(slots.is_empty(), memory.is_empty() || !warm, "{}", kind);
            }
        }
    }
}
