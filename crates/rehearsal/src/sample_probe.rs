//! What a memory policy may ask about samples, stored or new, after a step. Nothing is computed until asked.

use burn::tensor::Tensor;

use crate::{
    device::read,
    gradients::Gradients,
    losses::cross_entropy_seen,
    network::{Network, Norm},
    sample::{Class, InputShape, Sample, to_tensor},
};

/// Images per batch of features: what is computed does not depend on it, and a draw of candidates
/// has as many and shares its workspace.
const BATCH: usize = 50;

/// Answers a policy's questions. A test answers from a table, and only what it will be asked.
pub trait SampleProbe {
    /// How many classes the network distinguishes, seen or not.
    fn classes(&self) -> usize {
        unimplemented!("this probe knows no classes")
    }

    /// The features of each raw image, in eval mode.
    fn features(&mut self, _: &[Sample]) -> Vec<Vec<f32>> {
        unimplemented!("this probe knows no features")
    }

    /// The gradient of the mean loss of all these raw images over the seen classes, with respect to
    /// every parameter, in eval mode.
    fn gradient(&mut self, _: &[Sample]) -> Gradients {
        unimplemented!("this probe knows no gradients")
    }
}

/// Answers nothing: for policies that ask nothing.
impl SampleProbe for () {}

/// Answers from a network, which asking cannot change.
#[derive(Clone, Copy)]
pub struct NetworkProbe<'a> {
    /// The network, on an autodiff device.
    pub network: &'a Network,
    /// The classes `0..seen` share the loss.
    pub seen: usize,
    /// Of every image.
    pub shape: InputShape,
}

impl SampleProbe for NetworkProbe<'_> {
    fn classes(&self) -> usize {
        self.network.classes()
    }

    fn features(&mut self, samples: &[Sample]) -> Vec<Vec<f32>> {
        let network = self.network.valid();
        let device = network.device();
        let mut rows = Vec::with_capacity(samples.len());
        for samples in samples.chunks(BATCH) {
            let images = to_tensor(samples.iter().map(|sample| &*sample.image), self.shape, &device);
            let features: Tensor<2> = network.features(images, Norm::Eval);
            let size = features.dims()[1];
            let values = read(features);
            rows.extend(values.chunks_exact(size).map(<[f32]>::to_vec));
        }
        rows
    }

    fn gradient(&mut self, samples: &[Sample]) -> Gradients {
        let images = to_tensor(samples.iter().map(|sample| &*sample.image), self.shape, &self.network.device());
        let labels: Vec<Class> = samples.iter().map(|sample| sample.label).collect();
        let loss = cross_entropy_seen(self.network.logits(images, Norm::Eval), &labels, self.seen).mean();
        Gradients::from_loss(&loss, self.network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{methods::testing::network, sample::TaskId};

    const SHAPE: rehearsal_data::ImageShape = rehearsal_data::ImageShape { height: 8, width: 8, channels: 1 };

    fn samples(labels: &[u16]) -> Vec<Sample> {
        let image = |label: &u16| (0..64).map(|i: usize| ((i * (usize::from(*label) + 3)) % 256) as u8).collect();
        labels.iter().map(|label| Sample { image: image(label), label: Class(*label), task: TaskId(0) }).collect()
    }

    #[test]
    fn features_of_an_image_do_not_depend_on_those_beside_it() {
        let network = network(4);
        let mut probe = NetworkProbe { network: &network, seen: 4, shape: SHAPE.into() };
        let together = probe.features(&samples(&[0, 1, 2]));
        assert_eq!(together[1], probe.features(&samples(&[1]))[0]);
        assert_ne!(together[0], together[1]);
        assert_eq!(probe.features(&samples(&[3; 120])).len(), 120, "more than a batch");
    }

    #[test]
    fn gradients_are_those_of_the_mean_loss_over_seen_classes_in_eval_mode() {
        let network = network(4);
        let samples = samples(&[0, 1]);
        let found = NetworkProbe { network: &network, seen: 2, shape: SHAPE.into() }.gradient(&samples);
        let images = to_tensor(samples.iter().map(|sample| &*sample.image), SHAPE, &network.device());
        let expected = |norm, seen| {
            let logits = network.logits(images.clone(), norm);
            Gradients::from_loss(&cross_entropy_seen(logits, &[Class(0), Class(1)], seen).mean(), &network)
        };
        let distance = |other: &Gradients| found.dot(&found) - 2.0 * found.dot(other) + other.dot(other);
        assert!(distance(&expected(Norm::Eval, 2)) < 1e-9 * found.dot(&found));
        assert!(distance(&expected(Norm::Batch, 2)) > 1e-3 * found.dot(&found));
        assert!(distance(&expected(Norm::Eval, 4)) > 1e-3 * found.dot(&found));
    }
}
