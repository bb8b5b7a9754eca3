//! Three strided convolutions: a backbone for tests and first tries, trained in seconds.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::conv_norm::{ConvNorm, Moments, Norm, Then};
use crate::chance::Chance;

/// `width`, 2 × `width`, 4 × `width` channels, each at half the size of the one before.
#[derive(Module, Debug)]
pub struct Tiny {
    layers: Vec<ConvNorm>,
}

impl Tiny {
    pub(super) fn new(channels: usize, width: usize, chance: &mut Chance, device: &Device) -> Self {
        let mut layer = |from, to| ConvNorm::new(3, (from, to), 2, chance, device);
        Self { layers: vec![layer(channels, width), layer(width, 2 * width), layer(2 * width, 4 * width)] }
    }

    /// `[n, h, w, c]` to the last activations `[n, ⌈h/8⌉, ⌈w/8⌉, 4·width]`.
    pub(super) fn forward(&self, images: Tensor<4>, norm: Norm, moments: &mut Vec<Moments>) -> Tensor<4> {
        self.layers.iter().fold(images, |x, layer| {
            let (x, seen) = layer.forward(x, norm, Then::Relu);
            moments.extend(seen);
            x
        })
    }

    /// Every layer, in the order in which a pass reports moments.
    pub(super) fn layers_mut(&mut self) -> Vec<&mut ConvNorm> {
        self.layers.iter_mut().collect()
    }

    /// Every layer with its name.
    pub(super) fn layers(&self) -> Vec<(String, &ConvNorm)> {
        self.layers.iter().enumerate().map(|(index, layer)| (format!("layers.{index}"), layer)).collect()
    }
}
