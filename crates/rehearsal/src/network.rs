//! The network: a backbone that turns images into features, and a head that turns features into logits.
//!
//! Each call names its mode of normalisation: [`Norm::Batch`] (or several of them at once,
//! [`Norm::Batches`]) and [`Norm::Eval`] take `&self` and move nothing; training passes go through
//! [`Network::train_features`], which needs `&mut self` because the running statistics move.
//!
//! A frozen backbone ([`Network::freeze_backbone`]) always normalises by its running statistics, and
//! its parameters are not among those that are trained.

mod backbone;
mod calibration;
mod conv_norm;
mod fused;
mod head;
mod planned;
mod random_fourier;
mod running;
mod state;
mod walk;

use burn::{
    module::Module,
    tensor::{self, Device, Tensor, TensorData},
};

pub use backbone::{AnyBackbone, Backbone, BackboneKind, Kernels, absorb, pool};
pub use conv_norm::{ConvNorm, Moments, Norm, Then};
#[cfg(test)]
pub(crate) use head::cosines;
pub use head::{Head, HeadKind};
pub(crate) use planned::one_image;
pub use rehearsal_kernels::{Convolution, Part, Plan, PlannedLayer};
pub use running::Running;
pub use state::{Array, State, StateError};

use crate::{
    device::upload,
    rng::{Rng, RngStream},
    sample::ImageShape,
};

/// Before the names of a backbone's arrays in a network's state.
pub(crate) const BACKBONE: &str = "backbone.";
/// Before the names of a head's arrays.
pub(crate) const HEAD: &str = "head.";

/// What a network is made of.
#[derive(Clone, Copy, Debug)]
pub struct Architecture {
    /// The feature extractor.
    pub backbone: BackboneKind,
    /// Channels after the first convolution.
    pub width: usize,
    /// What turns features into logits.
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
#[derive(Clone, Debug)]
pub struct Network {
    /// Without autodiff if it is frozen.
    backbone: AnyBackbone,
    head: Head,
    frozen: bool,
}

impl Network {
    /// A fresh network, its weights drawn from `seed` (Xavier uniform). On an autodiff device it can be trained.
    pub fn new(architecture: &Architecture, seed: u64, device: &Device) -> Self {
        let build = |rng: &mut Rng| architecture.backbone.build(architecture, rng, device);
        Self::with_backbone(build, architecture.head, architecture.classes, seed, device)
    }

    /// A fresh network with a custom backbone, which `build` makes; weights are drawn from `seed`.
    pub fn with_backbone(
        build: impl FnOnce(&mut Rng) -> AnyBackbone,
        head: HeadKind,
        classes: usize,
        seed: u64,
        device: &Device,
    ) -> Self {
        let mut rng = Rng::new(seed, RngStream::Initialisation, &[]);
        let backbone = build(&mut rng);
        let head = Head::new(head, backbone.feature_size(), classes, &mut rng, device);
        Self { backbone, head, frozen: false }
    }

    /// From now on training changes the head alone: neither a parameter nor a running statistic of
    /// the backbone moves, and nothing is differentiated with respect to it.
    pub fn freeze_backbone(&mut self) {
        self.backbone = self.backbone.valid();
        self.frozen = true;
    }

    /// Images `[n, h, w, c]` to features `[n, d]`; moves nothing. A frozen backbone normalises by
    /// its running statistics, whatever `norm` says.
    pub fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        if self.frozen { self.frozen_features(images) } else { self.backbone.features(images, norm) }
    }

