//! The whole ResNet-18 on the processor as one operation of Burn, computed by the fused kernels of `crates/kernels`.
//!
//! One operation instead of a hundred: activations stay in the engine's own memory, normalisation
//! is folded into the convolutions' passes, and weights are packed once per set of parameters. On
//! other devices the same module is composed of Burn's operations.

mod operation;

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use burn::{
    backend::{Dispatch, DispatchTensor},
    tensor::Tensor,
};
use rehearsal_kernels::{Algorithm, Engine, Isa, Machine, PackedParameters, Pool, Statistics};

use super::Architecture;
use operation::{Done, FusedBackbone, Parameters, Pass};

/// The kernels of one network: an engine, and the parameters packed for it. A copy shares what was
/// packed; a module whose parameters change (an optimisation step) calls [`Fused::forget`].
#[derive(Clone)]
pub struct Fused {
    engine: Arc<Engine>,
    algorithm: Algorithm,
    packed: Arc<OnceLock<PackedParameters>>,
    /// The last pass that can be differentiated: the virtual step and the real one begin with the
    /// same images under the same parameters.
    last: Arc<Mutex<Option<Arc<Done>>>>,
}

impl Fused {
    /// Kernels for one size of images, with threads of their own.
    pub(super) fn new(architecture: &Architecture, algorithm: Algorithm) -> Self {
        let Architecture { width, input, threads, .. } = *architecture;
        let (channels, image_height, image_width) = (input.channels, input.height, input.width);
        let dimensions = rehearsal_kernels::Architecture { width, channels, image_height, image_width };
        let machine = Machine::with(Pool::new(threads), Isa::detect(), algorithm);
        Self {
            engine: Arc::new(Engine::new(dimensions, machine)),
            algorithm,
            packed: Arc::default(),
            last: Arc::default(),
        }
    }

    /// How they convolve.
    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether images of that height, width and number of channels are what the kernels were made for.
    pub(super) fn fits(&self, images: &Tensor<4>) -> bool {
        let architecture = self.engine.architecture();
        let [_, height, width, channels] = images.dims();
        (height, width, channels) == (architecture.image_height, architecture.image_width, architecture.channels)
    }

    /// How many pixels each layer's output has, per image.
    pub(super) fn pixels(&self) -> impl Iterator<Item = usize> {
        self.engine.layers().iter().map(|layer| layer.output.h * layer.output.w)
    }

    /// Forgets what was packed and passed: the parameters are about to change.
    pub(super) fn forget(&mut self) {
        (self.packed, self.last) = Default::default();
    }

    /// Images `[n, h, w, c]` to features `[n, 8·width]`; `parameters` are weight, scale and shift
    /// of each layer. Without `running` statistics the batch's normalise, and are returned.
    pub(super) fn forward(
        &self,
        images: Tensor<4>,
        parameters: Vec<DispatchTensor>,
        running: Option<Vec<Statistics>>,
    ) -> (Tensor<2>, Vec<Statistics>) {
        let pass = Arc::new(Pass::new(self.clone(), running, images.is_autodiff()));
        let features = Dispatch::fused_backbone(images.into_dispatch(), Parameters::new(parameters), Arc::clone(&pass));
        (Tensor::from_dispatch(features), pass.statistics().to_vec())
    }
}

