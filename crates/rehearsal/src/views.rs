//! From samples to what a network sees: raw images, augmented views, or both.

use burn::tensor::{Device, Tensor};
use rayon::prelude::*;
use rehearsal_data::choice;

use crate::{
    augment::augment,
    rng::{Rng, RngStream},
    sample::{Class, Image, ImageShape, Sample, to_tensor},
};

/// Which views of each sample a method trains on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Views {
    /// The image as it is.
    Raw,
    /// One augmented view.
    Augmented,
    /// Both: all raw images, then all augmented ones.
    Both,
}
choice!(Views, "kind of views", Raw = "raw", Augmented = "augmented", Both = "both");

/// Labelled views in a batch.
#[derive(Clone, Debug)]
pub struct ViewBatch {
    /// `[n, h, w, c]`.
    pub images: Tensor<4>,
    /// `n` labels.
    pub labels: Vec<Class>,
}

/// What decides the random part of views.
#[derive(Clone, Copy, Debug)]
pub struct AugmentationKey {
    /// The experiment's seed.
    pub seed: u64,
    /// New or replayed samples.
    pub what: RngStream,
    /// The step.
    pub step: u64,
    /// How many samples of the step came before these.
    pub before: usize,
}

impl Views {
    /// The views of `samples`.
    pub fn apply(self, samples: &[Sample], shape: ImageShape, key: AugmentationKey, device: &Device) -> ViewBatch {
        let AugmentationKey { seed, what, step, before } = key;
        let view = |(index, sample): (usize, &Sample)| {
            augment(&sample.image, shape, &mut Rng::new(seed, what, &[step, (before + index) as u64]))
        };
        let raw = samples.iter().map(|sample| sample.image.clone());
        let images: Vec<Image> = match self {
            Self::Raw => raw.collect(),
            Self::Augmented => samples.par_iter().enumerate().map(view).collect(),
            Self::Both => raw.chain(samples.par_iter().enumerate().map(view).collect::<Vec<_>>()).collect(),
        };
        let labels = samples.iter().map(|sample| sample.label).cycle().take(images.len()).collect();
        ViewBatch { images: to_tensor(images.iter().map(|image| &**image), shape, device), labels }
    }
}
