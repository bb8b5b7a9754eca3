//! ResNet-18 for small images as a list of 20 layers, in the order of parameters and gradients.

use crate::convolution::Convolution;
use crate::image::{Layout, Shape};
use crate::plan::Plan;
use crate::size;

/// The network's dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// Channels of the first stage; the four stages have 1, 2, 4 and 8 times as many.
    pub width: usize,
    /// Channels of an image: 1 or 3.
    pub channels: usize,
    /// Rows of an image.
    pub image_height: usize,
    /// Columns of an image.
    pub image_width: usize,
}

/// One convolution and its norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The convolution.
    pub conv: Convolution,
    /// The shape of its input, for a batch of one.
    pub input: Shape,
    /// The shape of its output, for a batch of one.
    pub output: Shape,
}

/// The layers of one residual block, as indices into [`Architecture::layers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// 3×3, norm, `ReLU`.
    pub first: usize,
    /// 3×3, norm.
    pub second: usize,
    /// 1×1, norm; without it the block's input itself is added.
    pub shortcut: Option<usize>,
}

impl Architecture {
    /// How many features an image has.
    ///
    /// # Panics
    /// If there are more than fit into memory.
    pub fn features(self) -> usize {
        size::floats([8, self.width])
    }

    /// Shape of a batch of `n` images.
    pub fn input(self, n: usize) -> Shape {
        Shape { n, h: self.image_height, w: self.image_width, c: self.channels }
    }

    /// All layers, and the layers of each block.
    ///
    /// # Panics
    /// If a dimension is 0, or a layer's weights or its output do not fit into memory.
    pub fn layers(self) -> (Vec<Layer>, Vec<Block>) {
        let Self { width, channels, image_height, image_width } = self;
        assert!(
            ![width, channels, image_height, image_width].contains(&0),
            "every dimension is at least 1, unlike {self:?}"
        );
        let (layers, blocks) = Plan::resnet18(channels, width).shaped(self.input(1));
        for Layer { conv, input, output } in &layers {
            let _fit = (conv.weights(), Layout::bordered(*input), Layout::bordered(*output));
        }
        (layers, blocks)
    }
}
