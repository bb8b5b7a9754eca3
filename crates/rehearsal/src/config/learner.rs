//! How a learner learns: the part of a run's settings that a saved model keeps.

use serde::{Deserialize, Serialize};

use super::{ConfigError, Offer, in_range, not_negative, positive};
use crate::{
    device::DeviceName,
    learner::CustomNames,
    memory::{GssOptions, PolicyKind},
    methods::{AceHead, MethodKind, MethodOptions},
    network::{BackboneKind, Kernels},
    optimizer::OptimizerConfig,
    probe::ScoreNorm,
    retrieval::{Ratio, RetrievalKind, RetrievalOptions},
    shapley::ShapleyOptions,
    views::Views,
};

/// How a learner learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LearnerConfig {
    /// What a step minimises.
    pub method: MethodKind,
    /// Who is replayed; none for a method without memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<RetrievalKind>,
    /// How many from the high and low end of loss change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Who stays in memory; none for a method without memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_policy: Option<PolicyKind>,
    /// Epochs of each task; none: by the number of its images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// How many samples the memory holds.
    pub memory: usize,
    /// New samples per step.
    pub batch: usize,
    /// Replayed samples per step.
    pub retrieved: usize,
    /// Slots that each draw of a scoring retrieval looks at.
    pub candidates: usize,
    /// How a step moves the network.
    #[serde(flatten)]
    pub optimizer: OptimizerConfig,
    /// Channels after the first convolution.
    pub width: usize,
    /// Seeds every draw.
    pub seed: u64,
    /// Threads; results do not depend on it.
    pub threads: usize,
    /// Where tensors live.
    pub device: DeviceName,
    /// The feature extractor.
    pub backbone: BackboneKind,
    /// Whether training changes the head alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub freeze_backbone: bool,
    /// What computes the convolutions on the processor.
    pub kernels: Kernels,
    /// What the methods are told.
    #[serde(flatten)]
    pub method_options: MethodOptions,
    /// What GSS is told.
    #[serde(flatten)]
    pub gss: GssOptions,
    /// What ASER is told.
    #[serde(flatten)]
    pub shapley: ShapleyOptions,
    /// The views that are trained on.
    pub views: Views,
    /// What normalises scored samples.
    pub score_norm: ScoreNorm,
    /// When samples may enter the memory.
    pub offer: Offer,
    /// What parts of one's own are called, where there are some.
    #[serde(flatten)]
    pub custom: CustomNames,
}

impl LearnerConfig {
    /// Whether every number is in its range and what is chosen goes together.
    ///
    /// # Errors
    /// It is not; the error says what.
    pub fn check(&self) -> Result<(), ConfigError> {
        let most = 1_000_000_000;
        in_range(&[
            ("epochs", self.epochs.unwrap_or(1), 1_000_000),
            ("batch", self.batch, most),
            ("width", self.width, 4096),
            ("threads", self.threads, 1024),
            ("candidates", self.candidates, most),
            ("gss-groups", self.gss.groups, most),
            ("gss-group-size", self.gss.group_size, most),
            ("shapley-neighbours", self.shapley.neighbours, 1_000_000),
        ])?;
        // TOML has no larger numbers than i64's.
        let limits = [
            ("memory", self.memory as u64, most as u64),
            ("retrieved", self.retrieved as u64, most as u64),
            ("seed", self.seed, i64::MAX as u64),
        ];
        if let Some(&(setting, found, most)) = limits.iter().find(|(_, found, most)| found > most) {
            return Err(ConfigError::TooLarge { setting, most, found });
        }
        self.device.check()?;
        self.method_options.check()?;
        self.optimizer.check()?;
        if !self.method.chooses_head() && self.method_options.er_ace.head != AceHead::Linear {
            return Err(ConfigError::Head(self.method));
        }
        self.check_replay()
    }

    fn check_replay(&self) -> Result<(), ConfigError> {
        for (setting, value) in [("memory", self.memory), ("retrieved", self.retrieved)] {
            if self.method.replays() && value == 0 {
                return Err(ConfigError::Replays { method: self.method, setting });
            }
        }
        if self.retrieval == Some(RetrievalKind::MemoryMatch) && !self.retrieved.is_multiple_of(2) {
            return Err(ConfigError::OddPairs(self.retrieved));
        }
        match self.ratio.map(|ratio| ratio.high.max(ratio.low)) {
            Some(picked) if picked > self.candidates => {
                Err(ConfigError::Candidates { picked, candidates: self.candidates })
            }
            _ => Ok(()),
        }
    }

    /// What the retrieval is told.
    pub fn retrieval_options(&self) -> RetrievalOptions {
        let Self { retrieved: count, ratio, candidates, shapley, .. } = *self;
        RetrievalOptions { count, ratio, candidates, shapley }
    }
}

impl OptimizerConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let &Self { lr, momentum, weight_decay, .. } = self;
        positive("lr", lr)?;
        if !(0.0..1.0).contains(&momentum) {
            return Err(ConfigError::Momentum(momentum));
        }
        not_negative("weight-decay", weight_decay)
    }
}