    /// Images `[n, h, w, c]` to features `[n, d]` in training mode: batch statistics normalise, and
    /// the running statistics move, unless the backbone is frozen.
    pub fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        if self.frozen { self.frozen_features(images) } else { self.backbone.train_features(images) }
    }

    fn frozen_features(&self, images: Tensor<4>) -> Tensor<2> {
        let autodiff = images.is_autodiff();
        let features = self.backbone.features(images.without_autodiff(), Norm::Eval);
        if autodiff { Tensor::from_inner(features) } else { features }
    }

    /// Images `[n, h, w, c]` to logits `[n, K]` of all classes; moves nothing.
    pub fn logits(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.head.logits(self.features(images, norm))
    }

    /// As [`Network::logits`], in training mode.
    pub fn train_logits(&mut self, images: Tensor<4>) -> Tensor<2> {
        let features = self.train_features(images);
        self.head.logits(features)
    }

    /// Features `[n, d]` to logits `[n, K]`.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// d: how many features an image has.
    pub fn feature_size(&self) -> usize {
        self.backbone.feature_size()
    }

    /// What computes its backbone.
    pub fn kernels(&self) -> Kernels {
        self.backbone.kernels()
    }

    /// The layers of its backbone, if it gives them.
    pub fn plan(&self) -> Option<Plan> {
        self.backbone.plan()
    }

    /// Whether its backbone is frozen.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// How many classes its head has.
    pub fn classes(&self) -> usize {
        self.head.classes()
    }

    /// Makes room for `classes` classes; the rows of new ones follow from `seed` and their number alone.
    pub fn grow(&mut self, classes: usize, seed: u64) {
        self.head.grow(classes, seed);
    }

    /// Makes room for the classes that `other` has and this one lacks, as they are in `other`.
    pub fn take_new_classes(&mut self, other: &Self) {
        self.head.take_new_classes(&other.head);
    }

    /// Every parameter and running statistic, by name.
    pub fn state(&self) -> State {
        let mut state = self.backbone.state().prefixed(BACKBONE);
        state.0.extend(walk::state(&self.head).prefixed(HEAD).0);
        state
    }

    /// Replaces every parameter and running statistic.
    ///
    /// # Errors
    /// A name is missing, or has another shape than this network's: then nothing is replaced.
    pub fn load(&mut self, state: &State) -> Result<(), StateError> {
        let backbone = self.backbone.load(&state.under(BACKBONE)).map_err(|error| error.under(BACKBONE))?;
        let head = walk::load(self.head.clone(), &state.under(HEAD)).map_err(|error| error.under(HEAD))?;
        (self.backbone, self.head) = (backbone, head);
        Ok(())
    }

    /// Every running statistic, by name.
    pub(crate) fn running(&self) -> State {
        self.backbone.running().prefixed(BACKBONE)
    }

    /// The same network with other running statistics.
    ///
    /// # Errors
    /// A name is missing, or has another shape than this network's.
    pub(crate) fn with_running(&self, state: &State) -> Result<Self, StateError> {
        let backbone = self.backbone.load_running(&state.under(BACKBONE)).map_err(|error| error.under(BACKBONE))?;
        Ok(Self { backbone, head: self.head.clone(), frozen: self.frozen })
    }

    /// The same network without autodiff.
    pub fn valid(&self) -> Self {
        Self { backbone: self.backbone.valid(), head: self.head.valid(), frozen: self.frozen }
    }

    /// How many numbers are trained.
    pub fn parameter_count(&self) -> usize {
        self.parameters().iter().map(|(_, parameter)| parameter.dims()[0]).sum()
    }

    /// Every trained parameter with its name, flat, without autodiff.
    pub(crate) fn parameters(&self) -> Vec<(String, Tensor<1>)> {
        let named = |prefix: &'static str| move |(name, value)| (format!("{prefix}{name}"), value);
        let backbone = if self.frozen { Vec::new() } else { self.backbone.parameters() };
        let head = walk::parameters(&self.head).into_iter().map(named(HEAD));
        backbone.into_iter().map(named(BACKBONE)).chain(head).collect()
    }

    /// The flat gradient of every trained parameter, in the order of [`Network::parameters`].
    pub(crate) fn gradients(&self, mut by_tensor: tensor::Gradients) -> Vec<Tensor<1>> {
        let mut gradients = if self.frozen { Vec::new() } else { self.backbone.gradients(&mut by_tensor) };
        gradients.extend(walk::gradients(&self.head, &mut by_tensor));
        gradients
    }

    /// The network with other values of its trained parameters, which `map` gets flat, in the order
    /// of [`Network::parameters`]. Frozen parameters and running statistics stay, and are not copied.
    pub(crate) fn map_parameters(mut self, mut map: impl FnMut(Tensor<1>) -> Tensor<1>) -> Self {
        if !self.frozen {
            self.backbone = self.backbone.map_parameters(&mut map);
        }
        Self { head: walk::map_parameters(self.head, &mut map), ..self }
    }

    /// Where the parameters live; an autodiff device if the network can be trained.
    pub fn device(&self) -> Device {
        self.head.device()
    }
}

/// A tensor of Xavier uniform values: U(±√(6/(fan in + fan out))).
fn xavier<const D: usize>(shape: [usize; D], fans: usize, rng: &mut Rng, device: &Device) -> Tensor<D> {
    let bound = xavier_bound(fans);
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| rng.uniform(-bound, bound) as f32).collect();
    upload(TensorData::new(values, shape), device)
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
        Network::new(&architecture(width, head), 0, &Device::flex()).parameter_count()
    }

    #[test]
    fn v14_parameter_counts() {
        let proxies = HeadKind::Proxies { temperature: 0.09 };
        assert_eq!(parameters(20, HeadKind::Linear), 1_109_240);
        assert_eq!(parameters(20, proxies), 1_109_140);
        assert_eq!(parameters(64, HeadKind::Linear), 11_220_132);
        assert_eq!(parameters(64, proxies), 11_220_032);
        let network = Network::new(&architecture(20, proxies), 0, &Device::flex());
        assert_eq!(network.backbone.parameters().iter().map(|(_, p)| p.dims()[0]).sum::<usize>(), 1_093_140);
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
}
