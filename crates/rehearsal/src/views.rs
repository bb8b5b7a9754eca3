//! From samples to what a network sees: raw images, augmented views, or both.

use burn::tensor::{Device, Tensor};
use rayon::prelude::*;
use rehearsal_data::choice;

use crate::{
    augment::augment,
    rng::{Rng, RngStream},
    sample::{Class, Image, InputShape, Sample, to_tensor},
};

/// Which views of each sample a method trains on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Views {
    /// The image as it is.
    Raw,
    /// One augmented view. Of features: those of the photo or of its mirror image, by chance.
    Augmented,
    /// Both: all raw images, then all augmented ones. Of features: those of the photos, then those of their mirror
    /// images.
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
    pub fn apply(self, samples: &[Sample], shape: InputShape, key: AugmentationKey, device: &Device) -> ViewBatch {
        let AugmentationKey { seed, what, step, before } = key;
        let view = |(index, sample): (usize, &Sample)| {
            let rng = &mut Rng::new(seed, what, &[step, (before + index) as u64]);
            match shape {
                InputShape::Pixels(shape) => augment(&sample.image, shape, rng),
                InputShape::Features { .. } if self == Self::Both || rng.happens(0.5) => mirrored(&sample.image),
                InputShape::Features { .. } => sample.image.clone(),
            }
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

/// The features of a photo and those of its mirror image, exchanged.
fn mirrored(features: &[u8]) -> Image {
    let (photo, mirror) = features.split_at(features.len() / 2);
    [mirror, photo].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::TaskId;

    #[test]
    fn the_second_view_of_features_is_the_mirror_image() {
        let image: Image = [4096_i16, 0, 0, 4096].iter().flat_map(|value| value.to_le_bytes()).collect();
        let samples = vec![Sample { image, label: Class(1), task: TaskId(0) }; 40];
        let key = AugmentationKey { seed: 1, what: RngStream::Augmentation, step: 0, before: 0 };
        let first = |views: Views| {
            let batch = views.apply(&samples, InputShape::Features { features: 2 }, key, &Device::flex());
            let values = batch.images.into_data().try_to_vec::<f32>().unwrap();
            values.chunks(2).map(|view| view[0] > 0.0).collect::<Vec<bool>>()
        };
        assert!(first(Views::Raw).iter().all(|&photo| photo));
        let both = first(Views::Both);
        assert!(both[..40].iter().all(|&photo| photo) && both[40..].iter().all(|&photo| !photo));
        let photos = first(Views::Augmented).iter().filter(|&&photo| photo).count();
        assert!((5..35).contains(&photos), "{photos} of 40");
    }
}
