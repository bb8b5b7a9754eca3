//! How a learner learns: the settings that a saved model keeps. In files the groups are flat.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Combination, ConfigError, Insertion, PartialConfig, in_range, not_negative, positive};
use crate::{
    device::DeviceName,
    learner::{CustomNames, Defaults},
    memory::{GssOptions, Policy, PolicyKind},
    methods::{Method, MethodConfig},
    network::{BackboneKind, Kernels, Plan},
    optimizer::OptimizerConfig,
    probe::ScoreNorm,
    retrieval::{Ratio, Retrieval, RetrievalKind, RetrievalOptions},
    sample::feature_scale,
    shapley::ShapleyOptions,
};

/// How a learner learns. The default is that of [`Learner::builder`](crate::Learner::builder).
///
/// ```
/// use rehearsal::prelude::*;
///
/// let mut config = LearnerConfig::default();
/// config.optimizer.momentum = 0.9;
/// config.replay.memory = 200;
/// config.check()?;
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LearnerConfig {
    /// What a step minimises.
    #[serde(flatten)]
    pub method: MethodConfig,
    /// What is stored and what is replayed.
    #[serde(flatten)]
    pub replay: ReplayConfig,
    /// How a step moves the network.
    #[serde(flatten)]
    pub optimizer: OptimizerConfig,
    /// What learns.
    #[serde(flatten)]
    pub network: NetworkConfig,
    /// Epochs of each task; none: by the number of its images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// New samples per step.
    pub batch: usize,
    /// Seeds every draw.
    pub seed: u64,
    /// Threads; results do not depend on it. A file of a model does not say it (0).
    #[serde(default = "one", skip_serializing_if = "is_zero")]
    pub threads: usize,
    /// Where tensors live.
    pub device: DeviceName,
    /// The names of custom parts.
    #[serde(flatten)]
    pub custom: CustomNames,
}

/// The network of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NetworkConfig {
    /// The feature extractor.
    pub backbone: BackboneKind,
    /// Channels after the first convolution.
    pub width: usize,
    /// Units of a hidden layer between the features of a pre-trained backbone and the head; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: usize,
    /// Whether training changes the head alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub freeze_backbone: bool,
    /// What computes the convolutions on the processor.
    pub kernels: Kernels,
}

/// The memory of a learner and what it replays from there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReplayConfig {
    /// Which samples are replayed; none for a method without memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<RetrievalKind>,
    /// How many from the high and low end of loss change; none: as the retrieval does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Which samples stay in memory; none for a method without memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_policy: Option<PolicyKind>,
    /// How many samples the memory holds.
    pub memory: usize,
    /// Replayed samples per step.
    pub retrieved: usize,
    /// Slots that each draw of a scoring retrieval looks at.
    pub candidates: usize,
    /// What normalises scored samples.
    pub score_norm: ScoreNorm,
    /// When samples are inserted into the memory.
    #[serde(rename = "offer")]
    pub insertion: Insertion,
    /// Options of GSS.
    #[serde(flatten)]
    pub gss: GssOptions,
    /// Options of ASER.
    #[serde(flatten)]
    pub shapley: ShapleyOptions,
}

impl Default for LearnerConfig {
    fn default() -> Self {
        Defaults::complete(&PartialConfig::default()).learner().expect("the defaults go together")
    }
}

impl Default for MethodConfig {
    fn default() -> Self {
        LearnerConfig::default().method
    }
}

impl Default for ReplayConfig {
    fn default() -> Self {
        LearnerConfig::default().replay
    }
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        LearnerConfig::default().optimizer
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        LearnerConfig::default().network
    }
}

