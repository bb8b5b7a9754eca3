//! Methods: what a step minimises.

mod a_gem;
mod closed_form;
mod cls_er;
mod der_pp;
mod er;
mod er_ace;
mod fine_tune;
mod pcr;

use burn::tensor::Tensor;
use dyn_clone::DynClone;
use serde::{Deserialize, Serialize};

pub use a_gem::AGem;
pub use closed_form::{ClosedForm, Solver};
pub use cls_er::{ClsEr, ClsErOptions};
pub use der_pp::{DerPp, DerPpOptions};
pub use er::{Er, Reduction};
pub use er_ace::{AceHead, ErAce, ErAceOptions};
pub use fine_tune::FineTune;
pub use pcr::Pcr;

use rehearsal_data::{choice, choice::About};

use crate::{
    config::{ConfigError, not_negative, positive, share},
    gradients::Gradients,
    losses::Denominator,
    memory::PolicyKind,
    network::{HeadKind, Network, State, StateError},
    retrieval::RetrievalKind,
    rng::Rng,
    sample::TaskId,
    views::{ViewBatch, Views},
};

/// What a step trains on.
#[derive(Clone, Debug)]
pub struct StepBatch {
    /// The new samples.
    pub incoming: ViewBatch,
    /// The replayed ones: as many draws as the method asked for, none while there is nothing to replay.
    pub draws: Vec<Draw>,
    /// The task that is being learned.
    pub task: TaskId,
    /// Classes seen so far: `0..seen`.
    pub seen: usize,
}

impl StepBatch {
    /// The samples of the first draw.
    pub fn retrieved(&self) -> Option<&ViewBatch> {
        self.draws.first().map(|draw| &draw.views)
    }
}

/// Samples that one retrieval chose.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The samples.
    pub views: ViewBatch,
    /// `[n, K]`: the logits that were stored with them, if the method keeps them; NaN for a
    /// class that was not known then.
    pub logits: Option<Tensor<2>>,
}

/// What a method's passes gave, before anything moves.
pub struct Objective {
    /// The loss to descend, `[1]`; none if the step only moves the running statistics.
    pub loss: Option<Tensor<1>>,
    /// `[n, K]`: the logits of the incoming views, if the method keeps them.
    pub logits: Option<Tensor<2>>,
    /// `[n, d]`: the features of the first draw's views, if the method has them at hand.
    pub features: Option<Tensor<2>>,
}

impl From<Tensor<1>> for Objective {
    fn from(loss: Tensor<1>) -> Self {
        Self { loss: Some(loss), logits: None, features: None }
    }
}

/// Where a step goes, and what was seen on the way.
pub struct Descent {
    /// The loss, `[1]`, for the log. It stays on the device until the step has been taken: reading it
    /// makes the host wait for all that is asked before.
    pub loss: Tensor<1>,
    /// The direction.
    pub gradients: Gradients,
    /// `[n, K]`: see [`Objective::logits`].
    pub logits: Option<Tensor<2>>,
    /// `[n, d]`: see [`Objective::features`].
    pub features: Option<Tensor<2>>,
}

/// A way of learning from new and replayed samples. Only [`Method::objective`] must be written; the
/// rest is for methods that bend the gradient, keep more than one network, or store more than
/// images.
pub trait Method: DynClone + Send + Sync {
    /// The loss, from training-mode passes through `network`.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective;

    /// Where to go: along the gradient of the loss, unless the method knows better. None if the
    /// step only moves the running statistics.
    fn descent(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Descent> {
        let Objective { loss, logits, features } = self.objective(network, batch);
        let loss = loss?;
        let gradients = Gradients::from_loss(&loss, network);
        Some(Descent { loss: loss.without_autodiff(), gradients, logits, features })
    }

    /// The head that it trains.
    fn head(&self) -> HeadKind {
        HeadKind::Linear
    }

    /// Called once, before the first step, with the network that will learn.
    fn start(&mut self, network: &Network) {
        let _ = network;
    }

    /// Called when the head of `network` has got new rows.
    fn grow(&mut self, network: &Network) {
        let _ = network;
    }

    /// Called when the network has moved; `steps` have been taken, this one included.
    fn after_step(&mut self, network: &Network, steps: u64, rng: &mut Rng) {
        let _ = (network, steps, rng);
    }

    /// Called when all steps of a task have been taken.
    fn end_task(&mut self) {}

    /// The network that predicts.
    fn predictor<'a>(&'a self, network: &'a Network) -> &'a Network {
        network
    }

    /// Under what name [`Method::state`] has the network that predicts, such as `stable.`; none
    /// if that is the one that learns.
    fn predictor_prefix(&self) -> Option<&'static str> {
        None
    }

