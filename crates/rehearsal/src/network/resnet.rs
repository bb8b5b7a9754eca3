//! ResNet-18 in the form used for small images: a 3×3 stem without pooling, four stages of two basic blocks, global average pooling.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::conv_norm::{ConvNorm, Moments, Norm, Then};
use crate::chance::Chance;

/// ResNet-18; `width` channels after the stem, 8 × `width` features.
#[derive(Module, Debug)]
pub struct ResNet18 {
    stem: ConvNorm,
    blocks: Vec<Block>,
}

/// `relu(norm(conv(relu(norm(conv(x))))) + shortcut(x))`.
#[derive(Module, Debug)]
struct Block {
    conv1: ConvNorm,
    conv2: ConvNorm,
    /// A 1×1 convolution where the shape changes, else the identity.
    shortcut: Option<ConvNorm>,
}

impl ResNet18 {
    pub(super) fn new(channels: usize, width: usize, chance: &mut Chance, device: &Device) -> Self {
        let stem = ConvNorm::new(3, (channels, width), 1, chance, device);
        let mut from = width;
        let mut blocks = Vec::new();
        for (to, first_stride) in [(width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)] {
            for stride in [first_stride, 1] {
                blocks.push(Block::new((from, to), stride, chance, device));
                from = to;
            }
        }
        Self { stem, blocks }
    }

    /// `[n, h, w, c]` to the last activations `[n, ⌈h/8⌉, ⌈w/8⌉, 8·width]`.
    pub(super) fn forward(&self, images: Tensor<4>, norm: Norm, moments: &mut Vec<Moments>) -> Tensor<4> {
        let (mut x, stem) = self.stem.forward(images, norm, Then::Relu);
        moments.extend(stem);
        for block in &self.blocks {
            x = block.forward(x, norm, moments);
        }
        x
    }

    /// Every layer, in the order in which a pass reports moments.
    pub(super) fn layers_mut(&mut self) -> Vec<&mut ConvNorm> {
        let inner = self.blocks.iter_mut().flat_map(|block| [&mut block.conv1, &mut block.conv2].into_iter().chain(&mut block.shortcut));
        std::iter::once(&mut self.stem).chain(inner).collect()
    }

    /// Every layer with its name.
    pub(super) fn layers(&self) -> Vec<(String, &ConvNorm)> {
        let mut layers = vec![("stem".to_owned(), &self.stem)];
        for (index, block) in self.blocks.iter().enumerate() {
            layers.push((format!("blocks.{index}.conv1"), &block.conv1));
            layers.push((format!("blocks.{index}.conv2"), &block.conv2));
            layers.extend(block.shortcut.iter().map(|shortcut| (format!("blocks.{index}.shortcut"), shortcut)));
        }
        layers
    }
}

impl Block {
    fn new(channels: (usize, usize), stride: usize, chance: &mut Chance, device: &Device) -> Self {
        let (from, to) = channels;
        let reshapes = stride != 1 || from != to;
        Self {
            conv1: ConvNorm::new(3, (from, to), stride, chance, device),
            conv2: ConvNorm::new(3, (to, to), 1, chance, device),
            shortcut: reshapes.then(|| ConvNorm::new(1, (from, to), stride, chance, device)),
        }
    }

    fn forward(&self, x: Tensor<4>, norm: Norm, moments: &mut Vec<Moments>) -> Tensor<4> {
        let (inner, first) = self.conv1.forward(x.clone(), norm, Then::Relu);
        let (residual, last) = match &self.shortcut {
            None => (x, None),
            Some(shortcut) => shortcut.forward(x, norm, Then::Nothing),
        };
        let (y, second) = self.conv2.forward(inner, norm, Then::AddRelu(residual));
        moments.extend([first, second, last].into_iter().flatten());
        y
    }
}
