//! The virtual step: the network as it is and as the coming update would leave it.

use burn::tensor::Tensor;

use crate::{
    device::read_one,
    gradients::Gradients,
    losses::cross_entropy_seen,
    network::{Network, Norm},
    sample::Class,
    views::ViewBatch,
};

/// The network before and after the virtual step, without gradients.
pub struct LookAhead {
    now: Network,
    ahead: Network,
    seen: usize,
    loss: Tensor<1>,
}

impl LookAhead {
    /// One plain step on the mean loss of the incoming batch over the classes `0..seen`, in batch
    /// mode: nothing of `network` moves.
    pub fn new(network: &Network, incoming: &ViewBatch, seen: usize, lr: f64) -> Self {
        let logits = network.logits(incoming.images.clone(), Norm::Batch);
        let loss = cross_entropy_seen(logits, &incoming.labels, seen).mean();
        let gradients = Gradients::from_loss(&loss, network);
        let now = network.valid();
        let ahead = now.clone().plain_step(&gradients, lr);
        Self { now, ahead, seen, loss: loss.without_autodiff() }
    }

    /// Mean loss of the incoming batch, before the step.
    pub fn loss(&self) -> f32 {
        read_one(self.loss.clone())
    }

    /// How the loss of each image `[n, h, w, c]` changes, all in one pass: `[n]`, not yet read back.
    pub fn loss_change(&self, images: &Tensor<4>, labels: &[Class], norm: Norm) -> Tensor<1> {
        let loss = |network: &Network| cross_entropy_seen(network.logits(images.clone(), norm), labels, self.seen);
        loss(&self.ahead) - loss(&self.now)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::{
        device::read,
        learner::training_device,
        network::{Architecture, Array, BackboneKind, HeadKind, Kernels},
        sample::ImageShape,
    };

    /// The linear softmax model of V2: two pixels, three classes.
    fn v2_network() -> Network {
        let input = ImageShape { height: 1, width: 2, channels: 1 };
        let architecture = Architecture {
            backbone: BackboneKind::Pixels,
            width: 0,
            head: HeadKind::Linear,
            classes: 3,
            input,
            kernels: Kernels::Winograd,
            threads: 2,
        };
        let mut network = Network::new(&architecture, 0, &training_device(&Device::flex()));
        let mut state = network.state();
        let array = |shape: &[usize], values: &[f32]| Array { shape: shape.to_vec(), values: values.to_vec() };
        state.0.insert("head.weight".into(), array(&[3, 2], &[0.5, -0.2, 0.1, 0.3, -0.4, 0.2]));
        state.0.insert("head.bias".into(), array(&[3], &[0.0, 0.1, -0.1]));
        network.load(&state).unwrap();
        network
    }

    fn points(points: &[[f32; 2]], device: &Device) -> Tensor<4> {
        Tensor::from_data(TensorData::new(points.concat(), [points.len(), 1, 2, 1]), device)
    }

    fn close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn v2_gradients_and_scores() {
        let network = v2_network();
        let incoming = ViewBatch {
            images: points(&[[1.0, 0.0], [0.5, 1.0]], &network.device()),
            labels: vec![Class(2), Class(1)],
        };
        let before = network.state();
        let look_ahead = LookAhead::new(&network, &incoming, 3, 0.1);
        assert_eq!(network.state(), before, "the virtual step moves nothing");
        let moved = |name: &str| -> Vec<f32> {
            let ahead = look_ahead.ahead.state();
            before.0[name].values.iter().zip(&ahead.0[name].values).map(|(now, ahead)| (now - ahead) / 0.1).collect()
        };
        close(
            &moved("head.weight"),
            &[0.311_683_66, 0.149_140_98, 0.036_903_86, -0.277_507_81, -0.348_587_52, 0.128_366_83],
        );
        close(&moved("head.bias"), &[0.386_254_15, -0.101_850_05, -0.284_404_11]);
        let x = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [1.0, 1.0], [0.0, -1.0], [1.0, -1.0], [0.5, 0.5], [-1.0, 1.0]];
        let y = [0, 1, 2, 0, 2, 1, 2, 0].map(Class);
        let scores = read(look_ahead.loss_change(&points(&x, &Device::flex()), &y, Norm::Batch));
        let expected = [
            0.051_344_33,
            -0.028_501_03,
            0.006_699_01,
            0.080_996_44,
            -0.045_477_92,
            -0.004_633_29,
            -0.041_318_83,
            0.026_638_51,
        ];
        close(&scores, &expected);
    }

    #[test]
    fn v2_norm_modes_of_scoring() {
        let input = ImageShape { height: 8, width: 8, channels: 1 };
        let architecture = Architecture {
            backbone: BackboneKind::Tiny,
            width: 4,
            head: HeadKind::Linear,
            classes: 3,
            input,
            kernels: Kernels::Winograd,
            threads: 2,
        };
        let network = Network::new(&architecture, 0, &training_device(&Device::flex()));
        let image = |seed: usize| (0..64).map(|i| ((i * (seed + 3) * 37) % 101) as f32 / 100.0).collect::<Vec<_>>();
        let images = |seeds: &[usize], device: &Device| -> Tensor<4> {
            let values: Vec<f32> = seeds.iter().flat_map(|&seed| image(seed)).collect();
            Tensor::from_data(TensorData::new(values, [seeds.len(), 8, 8, 1]), device)
        };
        let incoming = ViewBatch { images: images(&[0, 1], &network.device()), labels: vec![Class(0), Class(1)] };
        let look_ahead = LookAhead::new(&network, &incoming, 3, 0.1);
        let first = |seeds: &[usize], norm| {
            read(look_ahead.loss_change(&images(seeds, &Device::flex()), &vec![Class(2); seeds.len()], norm))[0]
        };
        assert!(
            (first(&[5, 6], Norm::Batch) - first(&[5, 7], Norm::Batch)).abs() > 1e-5,
            "batch mode depends on the draw"
        );
        assert!((first(&[5, 6], Norm::Eval) - first(&[5, 7], Norm::Eval)).abs() < 1e-6, "eval mode does not");
    }
}
