//! The network: a backbone that turns images into features, and a head that turns features into class scores.
//!
//! Nothing here changes behind the caller's back. Normalisation has the three modes of the specification, said at each call:
//! [`Norm::Batch`] and [`Norm::Eval`] take `&self` and move nothing; training passes go through [`Network::train_features`], the one
//! method that needs `&mut self`, because the running statistics move.

mod backbone;
mod conv_norm;
mod fused;
mod head;
mod resnet;
mod state;
mod tiny;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

pub use backbone::{Backbone, BackboneKind, Kernels};
pub use conv_norm::{ConvNorm, Moments, Norm};
#[cfg(test)]
pub(crate) use head::cosines;
pub use head::{Head, HeadKind};
pub use state::{Array, State, StateError};

use crate::{
    chance::{Chance, Decides},
    sample::{Class, ImageShape},
};

/// What a network is made of.
#[derive(Clone, Copy, Debug)]
pub struct Architecture {
    /// The feature extractor.
    pub backbone: BackboneKind,
    /// Channels after the first convolution.
    pub width: usize,
    /// What turns features into scores.
    pub head: HeadKind,
    /// How many classes the head has, seen or not.
    pub classes: usize,
    /// What goes in.
    pub input: ImageShape,
    /// What computes the convolutions on the processor.
    pub kernels: Kernels,
    /// On how many threads; results do not depend on it.
    pub threads: usize,
}

/// A classifier over all classes of a stream.
#[derive(Module, Debug)]
pub struct Network {
    backbone: Backbone,
    head: Head,
}

impl Network {
    /// A fresh network, its weights drawn from `seed` (Xavier uniform). On an autodiff device it can be trained.
    pub fn new(architecture: &Architecture, seed: u64, device: &Device) -> Self {
        let mut chance = Chance::new(seed, Decides::Initialisation, &[]);
        let backbone = Backbone::new(architecture, &mut chance, device);
        let head = Head::new(architecture.head, backbone.feature_size(), architecture.classes, &mut chance, device);
        Self { backbone, head }
    }

    /// Images `[n, h, w, c]` to features `[n, d]`; moves nothing.
    pub fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.backbone.forward(images, norm).0
    }

    /// Images `[n, h, w, c]` to features `[n, d]` in training mode: batch statistics normalise, and the running statistics move.
    pub fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (features, moments) = self.backbone.forward(images, Norm::Batch);
        self.backbone.absorb(moments);
        features
    }

    /// Images `[n, h, w, c]` to scores `[n, K]` of all classes; moves nothing.
    pub fn logits(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.head.logits(self.features(images, norm))
    }

    /// As [`Network::logits`], in training mode.
    pub fn train_logits(&mut self, images: Tensor<4>) -> Tensor<2> {
        let features = self.train_features(images);
        self.head.logits(features)
    }

    /// Features `[n, d]` to scores `[n, K]`.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The most likely of the classes `0..seen` for each image, in eval mode; the lowest of equals.
    pub fn predict(&self, images: Tensor<4>, seen: usize) -> Vec<Class> {
        let logits = self.logits(images, Norm::Eval);
        let [count, classes] = logits.dims();
        let values = logits.into_data().try_to_vec::<f32>().expect("logits are f32");
        debug_assert_eq!(values.len(), count * classes);
        values.chunks_exact(classes).map(|scores| Class(highest(&scores[..seen]) as u16)).collect()
    }

    /// Every parameter and running statistic, by name.
    pub fn state(&self) -> State {
        let mut state = State::default();
        for (name, layer) in self.backbone.layers() {
            layer.save(&format!("backbone.{name}"), &mut state);
        }
        self.head.save(&mut state);
        state
    }

    /// Replaces every parameter and running statistic.
    ///
    /// # Errors
    /// A name is missing, or has another shape than this network's: then the network may be partly replaced.
    pub fn load(&mut self, state: &State) -> Result<(), StateError> {
        let names: Vec<String> =
            self.backbone.layers().into_iter().map(|(name, _)| format!("backbone.{name}")).collect();
        self.backbone.parameters_changed();
        for (name, layer) in names.iter().zip(self.backbone.layers_mut()) {
            layer.load(name, state)?;
        }
        self.head.load(state)
    }

    /// Where the parameters live; an autodiff device if the network can be trained.
    pub fn device(&self) -> Device {
        self.head.device()
    }
}

