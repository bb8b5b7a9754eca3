//! Asking a learner what it sees. Nothing of it changes, so that many threads may ask while a clone learns.

use std::{collections::BTreeSet, sync::Arc};

use burn::tensor::Tensor;

use super::{Learner, LearnerError, on_learner_threads};
use crate::{
    device::read,
    network::Norm,
    sample::{Class, Image, Sample, to_tensor},
};

/// Images per batch. The result does not depend on it; as many as a draw of candidates share its workspace.
const BATCH: usize = 50;

/// Batches whose logits come to the host together: on a GPU it waits once for all of them.
const READ_TOGETHER: usize = 20;

/// What a learner sees in an image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The most likely class.
    pub class: Arc<str>,
    /// How likely it is, by a softmax over the classes that have appeared and are not retired.
    pub probability: f32,
    /// The other classes, the most likely first.
    pub others: Vec<(Arc<str>, f32)>,
}

/// The probability of every class for every image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Probabilities {
    /// The classes: those that have appeared and are not retired.
    pub classes: Vec<Arc<str>>,
    /// `[images, classes]`, row by row. Each row sums to 1.
    pub values: Vec<f32>,
}

impl Probabilities {
    /// The probabilities of each image, in the order of `classes`.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.classes.len())
    }
}

impl Learner {
    /// The classes of each image, the most likely first.
    ///
    /// # Errors
    /// An image is of another size, or nothing has been learned yet.
    pub fn predict(&self, images: &[Image]) -> Result<Vec<Prediction>, LearnerError> {
        self.predict_top_k(images, usize::MAX)
    }

    /// The `k` most likely classes of each image: at least one.
    ///
    /// # Errors
    /// As [`Learner::predict`].
    pub fn predict_top_k(&self, images: &[Image], k: usize) -> Result<Vec<Prediction>, LearnerError> {
        let rows = self.logits_to_predict(images)?;
        Ok(rows.iter().map(|logits| self.prediction(logits, k)).collect())
    }

    /// The probability of every class, for each image: a softmax over its logits.
    ///
    /// ```
    /// use rehearsal::prelude::*;
    ///
    /// # fn main() -> Result<(), LearnerError> {
    /// # let images = [10, 240].map(|grey| Image::from(vec![grey; 8 * 8 * 3]));
    /// let mut learner = Learner::builder().size(8).backbone(BackboneKind::Tiny).build()?;
    /// learner.learn_task(&images, &["dark", "bright"])?;
    /// let found = learner.predict_probabilities(&images)?;
    /// assert_eq!((found.classes.len(), found.values.len()), (2, 4));
    /// assert!(found.rows().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Learner::predict`].
    pub fn predict_probabilities(&self, images: &[Image]) -> Result<Probabilities, LearnerError> {
        let active: Vec<usize> = self.classes.active().map(Class::index).collect();
        let of_active = |logits: &Vec<f32>| {
            let shares = softmax(logits);
            active.iter().map(|&class| shares[class]).collect::<Vec<f32>>()
        };
        let values = self.logits_to_predict(images)?.iter().flat_map(of_active).collect();
        let classes = active.iter().map(|&class| Arc::clone(&self.classes.names()[class])).collect();
        Ok(Probabilities { classes, values })
    }

    fn logits_to_predict(&self, images: &[Image]) -> Result<Vec<Vec<f32>>, LearnerError> {
        self.check_images(images.iter())?;
        if self.classes.active().next().is_none() {
            return Err(LearnerError::NoClasses);
        }
        self.logits(&images.iter().collect::<Vec<_>>())
    }

    /// The most likely of the classes that can be predicted, for each sample; the lowest of equals.
    ///
    /// # Errors
    /// An image is of another size.
    pub fn classify(&self, samples: &[Sample]) -> Result<Vec<Class>, LearnerError> {
        Ok(self.logits_of(samples)?.iter().map(|logits| Class(highest(logits) as u16)).collect())
    }

