//! From a few words to a learner.

use super::{Defaults, Learner, LearnerError, Parts};
use crate::{
    config::PartialConfig, device::DeviceName, methods::MethodKind, network::BackboneKind, retrieval::RetrievalKind,
    sample::ImageShape,
};

/// Describes a learner: what is not given has its default.
#[derive(Clone)]
pub struct LearnerBuilder {
    settings: PartialConfig,
    shape: ImageShape,
    declared: Vec<String>,
    parts: Parts,
    freeze_backbone: bool,
}

impl Learner {
    /// Describes a learner of PCR with balanced retrieval for colour images of 32×32, with the other
    /// [`Defaults`] of a model, unless told otherwise.
    pub fn builder() -> LearnerBuilder {
        let shape = ImageShape { height: 32, width: 32, channels: 3 };
        LearnerBuilder {
            settings: PartialConfig::default(),
            shape,
            declared: Vec::new(),
            parts: Parts::new(),
            freeze_backbone: false,
        }
    }
}

impl LearnerBuilder {
    /// Colour images of `size` × `size`.
    pub fn size(self, size: usize) -> Self {
        self.shape(ImageShape { height: size, width: size, channels: 3 })
    }

    /// Images of any height, width and number of channels.
    pub fn shape(mut self, shape: ImageShape) -> Self {
        self.shape = shape;
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

    /// Who is replayed.
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

    /// Whether training changes the head alone. Give the backbone its weights with
    /// [`Learner::load_network`].
    pub fn freeze_backbone(mut self, freeze: bool) -> Self {
        self.freeze_backbone = freeze;
        self
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

    /// Any settings, by the names of an experiment file; those of the data have no effect here.
    pub fn settings(mut self, settings: &PartialConfig) -> Self {
        self.settings = self.settings.overridden_by(settings);
        self
    }

    /// Classes whose rows exist from the beginning, drawn with the rest of the network.
    pub fn classes<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        self.declared = names.iter().map(|name| name.as_ref().to_owned()).collect();
        self
    }

    /// Parts of your own.
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
        config.custom = self.parts.names().clone();
        config.freeze_backbone = self.freeze_backbone;
        Learner::new(config, self.shape, &self.declared, self.parts)
    }
}
