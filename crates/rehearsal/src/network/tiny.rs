//! Three strided convolutions: a backbone for tests and first tries, trained in seconds.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    backbone::{Backbone, absorb, pool},
    conv_norm::{ConvNorm, Moments, Norm, Then},
};
use crate::rng::Rng;

/// `width`, 2 × `width`, 4 × `width` channels, each at half the size of the one before.
#[derive(Module, Debug)]
pub struct Tiny {
    layers: Vec<ConvNorm>,
}

impl Tiny {
    pub(super) fn new(channels: usize, width: usize, rng: &mut Rng, device: &Device) -> Self {
        let mut layer = |from, to| ConvNorm::new(3, (from, to), 2, rng, device);
        Self { layers: vec![layer(channels, width), layer(width, 2 * width), layer(2 * width, 4 * width)] }
    }

    /// `[n, h, w, c]` to features `[n, 4·width]`, with each layer's moments in batch mode.
    fn forward(&self, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        let mut moments = Vec::new();
        let x = self.layers.iter().fold(images, |x, layer| {
            let (x, seen) = layer.forward(x, norm, Then::Relu);
            moments.extend(seen);
            x
        });
        (pool(x), moments)
    }
}

impl Backbone for Tiny {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.forward(images, norm).0
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (features, moments) = self.forward(images, Norm::Batch);
        absorb(self.layers.iter_mut().collect(), moments);
        features
    }

    fn feature_size(&self) -> usize {
        self.layers.last().map_or(0, ConvNorm::channels)
    }
}
