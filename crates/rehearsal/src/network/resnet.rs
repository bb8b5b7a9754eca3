//! ResNet-18 in the form used for small images: a 3×3 stem without pooling, four stages of two
//! basic blocks, global average pooling.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    Architecture,
    backbone::{Backbone, Kernels, absorb, pool},
    conv_norm::{ConvNorm, Moments, Norm, Then},
    fused::Fused,
};
use crate::{device::is_host, rng::Rng};

/// ResNet-18; `width` channels after the stem, 8 × `width` features.
#[derive(Module, Debug)]
pub struct ResNet18 {
    stem: ConvNorm,
    blocks: Vec<Block>,
    /// The kernels that compute all of it at once, where the device has them.
    fused: Option<Fused>,
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
    pub(super) fn new(architecture: &Architecture, rng: &mut Rng, device: &Device) -> Self {
        let Architecture { width, input, .. } = *architecture;
        let stem = ConvNorm::new(3, (input.channels, width), 1, rng, device);
        let mut from = width;
        let mut blocks = Vec::new();
        for (to, first_stride) in [(width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)] {
            for stride in [first_stride, 1] {
                blocks.push(Block::new((from, to), stride, rng, device));
                from = to;
            }
        }
        let algorithm = architecture.kernels.algorithm().filter(|_| is_host(device));
        let fused = algorithm.map(|algorithm| Fused::new(architecture, algorithm));
        Self { stem, blocks, fused }
    }

    /// `[n, h, w, c]` to features `[n, 8·width]`, with each layer's moments in batch mode.
    fn forward(&self, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        match &self.fused {
            Some(fused) if fused.fits(&images) => match norm {
                Norm::Batches(batches) => {
                    let passed = images.chunk(batches, 0).into_iter().map(|batch| self.features(batch, Norm::Batch));
                    (Tensor::cat(passed.collect(), 0), Vec::new())
                }
                Norm::Batch | Norm::Eval => self.fused_forward(fused, images, norm),
            },
            _ => {
                let mut moments = Vec::new();
                (pool(self.composed_forward(images, norm, &mut moments)), moments)
            }
        }
    }

    fn fused_forward(&self, fused: &Fused, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        let layers = self.layers();
        let count = images.dims()[0];
        let parameters = layers.iter().flat_map(|layer| layer.parameters()).collect();
        let running = (norm == Norm::Eval).then(|| layers.iter().map(|layer| layer.running()).collect());
        let (features, statistics) = fused.forward(images, parameters, running);
        let device = features.device().without_autodiff();
        let moments = statistics
            .into_iter()
            .zip(fused.pixels())
            .map(|(s, pixels)| Moments::new(s.mean, s.variance, count * pixels, &device));
        (features, moments.collect())
    }

    fn composed_forward(&self, images: Tensor<4>, norm: Norm, moments: &mut Vec<Moments>) -> Tensor<4> {
        let (mut x, stem) = self.stem.forward(images, norm, Then::Relu);
        moments.extend(stem);
        for block in &self.blocks {
            x = block.forward(x, norm, moments);
        }
        x
    }

    /// Every layer, in the order in which a pass reports moments, to be changed.
    fn layers_mut(&mut self) -> Vec<&mut ConvNorm> {
        let inner = self
            .blocks
            .iter_mut()
            .flat_map(|block| [&mut block.conv1, &mut block.conv2].into_iter().chain(&mut block.shortcut));
        std::iter::once(&mut self.stem).chain(inner).collect()
    }

    /// Every layer, in the order in which a pass reports moments.
    fn layers(&self) -> Vec<&ConvNorm> {
        let inner =
            self.blocks.iter().flat_map(|block| [&block.conv1, &block.conv2].into_iter().chain(&block.shortcut));
        std::iter::once(&self.stem).chain(inner).collect()
    }
}

impl Backbone for ResNet18 {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.forward(images, norm).0
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (features, moments) = self.forward(images, Norm::Batch);
        absorb(self.layers_mut(), moments);
        features
    }

    fn feature_size(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.conv2.channels())
    }

    fn kernels(&self) -> Kernels {
        self.fused.as_ref().map_or(Kernels::Composed, |fused| Kernels::of(fused.algorithm()))
    }
}

impl Block {
    fn new(channels: (usize, usize), stride: usize, rng: &mut Rng, device: &Device) -> Self {
        let (from, to) = channels;
        let reshapes = stride != 1 || from != to;
        Self {
            conv1: ConvNorm::new(3, (from, to), stride, rng, device),
            conv2: ConvNorm::new(3, (to, to), 1, rng, device),
            shortcut: reshapes.then(|| ConvNorm::new(1, (from, to), stride, rng, device)),
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