/// Index of the highest score, the first of equals.
fn highest(scores: &[f32]) -> usize {
    let mut best = 0;
    for (index, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = index;
        }
    }
    best
}

/// A tensor of Xavier uniform values: U(±√(6/(fan in + fan out))).
fn xavier<const D: usize>(shape: [usize; D], fans: usize, chance: &mut Chance, device: &Device) -> Tensor<D> {
    let bound = xavier_bound(fans);
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| chance.uniform(-bound, bound) as f32).collect();
    Tensor::from_data(burn::tensor::TensorData::new(values, shape), device)
}

fn xavier_bound(fans: usize) -> f64 {
    (6.0 / fans as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn architecture(width: usize, head: HeadKind) -> Architecture {
        let input = ImageShape { height: 32, width: 32, channels: 3 };
        Architecture {
            backbone: BackboneKind::ResNet18,
            width,
            head,
            classes: 100,
            input,
            kernels: Kernels::Winograd,
            threads: 2,
        }
    }

    fn parameters(width: usize, head: HeadKind) -> usize {
        Network::new(&architecture(width, head), 0, &Device::flex()).num_params()
    }

    #[test]
    fn v14_parameter_counts() {
        let proxies = HeadKind::Proxies { temperature: 0.09 };
        assert_eq!(parameters(20, HeadKind::Linear), 1_109_240);
        assert_eq!(parameters(20, proxies), 1_109_140);
        assert_eq!(parameters(64, HeadKind::Linear), 11_220_132);
        assert_eq!(parameters(64, proxies), 11_220_032);
        let network = Network::new(&architecture(20, proxies), 0, &Device::flex());
        assert_eq!(network.backbone.num_params(), 1_093_140);
        assert_eq!(network.backbone.feature_size(), 160);
    }

    #[test]
    fn v14_xavier_bounds() {
        assert!((xavier_bound((3 + 20) * 9) - 0.170_251_31).abs() < 1e-8);
        assert!((xavier_bound(100 + 160) - 0.151_910_91).abs() < 1e-8);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights() {
        let weights = |seed| Network::new(&architecture(4, HeadKind::Linear), seed, &Device::flex()).state();
        assert_eq!(weights(1), weights(1));
        assert_ne!(weights(1), weights(2));
    }

    #[test]
    fn a_state_goes_into_another_network_and_not_into_one_of_another_shape() {
        let device = Device::flex();
        let saved = Network::new(&architecture(4, HeadKind::Linear), 1, &device).state();
        let mut other = Network::new(&architecture(4, HeadKind::Linear), 2, &device);
        other.load(&saved).unwrap();
        assert_eq!(other.state(), saved);
        let mut wider = Network::new(&architecture(5, HeadKind::Linear), 2, &device);
        let error = wider.load(&saved).unwrap_err().to_string();
        assert_eq!(error, "`backbone.stem.weight` has shape [3, 3, 3, 4], not [3, 3, 3, 5]");
        let mut proxies = Network::new(&architecture(4, HeadKind::Proxies { temperature: 0.1 }), 2, &device);
        assert_eq!(proxies.load(&saved).unwrap_err().to_string(), "`head.proxies` is missing");
    }

    #[test]
    fn prediction_takes_the_first_of_equals_among_the_seen() {
        assert_eq!(highest(&[0.0, 2.0, 2.0, 1.0]), 1);
        assert_eq!(highest(&[f32::NAN]), 0);
    }
}
