//! No backbone at all: the pixels are the features, and a linear head makes logistic regression.

use burn::{module::Module, tensor::Tensor};

use super::{backbone::Backbone, conv_norm::Norm};

/// See the module.
#[derive(Module, Debug)]
pub struct Pixels {
    size: usize,
}

impl Pixels {
    pub(super) fn new(size: usize) -> Self {
        Self { size }
    }
}

impl Backbone for Pixels {
    fn features(&self, images: Tensor<4>, _: Norm) -> Tensor<2> {
        let count = images.dims()[0];
        images.reshape([count, self.size])
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        self.features(images, Norm::Batch)
    }

    fn feature_size(&self) -> usize {
        self.size
    }
}
