//! Networks of inverted residual blocks (`MobileNetV2`, `EfficientNet`-lite) at inference: 1×1 and
//! depthwise convolutions with their norms folded in, `ReLU6`, residuals.
//!
//! A block is computed one group of expanded channels at a time: the 1×1 expansion of a strip of
//! rows goes into memory that stays in the cache, the depthwise convolution reads it there, and the
//! 1×1 projection follows when the strip is complete. Padding is TensorFlow's "SAME": at stride 2
//! the extra row and column are at the bottom and on the right.
//!
//! Every output is one chain of multiply-adds in a fixed order, however the work is divided. So the
//! result is the same bits for every batch size and number of threads, and for every instruction
//! set that has a fused multiply-add.

mod block;
mod depthwise;
mod geometry;
pub(crate) mod pointwise;
pub(crate) mod stem;

use crate::{buffer::Buffer, convolution::Machine, image::Shape, size};
use block::Block;
use geometry::Geometry;
use pointwise::Pointwise;
use stem::{Padding, Stem};

/// The weights of a convolution and its bias. A norm after it is folded in.
#[derive(Clone, Copy, Debug)]
pub struct Folded<'a> {
    /// 1×1: `[cin, cout]`. Depthwise: `[k, k, c]`. Stem: `[3, 3, 3, cout]`.
    pub weights: &'a [f32],
    /// One for each output channel.
    pub bias: &'a [f32],
}

/// An inverted residual block: 1×1 expansion, depthwise convolution, 1×1 projection. It has a
/// residual if input and output have the same shape.
#[derive(Clone, Copy, Debug)]
pub struct BlockParameters<'a> {
    /// Side of the depthwise kernel: 3 or 5.
    pub kernel: usize,
    /// 1 or 2.
    pub stride: usize,
    /// `None` if the block does not expand its input's channels.
    pub expand: Option<Folded<'a>>,
    /// The depthwise convolution.
    pub depthwise: Folded<'a>,
    /// Without activation.
    pub project: Folded<'a>,
}

/// A network from colour images to features: stem, blocks, a last 1×1 convolution and the mean over
/// all pixels.
pub struct MobileNet {
    stem: Stem<3>,
    blocks: Vec<Block>,
    head: Pointwise,
    isa: crate::Isa,
}

impl MobileNet {
    /// Packs the weights for `machine`'s instructions.
    ///
    /// # Panics
    /// If the parameters do not fit together.
    pub fn new(machine: &Machine, stem: Folded<'_>, blocks: &[BlockParameters<'_>], head: Folded<'_>) -> Self {
        let stem = Stem::new(machine, stem, Padding::Same, 6.0);
        let mut channels = stem.channels();
        let blocks = blocks.iter().map(|parameters| {
            let block = Block::new(machine, channels, parameters);
            channels = block.channels();
            block
        });
        let blocks = blocks.collect();
        Self { stem, blocks, head: Pointwise::new(machine, channels, head), isa: machine.isa }
    }

    /// How many features an image has.
    pub fn features(&self) -> usize {
        self.head.cout()
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
        let plan = Plan::new(self, shape);
        each_image(machine, images, shape.n, plan.scratch, features, |by, image, scratch, features| {
            self.one(by, image, &plan, scratch, features);
        });
    }

    /// The features of one image, by this thread or by all.
    fn one(&self, by: By<'_>, image: &[f32], plan: &Plan, scratch: &mut [f32], features: &mut [f32]) {
        let (mut from, rest) = scratch.split_at_mut(plan.activations);
        let (mut to, work) = rest.split_at_mut(plan.activations);
        self.stem.run(by, image, plan.stem, work, from);
        for (block, geometry) in self.blocks.iter().zip(&plan.blocks) {
            block.run(by, geometry, from, work, to);
            std::mem::swap(&mut from, &mut to);
        }
        let pixels = plan.last.0 * plan.last.1;
        self.head.run(by, from, pixels, work, pointwise::Activation::Relu6, None);
        mean(&work[..pixels * features.len()], features);
    }
}

/// Calls `one(by, image, scratch, features)` for each of `n` images: first one image per thread, as
/// often as there are enough images, then each of the others with all threads. `scratch` has `floats`
/// of any value.
pub(crate) fn each_image(
    machine: &Machine,
    images: &[f32],
    n: usize,
    floats: usize,
    features: &mut [f32],
    one: impl Fn(By<'_>, &[f32], &mut [f32], &mut [f32]) + Sync,
) {
    let alone = n - n % machine.threads();
    let (each, width) = (images.len() / n, features.len() / n);
    let (together, last) = features.split_at_mut(alone * width);
    let shared = crate::buffer::Shared::new(together);
    machine.pool.run(alone, |image, scratch| {
        // SAFETY: every image has features of its own.
        let to = unsafe { std::slice::from_raw_parts_mut(shared.at(image * width), width) };
        let by = By { isa: machine.isa, pool: None };
        one(by, &images[image * each..][..each], scratch.at_least(floats), to);
    });
    let mut scratch = machine.spare.lend(if last.is_empty() { 0 } else { floats });
    let by = By { isa: machine.isa, pool: Some(&machine.pool) };
    for (image, to) in images[alone * each..].chunks_exact(each).zip(last.chunks_exact_mut(width)) {
        one(by, image, &mut scratch, to);
    }
}

/// What computes: one thread, or all threads of a pool.
#[derive(Clone, Copy)]
pub(crate) struct By<'a> {
    pub isa: crate::Isa,
    pub pool: Option<&'a crate::Pool>,
}

impl By<'_> {
    /// Calls `task(i, scratch)` for every `i < tasks`; `scratch` is the thread's own, at least
    /// `floats` long, and of unspecified content.
    pub(crate) fn each(
        self,
        tasks: usize,
        floats: usize,
        scratch: &mut [f32],
        task: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        match self.pool {
            None => (0..tasks).for_each(|index| task(index, &mut scratch[..floats])),
            Some(pool) => pool.run(tasks, |index, scratch: &mut Buffer| task(index, scratch.at_least(floats))),
        }
    }

    fn is_alone(self) -> bool {
        self.pool.is_none()
    }
}

/// The sizes of all work memory for images of one size.
struct Plan {
    stem: (usize, usize),
    blocks: Vec<Geometry>,
    last: (usize, usize),
    /// Floats of the largest activation between two blocks.
    activations: usize,
    scratch: usize,
}

impl Plan {
    fn new(network: &MobileNet, shape: Shape) -> Self {
        let stem = (shape.h, shape.w);
        let (mut h, mut w) = Stem::<3>::output(stem);
        let mut activations = size::floats([h, w, network.stem.channels()]);
        let mut work = network.stem.scratch(stem);
        let mut blocks = Vec::with_capacity(network.blocks.len());
        for block in &network.blocks {
            let geometry = Geometry::new(h, w, block.kernel(), block.stride());
            (h, w) = geometry.output();
            activations = activations.max(size::floats([h, w, block.channels()]));
            work = work.max(block.scratch(&geometry));
            blocks.push(geometry);
        }
        work = work.max(size::floats([h, w, network.features()]));
        Self { stem, blocks, last: (h, w), activations, scratch: 2 * activations + work }
    }
}

/// The mean of all rows, added in order.
fn mean(rows: &[f32], to: &mut [f32]) {
    to.fill(0.0);
    for row in rows.chunks_exact(to.len()) {
        to.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let count = (rows.len() / to.len()) as f32;
    to.iter_mut().for_each(|sum| *sum /= count);
}
