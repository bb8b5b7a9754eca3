//! The list of backbones: what turns images into features.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use kernels::Algorithm;

use super::{
    Architecture,
    conv_norm::{ConvNorm, Moments, Norm},
    resnet::ResNet18,
    tiny::Tiny,
};
use crate::{chance::Chance, choice::choice};

/// The backbones a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackboneKind {
    /// ResNet-18 for small images.
    ResNet18,
    /// Three strided convolutions.
    Tiny,
    /// None: the pixels are the features, and a linear head makes logistic regression.
    Pixels,
}
choice!(BackboneKind, "backbone", ResNet18 = "resnet18", Tiny = "tiny", Pixels = "pixels");

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
    /// The fused kernels' algorithm, where they are used.
    pub(super) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Winograd => Some(Algorithm::Fastest),
            Self::Direct => Some(Algorithm::Direct),
            Self::Composed => None,
        }
    }
}

/// A feature extractor: layers, then global average pooling; or none.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a network has one backbone")]
pub enum Backbone {
    /// See [`BackboneKind::ResNet18`].
    ResNet18(ResNet18),
    /// See [`BackboneKind::Tiny`].
    Tiny(Tiny),
    /// See [`BackboneKind::Pixels`]; how many there are.
    Pixels(usize),
}

impl Backbone {
    pub(super) fn new(architecture: &Architecture, chance: &mut Chance, device: &Device) -> Self {
        match architecture.backbone {
            BackboneKind::ResNet18 => Self::ResNet18(ResNet18::new(architecture, chance, device)),
            BackboneKind::Tiny => {
                Self::Tiny(Tiny::new(architecture.input.channels, architecture.width, chance, device))
            }
            BackboneKind::Pixels => Self::Pixels(architecture.input.bytes()),
        }
    }

    /// Images `[n, h, w, c]` to features `[n, d]`, with each layer's moments in batch mode.
    pub(super) fn forward(&self, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        match self {
            Self::ResNet18(resnet) => resnet.forward(images, norm),
            Self::Tiny(tiny) => {
                let mut moments = Vec::new();
                (pool(tiny.forward(images, norm, &mut moments)), moments)
            }
            Self::Pixels(size) => {
                let count = images.dims()[0];
                (images.reshape([count, *size]), Vec::new())
            }
        }
    }

    /// Moves the running statistics of every layer towards a batch's.
    pub(super) fn absorb(&mut self, moments: Vec<Moments>) {
        let layers = self.layers_mut();
        assert_eq!(layers.len(), moments.len(), "one pass, one set of moments per layer");
        for (layer, moments) in layers.into_iter().zip(moments) {
            layer.absorb(moments);
        }
    }

    /// How many features an image has.
    pub(super) fn feature_size(&self) -> usize {
        match self {
            Self::Pixels(size) => *size,
            layered => layered.layers().last().map_or(0, |(_, layer)| layer.channels()),
        }
    }

    /// To be called when parameters were changed through [`Backbone::layers_mut`].
    pub(super) fn parameters_changed(&mut self) {
        if let Self::ResNet18(resnet) = self {
            resnet.parameters_changed();
        }
    }

    /// Every layer with its name.
    pub(super) fn layers(&self) -> Vec<(String, &ConvNorm)> {
        match self {
            Self::ResNet18(resnet) => resnet.layers(),
            Self::Tiny(tiny) => tiny.layers(),
            Self::Pixels(_) => Vec::new(),
        }
    }

    /// Every layer, in the order of [`Backbone::layers`].
    pub(super) fn layers_mut(&mut self) -> Vec<&mut ConvNorm> {
        match self {
            Self::ResNet18(resnet) => resnet.layers_mut(),
            Self::Tiny(tiny) => tiny.layers_mut(),
            Self::Pixels(_) => Vec::new(),
        }
    }
}

/// Global average pooling: `[n, h, w, c]` to `[n, c]`.
pub(super) fn pool(x: Tensor<4>) -> Tensor<2> {
    let [n, h, w, c] = x.dims();
    x.reshape([n, h * w, c]).mean_dim(1).reshape([n, c])
}
