//! Methods: what a step minimises.

mod er;
mod fine_tune;
mod pcr;

use burn::tensor::Tensor;

pub use er::{Er, Reduction};
pub use fine_tune::FineTune;
pub use pcr::Pcr;

use crate::{
    choice::choice,
    losses::Denominator,
    network::{HeadKind, Network},
    views::{Anchors, Views},
};

/// What a step trains on.
#[derive(Clone, Debug)]
pub struct StepBatch {
    /// The new samples.
    pub incoming: Anchors,
    /// The replayed ones; none while the memory is empty.
    pub retrieved: Option<Anchors>,
    /// Classes seen so far: `0..seen`.
    pub seen: usize,
}

/// A way of learning from new and replayed samples.
pub trait Method: Send {
    /// The head it needs.
    fn head(&self) -> HeadKind;

    /// The loss to descend, from training-mode passes through `network`; `None` where this step only moves the running statistics.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>>;
}

/// The methods a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// No memory: what forgetting looks like.
    FineTune,
    /// Experience replay: cross-entropy on new and replayed samples.
    Er,
    /// Proxy-based contrastive replay.
    Pcr,
}
choice!(MethodKind, "method", FineTune = "fine-tune", Er = "er", Pcr = "pcr");

/// What the methods can be told.
#[derive(Clone, Copy, Debug)]
pub struct MethodOptions {
    /// PCR: τ.
    pub temperature: f64,
    /// PCR: over which proxies its denominator runs.
    pub denominator: Denominator,
    /// ER: how the losses of new and replayed samples are joined.
    pub reduction: Reduction,
}

impl MethodKind {
    /// The method, ready to learn.
    pub fn build(self, options: &MethodOptions) -> Box<dyn Method> {
        match self {
            Self::FineTune => Box::new(FineTune),
            Self::Er => Box::new(Er { reduction: options.reduction }),
            Self::Pcr => Box::new(Pcr { temperature: options.temperature, denominator: options.denominator }),
        }
    }

    /// The views it trains on unless the user says otherwise.
    pub fn usual_views(self) -> Views {
        match self {
            Self::Pcr => Views::Both,
            Self::FineTune | Self::Er => Views::Augmented,
        }
    }

    /// Whether it has a memory to replay from.
    pub fn replays(self) -> bool {
        self != Self::FineTune
    }
}
