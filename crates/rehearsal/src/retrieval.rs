//! Retrieval: which stored samples are replayed beside the incoming batch.

mod loss_change;
mod random;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

pub use loss_change::LossChange;
pub use random::Random;

use crate::{chance::Chance, choice::choice, memory::Memory, probe::Probe, sample::Slot};

/// Decides who is replayed.
pub trait Retrieval: Send {
    /// The slots to replay, in training order; none from an empty memory. A slot may appear twice.
    fn retrieve(&mut self, memory: &Memory, probe: &mut dyn Probe, chance: &mut Chance) -> Vec<Slot>;
}

/// The retrievals a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrievalKind {
    /// Uniformly.
    Random,
    /// Maximally interfered: those whose loss the coming update would raise most.
    Mir,
    /// Inverse MIR: those whose loss it would lower most.
    Imir,
    /// Some of both ends, half and half unless a ratio says otherwise.
    Balanced,
}
choice!(RetrievalKind, "retrieval", Random = "random", Mir = "mir", Imir = "imir", Balanced = "balanced");

impl RetrievalKind {
    /// The retrieval of `ratio.total()` samples, out of `candidates` per draw where it scores any.
    pub fn build(self, ratio: Ratio, candidates: usize) -> Box<dyn Retrieval> {
        match self {
            Self::Random => Box::new(Random { count: ratio.total() }),
            Self::Mir | Self::Imir | Self::Balanced => {
                Box::new(LossChange { high: ratio.high, low: ratio.low, candidates })
            }
        }
    }

    /// The split that the name stands for.
    pub fn usual_ratio(self, retrieved: usize) -> Ratio {
        match self {
            Self::Random | Self::Mir => Ratio { high: retrieved, low: 0 },
            Self::Imir => Ratio { high: 0, low: retrieved },
            Self::Balanced => Ratio { high: retrieved.div_ceil(2), low: retrieved / 2 },
        }
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