impl LearnerConfig {
    /// Whether every number is in its range and the settings go together.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (most, replay) = (1_000_000_000, &self.replay);
        in_range(&[
            ("epochs", self.epochs.unwrap_or(1), 1_000_000),
            ("batch", self.batch, most),
            ("width", self.network.width, 4096),
            ("hidden", self.network.hidden.max(1), 65_536),
            ("threads", self.threads, 1024),
            ("candidates", replay.candidates, most),
            ("gss-groups", replay.gss.groups, most),
            ("gss-group-size", replay.gss.group_size, most),
            ("shapley-neighbours", replay.shapley.neighbours, 1_000_000),
        ])?;
        // TOML has no larger numbers than i64's.
        let limits = [
            ("memory", replay.memory as u64, most as u64),
            ("retrieved", replay.retrieved as u64, most as u64),
            ("seed", self.seed, i64::MAX as u64),
        ];
        if let Some(&(setting, found, most)) = limits.iter().find(|(_, found, most)| found > most) {
            return Err(ConfigError::TooLarge { setting, most, found });
        }
        if self.network.hidden > 0 && self.network.backbone.pretrained().is_none() {
            return Err(ConfigError::Hidden(self.network.backbone));
        }
        self.device.check()?;
        self.method.check()?;
        self.optimizer.check()?;
        self.check_replay()
    }

    fn check_replay(&self) -> Result<(), ConfigError> {
        let (method, replay) = (self.method.kind, &self.replay);
        let ReplayConfig { retrieval, memory_policy: policy, retrieved, .. } = *replay;
        Combination { method, policy, retrieval }.check()?;
        for (setting, value) in [("memory", replay.memory), ("retrieved", retrieved)] {
            if method.replays() && value == 0 {
                return Err(ConfigError::Replays { method, setting });
            }
        }
        if retrieval == Some(RetrievalKind::MemoryMatch) && !retrieved.is_multiple_of(2) {
            return Err(ConfigError::OddPairs(retrieved));
        }
        let Some(ratio) = replay.ratio else { return Ok(()) };
        let Some(retrieval) = retrieval else {
            return Err(ConfigError::ReplaysNothing { method, setting: "ratio", value: ratio.to_string() });
        };
        if retrieval != RetrievalKind::Balanced && Some(ratio) != retrieval.default_ratio(retrieved) {
            return Err(ConfigError::NoRatio { retrieval, ratio });
        }
        if ratio.total() != retrieved {
            return Err(ConfigError::RatioTotal { ratio, retrieved });
        }
        match ratio.high.max(ratio.low) {
            picked if picked > replay.candidates => {
                Err(ConfigError::Candidates { picked, candidates: replay.candidates })
            }
            _ => Ok(()),
        }
    }
}

impl NetworkConfig {
    pub(crate) fn plan(&self, channels: usize) -> Plan {
        self.backbone.plan(channels, self.plan_width())
    }

    /// The width of its plan.
    pub(crate) fn plan_width(&self) -> usize {
        if self.backbone.pretrained().is_some() { self.hidden } else { self.width }
    }
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl LearnerConfig {
    /// The method, before its first step, for so many channels of an input.
    pub(crate) fn build_method(&self, channels: usize) -> Box<dyn Method> {
        // Of a pre-trained backbone features have a length of 1. The units of a random hidden layer behind it are as small.
        let is_unit = self.network.backbone.pretrained().is_some();
        self.method.build(if is_unit { feature_scale(channels) } else { 1.0 })
    }
}

/// A method without memory has neither: nothing is drawn from a memory without slots, and nothing stays there.
impl ReplayConfig {
    pub(crate) fn build_retrieval(&self) -> Arc<dyn Retrieval> {
        let Self { retrieved: count, ratio, candidates, shapley, .. } = *self;
        let options = RetrievalOptions { count, ratio, candidates, shapley };
        self.retrieval.unwrap_or(RetrievalKind::Random).build(&options)
    }

    pub(crate) fn build_policy(&self) -> Arc<dyn Policy> {
        self.memory_policy.unwrap_or(PolicyKind::Reservoir).build(self.gss, self.shapley)
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
