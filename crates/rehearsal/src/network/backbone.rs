//! What turns images into features: the trait, and the backbones that a user can choose.

use std::fmt;

use burn::{
    module::Module,
    tensor::{self, Device, Tensor},
};
use dyn_clone::DynClone;
use rehearsal_backbone::BackboneName;
use rehearsal_data::choice;
use rehearsal_kernels::{Algorithm, Plan};

use super::{
    Architecture,
    conv_norm::{ConvNorm, Moments, Norm},
    planned::Planned,
    random_fourier::RandomFourier,
    state::{State, StateError},
    walk,
};
use crate::rng::Rng;

/// A feature extractor. Most are a [`Plan`] ([`AnyBackbone::planned`]). For others derive [`Module`]
/// and implement this trait: Burn's visitors find, save and train the parameters. Running statistics
/// are kept in [`super::Running`].
pub trait Backbone: Module + Sync + 'static {
    /// Images `[n, h, w, c]` to features `[n, d]`, normalised as `norm` says; moves nothing.
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2>;

    /// Images `[n, h, w, c]` to features `[n, d]` in training mode: batch statistics normalise, and
    /// the running statistics move.
    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2>;

    /// d: how many features an image has.
    fn feature_size(&self) -> usize;

    /// What computes it: Burn's operations, unless it has its own kernels on its device.
    fn kernels(&self) -> Kernels {
        Kernels::Composed
    }

    /// Its layers as data, if they can be described so. A backbone with a plan can be exported, and
    /// the memory that it needs is estimated.
    fn plan(&self) -> Option<Plan> {
        None
    }
}

/// Any backbone, in a box.
#[derive(Clone)]
pub struct AnyBackbone(Box<dyn ErasedBackbone>);

impl AnyBackbone {
    /// A backbone as a part of a network.
    pub fn new(backbone: impl Backbone) -> Self {
        Self(Box::new(backbone))
    }

    /// The backbone that a plan describes, its weights drawn from `rng`.
    pub fn planned(plan: Plan, architecture: &Architecture, rng: &mut Rng, device: &Device) -> Self {
        Self::new(Planned::new(plan, architecture, rng, device))
    }

    pub(super) fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.0.features(images, norm)
    }

    pub(super) fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        self.0.train_features(images)
    }

    /// How many features an image has.
    pub fn feature_size(&self) -> usize {
        self.0.feature_size()
    }

    pub(super) fn kernels(&self) -> Kernels {
        self.0.kernels()
    }

    pub(super) fn plan(&self) -> Option<Plan> {
        self.0.plan()
    }

    pub(super) fn valid(&self) -> Self {
        Self(self.0.valid())
    }

    pub(super) fn gradients(&self, by_tensor: &mut tensor::Gradients) -> Vec<Tensor<1>> {
        self.0.gradients(by_tensor)
    }

    pub(super) fn parameters(&self) -> Vec<(String, Tensor<1>)> {
        self.0.parameters()
    }

    pub(super) fn map_parameters(self, map: &mut dyn FnMut(Tensor<1>) -> Tensor<1>) -> Self {
        Self(self.0.map_parameters(map))
    }

    pub(super) fn state(&self) -> State {
        self.0.state()
    }

    pub(super) fn load(&self, state: &State) -> Result<Self, StateError> {
        self.0.load(state).map(Self)
    }

    pub(super) fn running(&self) -> State {
        self.0.running()
    }

    pub(super) fn load_running(&self, state: &State) -> Result<Self, StateError> {
        self.0.load_running(state).map(Self)
    }
}

impl fmt::Debug for AnyBackbone {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A backbone without its type. Burn's modules are visited by generic functions, which a trait
/// object cannot have, so every walk that a network needs is named here.
trait ErasedBackbone: DynClone + fmt::Debug + Send + Sync {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2>;
    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2>;
    fn feature_size(&self) -> usize;
    fn kernels(&self) -> Kernels;
    fn plan(&self) -> Option<Plan>;
    fn valid(&self) -> Box<dyn ErasedBackbone>;
    fn gradients(&self, by_tensor: &mut tensor::Gradients) -> Vec<Tensor<1>>;
    fn parameters(&self) -> Vec<(String, Tensor<1>)>;
    fn map_parameters(self: Box<Self>, map: &mut dyn FnMut(Tensor<1>) -> Tensor<1>) -> Box<dyn ErasedBackbone>;
    fn state(&self) -> State;
    fn load(&self, state: &State) -> Result<Box<dyn ErasedBackbone>, StateError>;
    fn running(&self) -> State;
    fn load_running(&self, state: &State) -> Result<Box<dyn ErasedBackbone>, StateError>;
}

dyn_clone::clone_trait_object!(ErasedBackbone);

impl<B: Backbone> ErasedBackbone for B {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        Backbone::features(self, images, norm)
    }
    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        Backbone::train_features(self, images)
    }
    fn feature_size(&self) -> usize {
        Backbone::feature_size(self)
    }
    fn kernels(&self) -> Kernels {
        Backbone::kernels(self)
    }
    fn plan(&self) -> Option<Plan> {
        Backbone::plan(self)
    }
    fn valid(&self) -> Box<dyn ErasedBackbone> {
        Box::new(Module::valid(self))
    }
    fn gradients(&self, by_tensor: &mut tensor::Gradients) -> Vec<Tensor<1>> {
        walk::gradients(self, by_tensor)
    }
    fn parameters(&self) -> Vec<(String, Tensor<1>)> {
        walk::parameters(self)
    }
    fn map_parameters(self: Box<Self>, map: &mut dyn FnMut(Tensor<1>) -> Tensor<1>) -> Box<dyn ErasedBackbone> {
        Box::new(walk::map_parameters(*self, map))
    }
    fn state(&self) -> State {
        walk::state(self)
    }
    fn load(&self, state: &State) -> Result<Box<dyn ErasedBackbone>, StateError> {
        Ok(Box::new(walk::load(self.clone(), state)?))
    }
    fn running(&self) -> State {
        walk::running(self)
    }
    fn load_running(&self, state: &State) -> Result<Box<dyn ErasedBackbone>, StateError> {
        Ok(Box::new(walk::load_running(self.clone(), state)?))
    }
}

