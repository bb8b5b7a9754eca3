//! A convolutional backbone as data. The network, its memory estimate and its exports all follow from
//! it.

use crate::architecture::{Block, Layer};
use crate::convolution::Convolution;
use crate::image::Shape;

/// A network from images to features: parts one after another, then global average pooling. If there
/// are no parts, the pixels themselves are the features.
///
/// ```
/// use rehearsal_kernels::{Convolution, Part, Plan, PlannedLayer, Shape};
///
/// let conv = Convolution { kernel: 7, stride: 2, cin: 3, cout: 16 };
/// let plan = Plan(vec![Part::Layer(PlannedLayer::new("stem", conv)), Part::MaxPool { kernel: 3, stride: 2 }]);
/// assert_eq!(plan.features(Shape { n: 1, h: 224, w: 224, c: 3 }), 16);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan(pub Vec<Part>);

/// A part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a network has a few of them")]
pub enum Part {
    /// A layer and a `ReLU`.
    Layer(PlannedLayer),
    /// The maximum of each window, with a padding of half a window.
    MaxPool {
        /// Side of the window.
        kernel: usize,
        /// Pixels from one window to the next.
        stride: usize,
    },
    /// `relu(second(relu(first(x))) + shortcut(x))`.
    Residual {
        /// First layer.
        first: PlannedLayer,
        /// Second layer.
        second: PlannedLayer,
        /// The layer that changes the shape of the input; without it the input itself is added.
        shortcut: Option<PlannedLayer>,
    },
}

/// A convolution without bias, and its batch norm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLayer {
    /// Its arrays in the backbone's state are `NAME.weight`, `NAME.scale`, `NAME.shift`,
    /// `NAME.running_mean` and `NAME.running_variance`.
    pub name: String,
    /// The convolution, with a padding of half its kernel.
    pub conv: Convolution,
    /// The names of the convolution and the norm in `PyTorch`.
    pub torch: [String; 2],
}

impl PlannedLayer {
    /// A layer that is a `Sequential` of convolution and norm in `PyTorch`.
    pub fn new(name: &str, conv: Convolution) -> Self {
        Self { name: name.to_owned(), conv, torch: [format!("{name}.0"), format!("{name}.1")] }
    }

    /// The same layer under other names in `PyTorch`.
    #[must_use]
    pub fn in_torch(self, conv: String, norm: String) -> Self {
        Self { torch: [conv, norm], ..self }
    }
}

impl Plan {
    /// ResNet-18 for small images: a 3×3 stem, then four stages of two residual blocks with 1, 2, 4
    /// and 8 times `width` channels.
    pub fn resnet18(channels: usize, width: usize) -> Self {
        let stem = Convolution { kernel: 3, stride: 1, cin: channels, cout: width };
        let mut parts = vec![Part::Layer(PlannedLayer::new("stem", stem).in_torch("conv1".into(), "bn1".into()))];
        let mut cin = width;
        for block in 0..8 {
            let (stage, half) = (block / 2, block % 2);
            let cout = width.saturating_mul(1 << stage);
            let stride = if stage > 0 && half == 0 { 2 } else { 1 };
            let torch = format!("layer{}.{half}", stage + 1);
            let layer = |name: &str, kernel, stride, cin, [conv, norm]: [&str; 2]| {
                let conv_norm = Convolution { kernel, stride, cin, cout };
                PlannedLayer::new(&format!("blocks.{block}.{name}"), conv_norm)
                    .in_torch(format!("{torch}.{conv}"), format!("{torch}.{norm}"))
            };
            parts.push(Part::Residual {
                first: layer("conv1", 3, stride, cin, ["conv1", "bn1"]),
                second: layer("conv2", 3, 1, cout, ["conv2", "bn2"]),
                shortcut: (stride == 2).then(|| layer("shortcut", 1, stride, cin, ["downsample.0", "downsample.1"])),
            });
            cin = cout;
        }
        Self(parts)
    }

