//! Networks of basic residual blocks (ResNet-18 and -34) at inference: a 7×7 stem, max pooling, 3×3
//! convolutions with their norms folded in, `ReLU`, and the mean over all pixels.
//!
//! Every output is computed by one sequence of operations that depends on the layer alone. So the
//! result is the same bits for every batch size and number of threads.

mod max_pool;

use crate::buffer::Buffer;
use crate::convolution::{Convolution, Machine, PackedForward};
use crate::engine::average;
use crate::image::{Image, Layout, Shape};
use crate::mobile::stem::{Padding, Stem};
use crate::mobile::{By, Folded};
use crate::size;

/// Images that go through the layers together: weights are read from memory once for all of them.
const TOGETHER: usize = 8;

/// A basic residual block: `relu(second(relu(first(x))) + shortcut(x))`. Weights are `[k, k, cin, cout]`.
#[derive(Clone, Copy, Debug)]
pub struct BasicBlock<'a> {
    /// The stride of the first convolution and the shortcut: 1 or 2.
    pub stride: usize,
    /// 3×3.
    pub first: Folded<'a>,
    /// 3×3 at stride 1.
    pub second: Folded<'a>,
    /// 1×1; without it the input itself is added.
    pub shortcut: Option<Folded<'a>>,
}

/// A network from colour images to features.
pub struct ResidualNet {
    stem: Stem<7>,
    blocks: Vec<Block>,
    isa: crate::Isa,
}

struct Block {
    first: Layer,
    second: Layer,
    shortcut: Option<Layer>,
}

/// A convolution and its bias.
struct Layer {
    conv: Convolution,
    weights: PackedForward,
    bias: Buffer,
}

impl Layer {
    fn new(machine: &Machine, kernel: usize, stride: usize, cin: usize, folded: Folded<'_>) -> Self {
        let conv = Convolution { kernel, stride, cin, cout: folded.bias.len() };
        let mut bias = Buffer::new(folded.bias.len());
        bias.copy_from_slice(folded.bias);
        Self { conv, weights: PackedForward::new(machine, conv, folded.weights), bias }
    }

    fn run(&self, machine: &Machine, from: &Image, to: &mut Image, residual: Option<&Image>, relu: bool) {
        to.lay_out(Layout::bordered(self.conv.output(from.shape())));
        self.weights.finish(machine, from, to, &self.bias, residual, relu);
    }
}

impl Block {
    fn new(machine: &Machine, cin: usize, parameters: &BasicBlock<'_>) -> Self {
        let &BasicBlock { stride, first, second, shortcut } = parameters;
        let first = Layer::new(machine, 3, stride, cin, first);
        let second = Layer::new(machine, 3, 1, first.conv.cout, second);
        let shortcut = shortcut.map(|folded| Layer::new(machine, 1, stride, cin, folded));
        let added = shortcut.as_ref().map_or((cin, 1), |layer| (layer.conv.cout, stride));
        assert_eq!(added, (second.conv.cout, stride), "a shortcut has the shape of the block's output");
        Self { first, second, shortcut }
    }

    /// Computes the block from the first image, with the others as work memory; the result is in the first.
    fn run(&self, machine: &Machine, images: &mut [Image; 3]) {
        let [from, middle, other] = images;
        self.first.run(machine, from, middle, None, true);
        if let Some(shortcut) = &self.shortcut {
            shortcut.run(machine, from, other, None, false);
            self.second.run(machine, middle, from, Some(other), true);
        } else {
            self.second.run(machine, middle, other, Some(from), true);
            images.swap(0, 2);
        }
    }
}

impl ResidualNet {
    /// Packs the weights for `machine`'s instructions. The stem's weights are `[7, 7, 3, cout]`.
    ///
    /// # Panics
    /// If the parameters do not fit together.
    pub fn new(machine: &Machine, stem: Folded<'_>, blocks: &[BasicBlock<'_>]) -> Self {
        let stem = Stem::new(machine, stem, Padding::Half, f32::INFINITY);
        let mut channels = stem.channels();
        let blocks = blocks.iter().map(|parameters| {
            let block = Block::new(machine, channels, parameters);
            channels = block.second.conv.cout;
            block
        });
        Self { blocks: blocks.collect(), stem, isa: machine.isa }
    }

    /// How many features an image has.
    pub fn features(&self) -> usize {
        self.blocks.last().map_or(self.stem.channels(), |block| block.second.conv.cout)
    }

    /// Computes the features `[n, features]` of images `[n, h, w, 3]`.
    ///
    /// # Panics
    /// If a length does not fit, an image has no pixel, or `machine` has other instructions than the
    /// one the weights were packed for.
    pub fn run(&self, machine: &Machine, images: &[f32], shape: Shape, features: &mut [f32]) {
        assert!(self.isa == machine.isa, "weights packed for other instructions");
        assert!(shape.c == 3 && !shape.is_empty(), "colour images, not {shape:?}");
        assert_eq!(images.len(), shape.len(), "images of {shape:?}");
        assert_eq!(features.len(), size::floats([shape.n, self.features()]), "features of {} images", shape.n);
        let each = shape.len() / shape.n;
        let together = shape.n.min(TOGETHER);
        let mut room = self.room(Shape { n: together, ..shape });
        let groups = images.chunks(together * each).zip(features.chunks_mut(together * self.features()));
        for (images, features) in groups {
            self.begin(machine, images, Shape { n: images.len() / each, ..shape }, &mut room[0]);
            self.blocks.iter().for_each(|block| block.run(machine, &mut room));
            features.copy_from_slice(&average(&room[0]));
        }
    }

    /// The shape of the blocks' input.
    fn pooled(&self, shape: Shape) -> Shape {
        let (h, w) = max_pool::output(Stem::<7>::output((shape.h, shape.w)));
        Shape { h, w, c: self.stem.channels(), ..shape }
    }

    /// Three images, each large enough for the largest.
    fn room(&self, shape: Shape) -> [Image; 3] {
        let first = Layout::bordered(self.pooled(shape));
        let (mut input, mut most) = (first.shape(), first.len());
        for block in &self.blocks {
            input = block.second.conv.output(block.first.conv.output(input));
            most = most.max(Layout::bordered(input).len());
        }
        [(); 3].map(|()| Image::with_room(first, most))
    }

    /// Stem and max pooling.
    fn begin(&self, machine: &Machine, images: &[f32], shape: Shape, to: &mut Image) {
        to.lay_out(Layout::bordered(self.pooled(shape)));
        let size = (shape.h, shape.w);
        let (rows, columns) = Stem::<7>::output(size);
        let convolved = Shape { n: 1, h: rows, w: columns, c: self.stem.channels() };
        let mut scratch = machine.spare.lend(convolved.len() + self.stem.scratch(size));
        let (middle, work) = scratch.split_at_mut(convolved.len());
        let by = By { isa: machine.isa, pool: Some(&machine.pool) };
        for (n, image) in images.chunks_exact(shape.len() / shape.n).enumerate() {
            self.stem.run(by, image, size, work, middle);
            max_pool::run(machine, middle, convolved, to, n);
        }
    }
}
