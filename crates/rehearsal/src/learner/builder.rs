//! From a few words to a learner.

use std::sync::Arc;

use super::{Defaults, Learner, LearnerError, Parts};
use crate::{
    config::{LearnerConfig, PartialConfig},
    device::DeviceName,
    methods::MethodKind,
    network::BackboneKind,
    retrieval::RetrievalKind,
    sample::{ImageShape, InputShape},
};

type Change = Arc<dyn Fn(&mut LearnerConfig) + Send + Sync>;

/// Describes a learner: what is not given has its default. The most common settings have methods of
/// their own; [`LearnerBuilder::configure`] reaches all of them.
///
/// ```
/// use rehearsal::prelude::*;
///
/// # fn main() -> Result<(), LearnerError> {
/// let learner = Learner::builder()
///     .size(8)
///     .method(MethodKind::Er)
///     .backbone(BackboneKind::Tiny)
///     .configure(|config| {
///         config.optimizer.momentum = 0.9;
///         config.replay.retrieval = Some(RetrievalKind::Mir);
///     })
///     .build()?;
/// assert_eq!(learner.config().method.kind, MethodKind::Er);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LearnerBuilder {
    settings: PartialConfig,
    shape: InputShape,
    declared: Vec<String>,
    parts: Parts,
    changes: Vec<Change>,
}

impl Learner {
    /// Describes a learner of PCR with balanced retrieval for colour images of 32×32, with the other
    /// [`Defaults`] of a model, unless told otherwise.
    pub fn builder() -> LearnerBuilder {
        let shape = ImageShape { height: 32, width: 32, channels: 3 }.into();
        LearnerBuilder {
            settings: PartialConfig::default(),
            shape,
            declared: Vec::new(),
            parts: Parts::new(),
            changes: Vec::new(),
        }
    }
}

impl LearnerBuilder {
    /// Colour images of `size` × `size`.
    pub fn size(self, size: usize) -> Self {
        self.shape(ImageShape { height: size, width: size, channels: 3 })
    }

    /// Images of any height, width and number of channels.
    pub fn shape(mut self, shape: impl Into<InputShape>) -> Self {
        self.shape = shape.into();
        self
    }

    /// Seeds every draw.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = Some(seed);
        self
    }

    /// What a step minimises.
    pub fn method(mut self, method: MethodKind) -> Self {
        self.settings.method = Some(method);
        self
    }

    /// Which samples are replayed.
    pub fn retrieval(mut self, retrieval: RetrievalKind) -> Self {
        self.settings.retrieval = Some(retrieval);
        self
    }

    /// How many images the memory holds.
    pub fn memory(mut self, images: usize) -> Self {
        self.settings.memory = Some(images);
        self
    }

    /// Epochs of each task; by default they depend on the number of its images.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.settings.epochs = Some(epochs);
        self
    }

    /// The learning rate.
    pub fn lr(mut self, lr: f64) -> Self {
        self.settings.lr = Some(lr);
        self
    }

    /// The feature extractor.
    pub fn backbone(mut self, backbone: BackboneKind) -> Self {
        self.settings.backbone = Some(backbone);
        self
    }

    /// Whether training changes the head alone. Give the backbone its weights with [`Learner::load_network`].
    pub fn freeze_backbone(self, freeze: bool) -> Self {
        self.configure(move |config| config.network.freeze_backbone = freeze)
    }

    /// Channels after the first convolution.
    pub fn width(mut self, width: usize) -> Self {
        self.settings.width = Some(width);
        self
    }

    /// Threads; results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = Some(threads);
        self
    }

    /// Where it learns: results of other devices are not the same bits.
    pub fn device(mut self, device: DeviceName) -> Self {
        self.settings.device = Some(device);
        self
    }

    /// Changes any part of the configuration, when all other settings have been applied.
    pub fn configure(mut self, change: impl Fn(&mut LearnerConfig) + Send + Sync + 'static) -> Self {
        self.changes.push(Arc::new(change));
        self
    }

    /// Settings as an experiment file has them; those of the data have no effect here.
    pub fn settings(mut self, settings: &PartialConfig) -> Self {
        self.settings = self.settings.overridden_by(settings);
        self
    }

    /// Classes whose rows exist from the beginning, drawn with the rest of the network.
    pub fn classes<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        self.declared = names.iter().map(|name| name.as_ref().to_owned()).collect();
        self
    }

    /// Custom parts.
    pub fn parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// The learner, before its first step.
    ///
    /// # Errors
    /// The settings make no sense.
    pub fn build(self) -> Result<Learner, LearnerError> {
        let mut config = Defaults::complete(&self.settings).learner()?;
        self.changes.iter().for_each(|change| change(&mut config));
        config.custom = self.parts.names().clone();
        Learner::new(config, self.shape, &self.declared, self.parts)
    }
}