    /// Whether it replays while `task` is learned.
    fn replays_in(&self, task: TaskId) -> bool {
        let _ = task;
        true
    }

    /// How many independent draws it replays in a step.
    fn draws(&self) -> usize {
        1
    }

    /// Whether [`Descent::logits`] are stored with the samples of a step.
    fn stores_logits(&self) -> bool {
        false
    }

    /// All that it remembers from step to step, by name.
    fn state(&self) -> State {
        State::default()
    }

    /// Remembers what [`Method::state`] gave.
    ///
    /// # Errors
    /// The state is that of another method or network.
    fn load(&mut self, state: &State) -> Result<(), StateError> {
        let _ = state;
        Ok(())
    }
}

dyn_clone::clone_trait_object!(Method);

/// The methods a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodKind {
    /// No memory: what forgetting looks like.
    FineTune,
    /// All tasks at once: what could be reached.
    Joint,
    /// Experience replay: cross-entropy on new and replayed samples.
    Er,
    /// Averaged gradient episodic memory: no step against the memory's gradient.
    AGem,
    /// Dark experience replay: replayed samples keep the logits they once had.
    DerPp,
    /// Experience replay with the memory and the retrieval of ASER, unless others are named.
    Aser,
    /// Experience replay with asymmetric cross-entropy: new samples do not push old classes away.
    ErAce,
    /// Complementary learning systems: two slowly averaged networks teach the working one.
    ClsEr,
    /// Proxy-based contrastive replay.
    Pcr,
    /// One Gaussian per class with a shared covariance, computed from sums: the head of `rehearsal learn`.
    Gaussian,
    /// The nearest class mean.
    Ncm,
    /// Ridge regression.
    Ridge,
}
choice!(
    MethodKind,
    "method",
    FineTune = "fine-tune",
    Joint = "joint",
    Er = "er",
    AGem = "a-gem",
    DerPp = "der-pp",
    Aser = "aser",
    ErAce = "er-ace",
    ClsEr = "cls-er",
    Pcr = "pcr",
    Gaussian = "gaussian",
    Ncm = "ncm",
    Ridge = "ridge",
);

/// What a step minimises, on which views, with the options of every method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodConfig {
    /// The method.
    #[serde(rename = "method")]
    pub kind: MethodKind,
    /// The views that are trained on.
    pub views: Views,
    /// PCR: τ.
    pub temperature: f64,
    /// PCR: over which proxies its denominator runs.
    pub denominator: Denominator,
    /// PCR, ER and ASER: how the losses of new and replayed samples are joined.
    pub reduction: Reduction,
    /// Ridge regression: the penalty, relative to the features' mean square.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// DER++.
    #[serde(flatten)]
    pub der_pp: DerPpOptions,
    /// ER-ACE.
    #[serde(flatten)]
    pub er_ace: ErAceOptions,
    /// CLS-ER.
    #[serde(flatten)]
    pub cls_er: ClsErOptions,
}

impl MethodConfig {
    /// Whether every number is in its range.
    ///
    /// # Errors
    /// One is not; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { kind, temperature, der_pp, er_ace, cls_er, .. } = self;
        if !kind.chooses_head() && er_ace.head != AceHead::Linear {
            return Err(ConfigError::Head(*kind));
        }
        positive("temperature", *temperature)?;
        if let Some(ridge) = self.ridge {
            positive("ridge", ridge)?;
        }
        not_negative("der-alpha", der_pp.alpha)?;
        not_negative("der-beta", der_pp.beta)?;
        not_negative("consistency", cls_er.consistency)?;
        share("stable-frequency", cls_er.stable_frequency)?;
        share("stable-alpha", cls_er.stable_alpha)?;
        share("plastic-frequency", cls_er.plastic_frequency)?;
        share("plastic-alpha", cls_er.plastic_alpha)
    }

    /// The method, before its first step. `scale` times the network's features have coordinates of about 1.
    pub fn build(&self, scale: f32) -> Box<dyn Method> {
        let &Self { temperature, denominator, reduction, der_pp, er_ace, cls_er, .. } = self;
        match self.kind {
            MethodKind::FineTune | MethodKind::Joint => Box::new(FineTune),
            MethodKind::Er | MethodKind::Aser => Box::new(Er { reduction }),
            MethodKind::AGem => Box::new(AGem),
            MethodKind::DerPp => Box::new(DerPp(der_pp)),
            MethodKind::ErAce => Box::new(ErAce(er_ace)),
            MethodKind::ClsEr => Box::new(ClsEr::new(cls_er)),
            MethodKind::Pcr => Box::new(Pcr { temperature, denominator, reduction }),
            MethodKind::Gaussian => Box::new(ClosedForm::new(Solver::Gaussian, scale)),
            MethodKind::Ncm => Box::new(ClosedForm::new(Solver::NearestMean, scale)),
            MethodKind::Ridge => Box::new(ClosedForm::new(Solver::Ridge(self.ridge.unwrap_or(RIDGE)), scale)),
        }
    }
}