    /// Three strided convolutions with 1, 2 and 4 times `width` channels.
    pub fn tiny(channels: usize, width: usize) -> Self {
        let wide = |times| width.saturating_mul(times);
        let layers = [(channels, width), (width, wide(2)), (wide(2), wide(4))].into_iter().enumerate();
        let layer = |(index, (cin, cout))| {
            let conv = Convolution { kernel: 3, stride: 2, cin, cout };
            Part::Layer(PlannedLayer::new(&format!("layers.{index}"), conv))
        };
        Self(layers.map(layer).collect())
    }

    /// One hidden layer of `width` units: a convolution of one pixel.
    pub fn hidden(channels: usize, width: usize) -> Self {
        let conv = Convolution { kernel: 1, stride: 1, cin: channels, cout: width };
        Self(vec![Part::Layer(PlannedLayer::new("hidden", conv))])
    }

    /// Every layer, in the order of parameters; in a block: first, second, shortcut.
    pub fn layers(&self) -> impl Iterator<Item = &PlannedLayer> {
        self.0.iter().flat_map(|part| {
            let layers = match part {
                Part::Layer(layer) => [Some(layer), None, None],
                Part::MaxPool { .. } => [None; 3],
                Part::Residual { first, second, shortcut } => [Some(first), Some(second), shortcut.as_ref()],
            };
            layers.into_iter().flatten()
        })
    }

    /// The layers with their shapes for images of shape `input`, and the residual blocks.
    ///
    /// # Panics
    /// If a stride is 0.
    pub fn shaped(&self, input: Shape) -> (Vec<Layer>, Vec<Block>) {
        let (mut layers, mut blocks, mut shape) = (Vec::new(), Vec::new(), input);
        let mut add = |planned: &PlannedLayer, input: Shape| {
            let output = planned.conv.output(input);
            layers.push(Layer { conv: planned.conv, input, output });
            (layers.len() - 1, output)
        };
        for part in &self.0 {
            shape = match part {
                Part::Layer(layer) => add(layer, shape).1,
                Part::MaxPool { stride, .. } => {
                    Shape { h: shape.h.div_ceil(*stride), w: shape.w.div_ceil(*stride), ..shape }
                }
                Part::Residual { first, second, shortcut } => {
                    let (first, middle) = add(first, shape);
                    let (second, output) = add(second, middle);
                    let shortcut = shortcut.as_ref().map(|layer| add(layer, shape).0);
                    blocks.push(Block { first, second, shortcut });
                    output
                }
            };
        }
        (layers, blocks)
    }

    /// How many features an image of shape `input` has.
    pub fn features(&self, input: Shape) -> usize {
        let convolved = || self.layers().last().map_or(input.c, |layer| layer.conv.cout);
        if self.0.is_empty() { input.h * input.w * input.c } else { convolved() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stem of torchvision: 7×7 with stride 2, then max pooling.
    #[test]
    fn torchvisions_resnet18_is_a_plan() {
        let conv = Convolution { kernel: 7, stride: 2, cin: 3, cout: 64 };
        let stem = PlannedLayer::new("stem", conv).in_torch("conv1".into(), "bn1".into());
        let mut plan = Plan::resnet18(3, 64);
        plan.0.splice(..1, [Part::Layer(stem), Part::MaxPool { kernel: 3, stride: 2 }]);
        let parameters: usize = plan.layers().map(|layer| layer.conv.weights() + 2 * layer.conv.cout).sum();
        assert_eq!(parameters, 11_176_512);
        let input = Shape { n: 1, h: 224, w: 224, c: 3 };
        let (layers, blocks) = plan.shaped(input);
        let sides = blocks.iter().map(|block| (layers[block.second].output.h, layers[block.second].output.c));
        let stages = [(56, 64), (28, 128), (14, 256), (7, 512)];
        assert!(sides.eq(stages.into_iter().flat_map(|stage| [stage; 2])));
        assert_eq!((layers[0].output.h, plan.features(input)), (112, 512));
    }
}