/// The backbones a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackboneKind {
    /// ResNet-18 for small images.
    ResNet18,
    /// Three strided convolutions.
    Tiny,
    /// None: the pixels are the features, and a linear head makes logistic regression.
    Pixels,
    /// Random Fourier features of the pixels, `width` of them, which nothing trains.
    RandomFourier,
    /// `EfficientNet`-lite0, pre-trained and frozen, inside the program.
    EfficientNetLite0,
    /// `DINOv2`'s ViT-S/14, pre-trained and frozen.
    DinoV2Small,
    /// torchvision's ResNet-18, pre-trained and frozen.
    ResNet18Imagenet,
}
choice!(
    BackboneKind,
    "backbone",
    ResNet18 = "resnet18",
    Tiny = "tiny",
    Pixels = "pixels",
    RandomFourier = "random-fourier",
    EfficientNetLite0 = "efficientnet-lite0",
    DinoV2Small = "dinov2-small",
    ResNet18Imagenet = "resnet18-imagenet",
);

impl BackboneKind {
    /// The pre-trained network whose features are its input, if it is one of those.
    pub fn pretrained(self) -> Option<BackboneName> {
        match self {
            Self::ResNet18 | Self::Tiny | Self::Pixels | Self::RandomFourier => None,
            Self::EfficientNetLite0 => Some(BackboneName::EfficientNetLite0),
            Self::DinoV2Small => Some(BackboneName::DinoV2Small),
            Self::ResNet18Imagenet => Some(BackboneName::ResNet18),
        }
    }

    /// Its trained layers for images of `channels` channels: what is exported, and what memory is estimated by. `width` is
    /// the channels after the first one. Behind the features of a pre-trained network it is the units of a hidden layer, or
    /// 0 for none.
    pub fn plan(self, channels: usize, width: usize) -> Plan {
        match self {
            Self::ResNet18 => Plan::resnet18(channels, width),
            Self::Tiny => Plan::tiny(channels, width),
            _ if self.pretrained().is_some() && width > 0 => Plan::hidden(channels, width),
            _ => Plan::default(),
        }
    }

    /// The backbone for the images and the width of `architecture`, its weights drawn from `rng`.
    pub fn build(self, architecture: &Architecture, rng: &mut Rng, device: &Device) -> AnyBackbone {
        if self == Self::RandomFourier {
            return AnyBackbone::new(RandomFourier::new(architecture.input, architecture.width, rng, device));
        }
        let plan = self.plan(architecture.input.channels, architecture.width);
        AnyBackbone::planned(plan, architecture, rng, device)
    }
}

/// What computes a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Our fused kernels, with Winograd's algorithm where it is faster.
    Winograd,
    /// Our fused kernels, multiplying directly.
    Direct,
    /// Burn's operations.
    Composed,
}
choice!(Kernels, "kind of kernels", Winograd = "winograd", Direct = "direct", Composed = "composed");

impl Kernels {
    /// The fused kernels' algorithm, if they are used.
    pub(super) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Winograd => Some(Algorithm::Fastest),
            Self::Direct => Some(Algorithm::Direct),
            Self::Composed => None,
        }
    }

    /// What such an algorithm is called.
    pub(super) fn of(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Fastest => Self::Winograd,
            Algorithm::Direct => Self::Direct,
        }
    }
}

/// Moves the running statistics of every layer towards those of one pass.
pub fn absorb(layers: Vec<&mut ConvNorm>, moments: Vec<Moments>) {
    assert_eq!(layers.len(), moments.len(), "one pass, one set of moments per layer");
    for (layer, moments) in layers.into_iter().zip(moments) {
        layer.absorb(moments);
    }
}

/// Global average pooling: `[n, h, w, c]` to `[n, c]`.
pub fn pool(x: Tensor<4>) -> Tensor<2> {
    let [n, h, w, c] = x.dims();
    x.reshape([n, h * w, c]).mean_dim(1).reshape([n, c])
}