impl fmt::Debug for Fused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Fused").field("architecture", &self.engine.architecture()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::{
        gradients::Gradients as OfNetwork,
        losses::cross_entropy,
        network::{BackboneKind, HeadKind, Kernels, Network, Norm, State},
        rng::{Rng, RngStream},
        sample::{Class, ImageShape},
    };

    fn architecture(input: ImageShape, width: usize, kernels: Kernels) -> Architecture {
        Architecture {
            backbone: BackboneKind::ResNet18,
            width,
            head: HeadKind::Linear,
            classes: 5,
            input,
            kernels,
            threads: 2,
        }
    }

    fn network(input: ImageShape, width: usize, kernels: Kernels) -> Network {
        Network::new(&architecture(input, width, kernels), 3, &Device::flex().autodiff())
    }

    fn images(count: usize, shape: ImageShape, device: &Device) -> Tensor<4> {
        let mut rng = Rng::new(1, RngStream::Split, &[]);
        let values: Vec<f32> = (0..count * shape.bytes()).map(|_| rng.unit() as f32).collect();
        Tensor::from_data(TensorData::new(values, [count, shape.height, shape.width, shape.channels]), device)
    }

    fn flat(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    /// ‖a − b‖ / ‖b‖.
    fn difference(a: &[f32], b: &[f32]) -> f64 {
        let norm =
            |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied()).max(1e-12)
    }

    /// Features in every mode, running statistics after a training pass, and θ − g.
    fn everything(input: ImageShape, width: usize, kernels: Kernels) -> (Vec<Vec<f32>>, State, State) {
        let mut network = network(input, width, kernels);
        let x = images(6, input, &network.device());
        let labels = [0, 1, 2, 3, 4, 0].map(Class);
        let trained = network.train_logits(x.clone());
        let features = [
            flat(trained),
            flat(network.features(x.clone(), Norm::Batch)),
            flat(network.features(x.clone(), Norm::Eval)),
        ];
        let plain = network.valid().features(x.clone().without_autodiff(), Norm::Eval);
        let loss = cross_entropy(network.logits(x, Norm::Batch), &labels).mean();
        let stepped = network.valid().plain_step(&OfNetwork::from_loss(&loss, &network), 1.0).state();
        (features.into_iter().chain([flat(plain)]).collect(), network.state(), stepped)
    }

    #[test]
    fn kernels_and_composed_operations_agree_forward_and_backward() {
        for (height, width_px, channels, width) in [(32, 32, 3, 5), (9, 14, 1, 4), (28, 28, 1, 20)] {
            let input = ImageShape { height, width: width_px, channels };
            let (features, state, stepped) = everything(input, width, Kernels::Composed);
            for kernels in [Kernels::Direct, Kernels::Winograd] {
                let (f, s, t) = everything(input, width, kernels);
                for (ours, composed) in f.iter().zip(&features) {
                    assert!(
                        difference(ours, composed) < 1e-4,
                        "{kernels} {input:?}: features by {}",
                        difference(ours, composed)
                    );
                }
                for (name, composed) in &state.0 {
                    let by = difference(&s.0[name].values, &composed.values);
                    assert!(by < 1e-4, "{kernels} {input:?}: {name} by {by}");
                }
                for (name, composed) in &stepped.0 {
                    let gradient = |state: &State, stepped: &State| -> Vec<f32> {
                        state.0[name].values.iter().zip(&stepped.0[name].values).map(|(a, b)| a - b).collect()
                    };
                    let (ours, composed) =
                        (gradient(&s, &t), gradient(&state, &State([(name.clone(), composed.clone())].into())));
                    // By norm: a ReLU input within rounding of zero may change sign and move single entries.
                    assert!(
                        name.contains("running") || difference(&ours, &composed) < 1e-2,
                        "{kernels} {input:?}: gradient of {name} by {}",
                        difference(&ours, &composed)
                    );
                }
            }
        }
    }

    #[test]
    fn several_batches_in_one_pass_are_as_many_passes() {
        let input = ImageShape { height: 9, width: 12, channels: 3 };
        for (kernels, within) in [(Kernels::Composed, 1e-5), (Kernels::Winograd, 0.0)] {
            let network = network(input, 4, kernels).valid();
            let x = images(6, input, &Device::flex());
            let apart = x.clone().chunk(3, 0).into_iter().map(|batch| network.features(batch, Norm::Batch));
            let (apart, whole) =
                (flat(Tensor::cat(apart.collect(), 0)), flat(network.features(x.clone(), Norm::Batch)));
            let together = flat(network.features(x, Norm::Batches(3)));
            assert!(difference(&together, &apart) <= within, "{kernels}: by {}", difference(&together, &apart));
            assert!(difference(&whole, &apart) > 1e-2, "{kernels}: one batch of all is another thing");
        }
    }

    /// Three images of one channel have as many values as one of three.
    #[test]
    fn only_images_of_the_networks_own_shape_fit() {
        let input = ImageShape { height: 8, width: 12, channels: 3 };
        let fused = Fused::new(&architecture(input, 4, Kernels::Winograd), Algorithm::Fastest);
        let fits = |dims: [usize; 4]| fused.fits(&Tensor::zeros(dims, &Device::flex()));
        assert!(fits([1, 8, 12, 3]) && fits([3, 8, 12, 3]));
        assert!(!fits([3, 8, 12, 1]) && !fits([1, 12, 8, 3]) && !fits([1, 8, 8, 3]));
    }

    #[test]
    fn images_of_another_size_fall_back_to_composed_operations() {
        let network = network(ImageShape { height: 16, width: 16, channels: 1 }, 4, Kernels::Winograd).valid();
        let other = images(2, ImageShape { height: 24, width: 16, channels: 1 }, &Device::flex());
        assert_eq!(network.features(other, Norm::Eval).dims(), [2, 32]);
    }

    #[test]
    fn a_pass_shared_by_two_losses_gives_each_its_own_gradient() {
        let input = ImageShape { height: 8, width: 8, channels: 1 };
        let gradient = |network: &Network, images: Tensor<4>, labels: [u16; 4]| {
            let loss = cross_entropy(network.logits(images, Norm::Batch), &labels.map(Class)).mean();
            network.valid().plain_step(&OfNetwork::from_loss(&loss, network), 1.0).state()
        };
        let shared = network(input, 4, Kernels::Winograd);
        let x = images(4, input, &shared.device());
        let first = gradient(&shared, x.clone(), [0, 1, 2, 3]);
        let second = gradient(&shared, x.clone(), [3, 3, 0, 0]);
        let other_images = gradient(&shared, x.clone() * 0.5, [3, 3, 0, 0]);
        let alone = |images: Tensor<4>, labels| gradient(&network(input, 4, Kernels::Winograd), images, labels);
        assert_eq!(first, alone(x.clone(), [0, 1, 2, 3]));
        assert_eq!(second, alone(x.clone(), [3, 3, 0, 0]));
        assert_eq!(other_images, alone(x * 0.5, [3, 3, 0, 0]));
    }

    #[test]
    fn a_step_forgets_the_packed_parameters() {
        let input = ImageShape { height: 8, width: 8, channels: 1 };
        let network = network(input, 4, Kernels::Winograd);
        let x = images(4, input, &network.device());
        let loss = cross_entropy(network.logits(x.clone(), Norm::Batch), &[0, 1, 2, 3].map(Class)).mean();
        let stepped = network.clone().plain_step(&OfNetwork::from_loss(&loss, &network), 0.5);
        let before = flat(network.features(x.clone(), Norm::Batch));
        assert_ne!(before, flat(stepped.features(x.clone(), Norm::Batch)));
        let mut loaded = stepped;
        loaded.load(&network.state()).unwrap();
        assert_eq!(before, flat(loaded.features(x, Norm::Batch)));
    }
}
