//! The change of loss to first order at the last layer: −lr·⟨∇L, ∇ℓ(x)⟩ over the head's parameters
//! alone, where L is the mean loss of the incoming batch. Both gradients follow from features, so one
//! pass of each is all that it takes: no backward pass, and no network after the virtual step.

use burn::tensor::Tensor;

use crate::{
    losses::{cross_entropy, cross_entropy_seen, errors_seen},
    network::{Head, HeadGradient},
    sample::Class,
};

/// The head, and where the coming update would move it.
#[derive(Debug)]
pub struct LastLayer {
    head: Head,
    gradient: HeadGradient,
    seen: usize,
    lr: f64,
}

impl LastLayer {
    /// One plain step of `head` on the mean loss, over the classes `0..seen`, of the incoming batch,
    /// whose features `[n, d]` these are. All of it is without autodiff.
    pub fn new(head: Head, features: Tensor<2>, labels: &[Class], seen: usize, lr: f64) -> Self {
        let errors = errors_seen(head.logits(features.clone()), labels, seen) / labels.len() as f64;
        let gradient = head.gradient(features, errors);
        Self { head, gradient, seen, lr }
    }

    /// How the loss of each sample changes when the head alone takes the step, from its features
    /// `[n, d]`: `[n]`, not yet read back.
    pub fn exact_loss_change(&self, features: Tensor<2>, labels: &[Class]) -> Tensor<1> {
        let now = cross_entropy_seen(self.head.logits(features.clone()), labels, self.seen);
        let ahead = cross_entropy(self.head.logits_after(features, &self.gradient, self.lr), labels);
        ahead - now
    }

    /// How the loss of each sample changes, to first order, from its features `[n, d]`: `[n]`, not yet
    /// read back.
    pub fn loss_change(&self, features: Tensor<2>, labels: &[Class]) -> Tensor<1> {
        let errors = errors_seen(self.head.logits(features.clone()), labels, self.seen);
        let slopes = self.head.slopes(features, &self.gradient);
        ((errors * slopes).sum_dim(1) * -self.lr).reshape([labels.len()])
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::{
        device::read,
        learner::training_device,
        network::{Architecture, BackboneKind, HeadKind, Kernels, Network, Norm},
        probe::LookAhead,
        rng::{Rng, RngStream},
        sample::ImageShape,
        views::Anchors,
    };

    const SEEN: usize = 3;

    /// Without a backbone, the head is all that is trained: the exact change of loss is the head's.
    fn network(head: HeadKind) -> Network {
        let input = ImageShape { height: 2, width: 3, channels: 1 };
        let (backbone, kernels) = (BackboneKind::Pixels, Kernels::Composed);
        let architecture = Architecture { backbone, width: 0, head, classes: 4, input, kernels, threads: 1 };
        Network::new(&architecture, 0, &training_device(&Device::flex()))
    }

    fn images(count: usize, seed: u64, device: &Device) -> Tensor<4> {
        let mut rng = Rng::new(seed, RngStream::Split, &[]);
        let values: Vec<f32> = (0..count * 6).map(|_| rng.unit() as f32).collect();
        Tensor::from_data(TensorData::new(values, [count, 2, 3, 1]), device)
    }

    /// Its error falls with lr: the exact change is lr·(first order + O(lr)).
    #[test]
    fn the_exact_change_of_loss_where_only_the_head_is_trained_and_the_step_is_small() {
        for head in [HeadKind::Linear, HeadKind::Proxies { temperature: 0.09 }] {
            let network = network(head);
            let labels = [0, 2, 1, 2, 0].map(Class);
            let incoming = Anchors { images: images(5, 1, &network.device()), labels: labels.to_vec() };
            let (others, theirs) = (images(4, 2, &Device::flex()), [1, 0, 2, 1].map(Class));
            // How far off, as a share of the largest change: to first order, and the head's step itself.
            let off = |lr: f64| {
                let ahead = LookAhead::new(&network, &incoming, SEEN, lr);
                let exact = read(ahead.loss_change(&others, &theirs, Norm::Batch));
                let valid = network.valid();
                let features = |images: Tensor<4>| valid.features(images, Norm::Batch);
                let batch = features(incoming.images.clone().without_autodiff());
                let last = LastLayer::new(valid.head().clone(), batch, &labels, SEEN, lr);
                let found = read(last.loss_change(features(others.clone()), &theirs));
                let stepped = read(last.exact_loss_change(features(others.clone()), &theirs));
                let largest = exact.iter().fold(0.0f32, |most, change| most.max(change.abs()));
                let off = |found: &[f32]| {
                    found.iter().zip(&exact).fold(0.0f32, |most, (a, b)| most.max((a - b).abs())) / largest
                };
                assert!(off(&stepped) < 1e-3 + 1e-5 / largest, "{head:?}: {}", off(&stepped));
                off(&found)
            };
            off(0.5);
            let (coarse, fine) = (off(0.01), off(0.001));
            assert!(fine < 0.02, "{head:?}: {fine}");
            assert!(fine < coarse / 4.0, "{head:?}: {coarse} at lr 0.01, {fine} at 0.001");
        }
    }
}
