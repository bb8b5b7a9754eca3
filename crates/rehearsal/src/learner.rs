//! The learner: a network, a method, a memory and a retrieval, and one step of them, which is Algorithm 1 of the paper.
//!
//! One type serves the benchmark and a model that people keep. It knows its classes by name and
//! grows when new ones come, and all that it is goes into one file:
//!
//! ```
//! use rehearsal::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let grey = |value: u8| Image::from(vec![value; 8 * 8 * 3]);
//! # let (images, labels) = ([grey(10), grey(240)], ["dark", "bright"]);
//! let mut learner = Learner::builder().size(8).seed(1).backbone(BackboneKind::Tiny).build()?;
//! learner.learn_task(&images, &labels)?; // labels are names; new ones may come at any time
//! for prediction in learner.predict(&images)? {
//!     println!("{} {:.0} %", prediction.class, 100.0 * prediction.probability);
//! }
//! # let place = tempfile::tempdir()?;
//! # let path = place.path().join("shop.safetensors");
//! learner.save(&path)?;
//! let learner = Learner::load(&path)?; // stands alone: no data set, no settings needed
//! assert_eq!(learner.classes().seen(), 2);
//! # Ok(())
//! # }
//! ```

mod batches;
mod builder;
mod classes;
mod defaults;
mod error;
mod extra;
mod fit;
mod footprint;
mod parts;
mod prediction;
mod recalibration;
mod replay;
mod revised;
mod saved;

use std::sync::Arc;

use burn::tensor::{Device, Tensor};

use batches::Batches;
pub use batches::{Cursor, Samples};
pub use builder::LearnerBuilder;
pub use classes::Classes;
use classes::check_names;
pub use defaults::Defaults;
pub use error::LearnerError;
pub use extra::{Extra, ExtraArray, WithExtra};
pub use fit::{Fit, FitOptions, Labelled};
use footprint::{Use, check_input, check_memory, check_shape, parameters};
pub use footprint::{check_room, machine_memory};
pub use parts::{BuildBackbone, CustomNames, Parts};
pub use prediction::{Prediction, Probabilities};
use recalibration::Calibrated;
pub use recalibration::Recalibration;
pub use rehearsal_files::threads::on_threads;
pub use revised::Pace;
pub(crate) use saved::{Added, Loaded};

use crate::{
    clock::{Clock, Phase},
    config::{ConfigError, Insertion, LearnerConfig},
    device::{add_read_backs, count_read_backs, read, read_one},
    memory::{Memorized, Memory, Policy},
    methods::{Descent, Method},
    network::{Architecture, HeadKind, Network, Plan, State, StateError},
    optimizer::Sgd,
    probe::Candidate,
    retrieval::{Retrieval, Retrieved},
    rng::{Rng, RngStream},
    sample::{ImageShape, InputShape, Sample, TaskId},
    sample_probe::NetworkProbe,
    views::{AugmentationKey, ViewBatch},
};

/// A classifier that keeps learning. A clone learns on its own: what both share is never changed.
#[derive(Clone)]
pub struct Learner {
    config: LearnerConfig,
    shape: InputShape,
    classes: Classes,
    network: Network,
    method: Box<dyn Method>,
    retrieval: Arc<dyn Retrieval>,
    policy: Arc<dyn Policy>,
    optimizer: Sgd,
    memory: Memory,
    cursor: Cursor,
    /// The network that predicts, if it was recalibrated since the last step.
    calibrated: Option<Calibrated>,
}

/// What happened in a step.
#[non_exhaustive]
pub struct Step {
    /// The loss descended; none if the step only moved the running statistics.
    pub loss: Option<f32>,
    /// The learning rate that it was taken with.
    pub lr: f64,
    /// The new samples.
    pub incoming: Vec<Sample>,
    /// What was replayed: a list for each draw of the method.
    pub replayed: Vec<Vec<Replayed>>,
    /// Every stored sample whose change of loss was looked at, in the order of looking.
    pub candidates: Vec<Candidate>,
    /// `[n, d]`: the features of the first draw's views in the training pass, if the method
    /// has them. They begin with one row for each sample.
    pub features: Option<Tensor<2>>,
}

/// A stored sample that was replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The sample.
    pub sample: Sample,
    /// Where it was stored, and why it was chosen.
    pub retrieved: Retrieved,
}

impl Learner {
    /// A learner before its first step, for images of `shape`. A class that is declared has its row
    /// in the head from the beginning, drawn with the rest of the network; others get theirs when
    /// they appear.
    ///
    /// # Errors
    /// The config makes no sense, or names other parts than these; or this machine has not enough
    /// memory for it, or not its device.
    pub fn new<S: AsRef<str>>(
        config: LearnerConfig,
        shape: impl Into<InputShape>,
        declared: &[S],
        parts: Parts,
    ) -> Result<Self, LearnerError> {
        Self::new_to(Use::Learn, config, shape.into(), declared, parts)
    }