    /// For each sample the most likely of all classes, as [`Learner::classify`], and the most likely of some.
    ///
    /// # Errors
    /// An image is of another size.
    pub(crate) fn classify_among(
        &self,
        samples: &[Sample],
        some: &BTreeSet<Class>,
    ) -> Result<Vec<(Class, Option<Class>)>, LearnerError> {
        let best = |logits: &Vec<f32>| {
            let of_some: Vec<(Class, f32)> =
                some.iter().filter_map(|class| Some((*class, *logits.get(class.index())?))).collect();
            let among = of_some.iter().map(|&(_, logit)| logit).collect::<Vec<_>>();
            (Class(highest(logits) as u16), of_some.get(highest(&among)).map(|&(class, _)| class))
        };
        Ok(self.logits_of(samples)?.iter().map(best).collect())
    }

    fn logits_of(&self, samples: &[Sample]) -> Result<Vec<Vec<f32>>, LearnerError> {
        let images = samples.iter().map(|sample| &sample.image);
        self.check_images(images.clone())?;
        self.logits(&images.collect::<Vec<_>>())
    }

    /// The logits of the classes that have appeared, a row for each image; −∞ for a retired class.
    fn logits(&self, images: &[&Image]) -> Result<Vec<Vec<f32>>, LearnerError> {
        on_learner_threads(self.config.threads, || self.logits_here(images))
    }

    fn logits_here(&self, images: &[&Image]) -> Vec<Vec<f32>> {
        let network = self.predictor().valid();
        let device = network.device();
        let mut rows = Vec::with_capacity(images.len());
        let pass = |images: &[&Image]| {
            let images: Tensor<4> = to_tensor(images.iter().map(|image| &***image), self.shape, &device);
            network.logits(images, Norm::Eval)
        };
        for images in images.chunks(BATCH * READ_TOGETHER) {
            let values = read(Tensor::cat(images.chunks(BATCH).map(pass).collect(), 0));
            let seen = |row: &[f32]| {
                let mut row = row[..self.classes.seen()].to_vec();
                self.classes.retired().for_each(|class| row[class.index()] = f32::NEG_INFINITY);
                row
            };
            rows.extend(values.chunks_exact(self.classes.len()).map(seen));
        }
        rows
    }

    fn prediction(&self, logits: &[f32], k: usize) -> Prediction {
        let mut order: Vec<usize> = self.classes.active().map(Class::index).collect();
        order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
        let probabilities = softmax(logits);
        let mut ranked =
            order.into_iter().map(|class| (Arc::clone(&self.classes.names()[class]), probabilities[class]));
        let (class, probability) = ranked.next().expect("a class has appeared");
        Prediction { class, probability, others: ranked.take(k.saturating_sub(1)).collect() }
    }

    pub(super) fn check_images<'a>(&self, images: impl Iterator<Item = &'a Image>) -> Result<(), LearnerError> {
        let shape = self.shape;
        match images.enumerate().find(|(_, image)| image.len() != shape.bytes()) {
            Some((index, image)) => {
                let (expected, shape) = (shape.bytes(), shape.image());
                Err(LearnerError::ImageSize { index, found: image.len(), expected, shape })
            }
            None => Ok(()),
        }
    }
}

/// exp(x) of each, as shares of their sum.
fn softmax(logits: &[f32]) -> Vec<f32> {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shares: Vec<f64> = logits.iter().map(|logit| libm::exp(f64::from(logit - highest))).collect();
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| (share / total) as f32).collect()
}

/// Index of the highest logit, the first of equals.
fn highest(logits: &[f32]) -> usize {
    let mut best = 0;
    for (index, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_softmax_is_that_of_its_definition_and_does_not_overflow() {
        let found = softmax(&[1.0, 2.0, 3.0]);
        let expected = [0.090_030_57, 0.244_728_47, 0.665_240_96];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        assert_eq!(softmax(&[1e30, 1e30, -1e30]), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_first_of_equals_is_predicted() {
        assert_eq!(highest(&[0.0, 2.0, 2.0, 1.0]), 1);
        assert_eq!(highest(&[f32::NAN]), 0);
    }
}