/// The penalty of ridge regression, if none is given.
pub(crate) const RIDGE: f64 = 0.01;

impl MethodKind {
    /// The views it trains on unless the user says otherwise.
    pub fn default_views(self) -> Views {
        match self {
            Self::Pcr => Views::Both,
            _ if self.is_closed_form() => Views::Raw,
            _ => Views::Augmented,
        }
    }

    /// Whether it is computed from sums, in one epoch, instead of step by step.
    pub fn is_closed_form(self) -> bool {
        matches!(self, Self::Gaussian | Self::Ncm | Self::Ridge)
    }

    /// The retrieval it uses unless the user names another.
    pub fn default_retrieval(self) -> RetrievalKind {
        if self == Self::Aser { RetrievalKind::Aser } else { RetrievalKind::Balanced }
    }

    /// The memory policy it uses unless the user names another.
    pub fn default_policy(self) -> PolicyKind {
        if self == Self::Aser { PolicyKind::Aser } else { PolicyKind::Reservoir }
    }

    /// Whether it learns all tasks at once, as one.
    pub fn learns_jointly(self) -> bool {
        self == Self::Joint
    }

    /// Whether the user may choose its head.
    pub fn chooses_head(self) -> bool {
        self == Self::ErAce
    }

    /// Whether it has a memory to replay from.
    pub fn replays(self) -> bool {
        !matches!(self, Self::FineTune | Self::Joint) && !self.is_closed_form()
    }

    /// What it does and costs.
    pub fn about(self) -> About {
        let (does, costs) = match self {
            Self::FineTune => ("no memory: what forgetting looks like", ""),
            Self::Joint => ("all tasks at once: what could be reached", "keeps all data"),
            Self::Er => ("cross-entropy on new and replayed samples", ""),
            Self::AGem => ("no step against the gradient of replayed samples", "two gradients a step"),
            Self::DerPp => ("replayed samples keep the logits they once had", "two draws a step; stores logits"),
            Self::Aser => ("er, with memory policy and retrieval aser unless named", ""),
            Self::ErAce => ("new samples do not push old classes away", ""),
            Self::ClsEr => ("two slowly averaged networks teach the working one", "three networks"),
            Self::Gaussian => ("a Gaussian per class, from sums: what `learn` uses", "one epoch, no memory"),
            Self::Ncm => ("the nearest class mean", "one epoch, no memory"),
            Self::Ridge => ("ridge regression", "one epoch, no memory"),
            Self::Pcr => ("contrasts samples with one proxy per class", "two views of every sample"),
        };
        About { does, costs }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::{
        learner::training_device,
        network::{Architecture, BackboneKind, Kernels},
        rng::RngStream,
        sample::{Class, ImageShape},
    };
    use burn::tensor::{Device, TensorData};

    const INPUT: ImageShape = ImageShape { height: 8, width: 8, channels: 1 };

    /// A small network of `classes` classes.
    pub fn network(classes: usize) -> Network {
        let (backbone, head, kernels) = (BackboneKind::Tiny, HeadKind::Linear, Kernels::Composed);
        let architecture = Architecture { backbone, width: 4, head, classes, input: INPUT, kernels, threads: 1 };
        Network::new(&architecture, 0, &training_device(&Device::flex()))
    }

    /// Noise with these labels.
    pub fn views(labels: &[u16], seed: u64, network: &Network) -> ViewBatch {
        let mut rng = Rng::new(seed, RngStream::Split, &[]);
        let values: Vec<f32> = (0..labels.len() * INPUT.bytes()).map(|_| rng.unit() as f32).collect();
        let images = Tensor::from_data(TensorData::new(values, [labels.len(), 8, 8, 1]), &network.device());
        ViewBatch { images, labels: labels.iter().copied().map(Class).collect() }
    }

    /// Rows of logits, differentiable.
    pub fn rows<const K: usize>(rows: &[[f32; K]]) -> Tensor<2> {
        let device = training_device(&Device::flex());
        Tensor::<2>::from_data(TensorData::new(rows.concat(), [rows.len(), K]), &device).require_grad()
    }

    /// The values of a tensor.
    pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    /// Equal to within `1e-6`.
    pub fn close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
    }
}