    fn new_to<S: AsRef<str>>(
        what: Use,
        config: LearnerConfig,
        input: InputShape,
        declared: &[S],
        parts: Parts,
    ) -> Result<Self, LearnerError> {
        config.check()?;
        let shape = input.image();
        check_input(&config, input)?;
        check_names(declared)?;
        if let Some((kind, expected, found)) = config.custom.difference(parts.names()) {
            let (expected, found) = (expected.to_owned(), found.to_owned());
            return Err(ConfigError::OtherPart { kind, expected, found }.into());
        }
        let method = parts.method.unwrap_or_else(|| config.build_method(shape.channels));
        let room = |plan: Plan| check_memory(&config, &plan, shape, declared.len(), method.draws(), what);
        if parts.backbone.is_none() {
            room(config.network.plan(shape.channels))?;
        }
        let device = training_device(&config.device.open()?);
        let mut network = new_network(&config, shape, declared.len(), &*method, parts.backbone.as_ref(), &device);
        if parts.backbone.is_some() {
            network.plan().map_or(Ok(()), room)?;
        }
        if config.network.freeze_backbone {
            network.freeze_backbone();
        }
        // A method without memory has neither: nothing is drawn from a memory without slots, and nothing stays there.
        let mut learner = Self {
            shape: input,
            classes: Classes::declared(declared),
            network,
            method,
            retrieval: parts.retrieval.unwrap_or_else(|| config.replay.build_retrieval()),
            policy: parts.policy.unwrap_or_else(|| config.replay.build_policy()),
            optimizer: Sgd::new(&config.optimizer),
            memory: Memory::new(config.replay.memory),
            cursor: Cursor::default(),
            calibrated: None,
            config,
        };
        learner.method.start(&learner.network);
        Ok(learner)
    }

    /// Learns from one batch of new samples of the current task, at the learning rate that a task begins with.
    ///
    /// # Errors
    /// An image is of another size, or of a class that has not appeared. Nothing was learned then.
    pub fn step(&mut self, incoming: &[Sample]) -> Result<Step, LearnerError> {
        self.check_samples(incoming)?;
        on_learner_threads(self.config.threads, || self.step_at(incoming, 0.0, &mut Clock::start()))
    }

    /// One step, which is Algorithm 1 of the paper, when `progress` of the task's steps (0 to 1) have been taken.
    fn step_at(&mut self, incoming: &[Sample], progress: f64, clock: &mut Clock) -> Step {
        self.calibrated = None;
        let lr = self.config.optimizer.rate(progress);
        let views = self.views(incoming, RngStream::Augmentation, 0);
        clock.mark(Phase::Data);
        let (replayed, candidates) = self.retrieve(incoming, &views, lr, &mut |phase| clock.mark(phase));
        clock.mark(Phase::Scoring);
        let batch = self.batch(views, &replayed);
        clock.mark(Phase::Data);
        let descent = self.method.descent(&mut self.network, &batch);
        if let Some(Descent { gradients, .. }) = &descent {
            self.network = self.optimizer.step(self.network.clone(), gradients, lr);
        }
        let rng = &mut self.rng(RngStream::Averaging);
        self.method.after_step(&self.network, self.cursor.steps + 1, rng);
        let loss = descent.as_ref().map(|descent| read_one(descent.loss.clone()));
        clock.mark(Phase::Training);
        let (logits, features) = descent.map_or((None, None), |descent| (descent.logits, descent.features));
        self.remember(incoming, logits);
        clock.mark(Phase::Memory);
        self.cursor.steps += 1;
        Step { loss, lr, incoming: incoming.to_vec(), replayed, candidates, features }
    }

    /// What the method trains on of these samples, of which `before` come first in this step.
    fn views(&self, samples: &[Sample], what: RngStream, before: usize) -> ViewBatch {
        let key = AugmentationKey { seed: self.config.seed, what, step: self.cursor.steps, before };
        self.config.method.views.apply(samples, self.shape, key, &self.network.device())
    }

    /// Inserts the samples of a step into the memory, unless only the first epoch's are.
    fn remember(&mut self, incoming: &[Sample], logits: Option<Tensor<2>>) {
        if self.config.replay.insertion == Insertion::FirstEpoch && self.cursor.epoch > 0 {
            return;
        }
        let rng = &mut self.rng(RngStream::Reservoir);
        self.insert(incoming, logits, rng);
    }

    fn insert(&mut self, samples: &[Sample], logits: Option<Tensor<2>>, rng: &mut Rng) {
        let samples = to_memorize(samples, logits.filter(|_| self.method.stores_logits()));
        let (network, seen, shape) = (&self.network, self.classes.seen(), self.shape);
        let probe = &mut NetworkProbe { network, seen, shape };
        self.policy.insert(&mut self.memory, samples, probe, rng);
    }

