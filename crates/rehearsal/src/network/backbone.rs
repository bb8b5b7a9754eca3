//! The list of backbones: what turns images into features.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    conv_norm::{ConvNorm, Moments, Norm},
    resnet::ResNet18,
    tiny::Tiny,
};
use crate::{chance::Chance, choice::choice, sample::ImageShape};

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

/// A feature extractor: layers, then global average pooling; or none.
#[derive(Module, Debug)]
pub enum Backbone {
    /// See [`BackboneKind::ResNet18`].
    ResNet18(ResNet18),
    /// See [`BackboneKind::Tiny`].
    Tiny(Tiny),
    /// See [`BackboneKind::Pixels`]; how many there are.
    Pixels(usize),
}

impl Backbone {
    pub(super) fn new(kind: BackboneKind, input: ImageShape, width: usize, chance: &mut Chance, device: &Device) -> Self {
        match kind {
            BackboneKind::ResNet18 => Self::ResNet18(ResNet18::new(input.channels, width, chance, device)),
            BackboneKind::Tiny => Self::Tiny(Tiny::new(input.channels, width, chance, device)),
            BackboneKind::Pixels => Self::Pixels(input.bytes()),
        }
    }

    /// Images `[n, h, w, c]` to features `[n, d]`, with each layer's moments in batch mode.
    pub(super) fn forward(&self, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        let mut moments = Vec::new();
        let last = match self {
            Self::ResNet18(resnet) => resnet.forward(images, norm, &mut moments),
            Self::Tiny(tiny) => tiny.forward(images, norm, &mut moments),
            Self::Pixels(size) => {
                let count = images.dims()[0];
                return (images.reshape([count, *size]), moments);
            }
        };
        let [n, h, w, c] = last.dims();
        (last.reshape([n, h * w, c]).mean_dim(1).reshape([n, c]), moments)
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