    /// Gives every class a row in all that has rows.
    fn grow(&mut self) {
        if self.classes.len() > self.network.classes() {
            self.network.grow(self.classes.len(), self.config.seed);
            self.method.grow(&self.network);
            self.optimizer.grow(&self.network);
            self.memory.grow_logits(self.classes.len());
            if let Some(calibrated) = &mut self.calibrated {
                calibrated.network.take_new_classes(&self.network);
            }
        }
    }

    /// The stream that decides `what` in the coming step.
    fn rng(&self, stream: RngStream) -> Rng {
        Rng::new(self.config.seed, stream, &[self.cursor.steps])
    }

    fn task(&self) -> TaskId {
        TaskId(u16::try_from(self.cursor.task).unwrap_or(u16::MAX))
    }

    /// An error unless every sample has this learner's size and a class that has appeared.
    fn check_samples(&self, samples: &[Sample]) -> Result<(), LearnerError> {
        self.check_images(samples.iter().map(|sample| &sample.image))?;
        let seen = self.classes.seen();
        match samples.iter().find(|sample| sample.label.index() >= seen) {
            Some(sample) => Err(LearnerError::UnknownClass { class: sample.label, seen }),
            None => Ok(()),
        }
    }

    /// How it learns.
    pub fn config(&self) -> &LearnerConfig {
        &self.config
    }

    /// Height, width and channels of what its network reads.
    pub fn shape(&self) -> ImageShape {
        self.shape.image()
    }

    /// What its samples are.
    pub fn input(&self) -> InputShape {
        self.shape
    }

    /// The classes it knows.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The classifier that learns.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether every number that it learns and predicts with is finite. A learner that has diverged
    /// can be saved, but not loaded again: see [`Learner::check_finite`].
    pub fn is_finite(&self) -> bool {
        let networks = [&self.network, self.method.predictor(&self.network), self.predictor()];
        networks.iter().all(|network| network.state().is_finite()) && self.optimizer.state(&self.network).is_finite()
    }

    /// What turns features into logits.
    pub(crate) fn head_kind(&self) -> HeadKind {
        self.method.head()
    }

    /// Replaces every parameter and running statistic of the network that learns: to begin from
    /// weights that were trained elsewhere.
    ///
    /// # Errors
    /// They are those of another network; then nothing is replaced.
    pub fn load_network(&mut self, state: &State) -> Result<(), StateError> {
        self.network.load(state)?;
        if self.network.is_frozen() {
            // A method that averages networks averages what is trained: it gets the rest here.
            self.method.start(&self.network);
        }
        self.calibrated = None;
        Ok(())
    }

    /// What it remembers, to put samples there or to take them away.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// What it remembers.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where it is in its task.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }
}

/// A new network of `classes` classes, by the config, the method and perhaps a custom backbone.
fn new_network(
    config: &LearnerConfig,
    shape: ImageShape,
    classes: usize,
    method: &dyn Method,
    backbone: Option<&BuildBackbone>,
    device: &Device,
) -> Network {
    let architecture = Architecture {
        backbone: config.network.backbone,
        width: config.network.plan_width(),
        head: method.head(),
        classes,
        input: shape,
        kernels: config.network.kernels,
        threads: config.threads,
    };
    match backbone {
        None => Network::new(&architecture, config.seed, device),
        Some(build) => {
            let build = |rng: &mut Rng| build(&architecture, rng, device);
            Network::with_backbone(build, architecture.head, classes, config.seed, device)
        }
    }
}

/// The samples of a step on their way into the memory, each with its row of logits: its last view's, if it had two.
fn to_memorize(samples: &[Sample], logits: Option<Tensor<2>>) -> Vec<Memorized> {
    let mut memorized: Vec<Memorized> = samples.iter().cloned().map(Memorized::from).collect();
    if let Some(logits) = logits {
        let [rows, classes] = logits.dims();
        let values = read(logits);
        let last = values.chunks_exact(classes).skip(rows - samples.len());
        memorized.iter_mut().zip(last).for_each(|(sample, row)| sample.logits = Some(row.into()));
    }
    memorized
}

/// Runs `work` on as many threads as the learner's config says. The result does not depend on it.
fn on_learner_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, LearnerError> {
    if rayon::current_num_threads() == threads {
        return Ok(work());
    }
    let (made, read_backs) = on_threads(threads, || count_read_backs(work))?;
    add_read_backs(read_backs);
    Ok(made)
}

/// Where training happens: the named device with automatic differentiation.
pub fn training_device(device: &Device) -> Device {
    device.clone().autodiff()
}

#[cfg(test)]
mod tests;
