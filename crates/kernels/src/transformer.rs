//! Vision transformers at inference: patches, attention, `LayerNorm`, GELU; the class token is the
//! feature.
//!
//! Every number is computed by one sequence of operations that depends on the shapes alone. So the
//! result is the same bits for every batch size and number of threads.

mod attention;
mod norm;

use crate::convolution::Machine;
use crate::image::Shape;
use crate::mobile::pointwise::{Activation, Pointwise};
use crate::mobile::{By, Folded, each_image};
use crate::size;
use attention::Attention;
use norm::Norm;

/// A `LayerNorm`.
#[derive(Clone, Copy, Debug)]
pub struct NormParameters<'a> {
    /// The factors of the normalised numbers.
    pub weight: &'a [f32],
    /// Added to them.
    pub bias: &'a [f32],
    /// Added to the variance.
    pub epsilon: f32,
}

/// Attention, then a perceptron, each added to its input. Weights are `[cin, cout]`; a `LayerScale` is
/// folded into `project` and `contract`.
#[derive(Clone, Copy, Debug)]
pub struct BlockParameters<'a> {
    /// Before attention.
    pub norm1: NormParameters<'a>,
    /// Queries, keys and values.
    pub qkv: Folded<'a>,
    /// After attention.
    pub project: Folded<'a>,
    /// Before the perceptron.
    pub norm2: NormParameters<'a>,
    /// Followed by GELU.
    pub expand: Folded<'a>,
    /// The perceptron's second layer.
    pub contract: Folded<'a>,
}

struct Block {
    norm1: Norm,
    qkv: Pointwise,
    project: Pointwise,
    norm2: Norm,
    expand: Pointwise,
    contract: Pointwise,
}

/// A network from colour images to features.
pub struct VisionTransformer {
    patch: usize,
    heads: usize,
    width: usize,
    patches: Pointwise,
    blocks: Vec<Block>,
    norm: Norm,
    isa: crate::Isa,
}

/// The sizes of work memory for images of one size.
struct Plan {
    tokens: usize,
    /// Floats of all tokens.
    narrow: usize,
    /// Floats of the largest intermediate result.
    wide: usize,
    scratch: usize,
}

impl VisionTransformer {
    /// Packs the weights for `machine`'s instructions. The weights of `patches` are
    /// `[patch, patch, 3, width]`.
    ///
    /// # Panics
    /// If the parameters do not fit together.
    pub fn new(
        machine: &Machine,
        patch: usize,
        heads: usize,
        patches: Folded<'_>,
        blocks: &[BlockParameters<'_>],
        norm: NormParameters<'_>,
    ) -> Self {
        let width = patches.bias.len();
        assert!(patch > 0 && heads > 0 && width.is_multiple_of(heads), "whole heads and patches");
        let patches = Pointwise::new(machine, size::floats([patch, patch, 3]), patches);
        let blocks = blocks.iter().map(|block| Block::new(machine, width, block)).collect();
        Self { patch, heads, width, patches, blocks, norm: Norm::new(width, norm), isa: machine.isa }
    }

    /// How many features an image has.
    pub fn features(&self) -> usize {
        self.width
    }

    /// Computes the features `[n, features]` of images `[n, h, w, 3]`. Pixels outside whole patches are
    /// ignored. `start` is the initial value of each token, `[1 + patches, width]`: the class token with
    /// its position first, then the positions of the patches.
    ///
    /// # Panics
    /// If a length does not fit, an image has no patch, or `machine` has other instructions than the one
    /// the weights were packed for.
    pub fn run(&self, machine: &Machine, images: &[f32], shape: Shape, start: &[f32], features: &mut [f32]) {
        assert!(self.isa == machine.isa, "weights packed for other instructions");
        let grid = (shape.h / self.patch, shape.w / self.patch);
        assert!(shape.c == 3 && shape.n > 0 && grid.0 > 0 && grid.1 > 0, "colour images of a patch, not {shape:?}");
        assert_eq!(images.len(), shape.len(), "images of {shape:?}");
        assert_eq!(features.len(), size::floats([shape.n, self.width]), "features of {} images", shape.n);
        let plan = self.plan(grid);
        assert_eq!(start.len(), plan.narrow, "a start for each of {} tokens", plan.tokens);
        each_image(machine, images, shape.n, plan.scratch, features, |by, image, scratch, features| {
            self.one(by, image, shape.w, grid, start, &plan, scratch, features);
        });
    }

    fn plan(&self, grid: (usize, usize)) -> Plan {
        let tokens = 1 + size::floats([grid.0, grid.1]);
        let hidden = self.blocks.iter().map(|block| block.expand.cout().max(block.qkv.cout())).max();
        let (narrow, wide) = (
            size::floats([tokens, self.width]),
            size::floats([tokens, hidden.unwrap_or(0).max(self.patch * self.patch * 3)]),
        );
        let scratch = 3 * narrow + wide + self.attention(tokens).scratch(self.isa);
        Plan { tokens, narrow, wide, scratch }
    }

    fn attention(&self, tokens: usize) -> Attention {
        Attention { heads: self.heads, depth: self.width / self.heads, tokens }
    }

    /// The features of one image, by this thread or by all.
    fn one(
        &self,
        by: By<'_>,
        image: &[f32],
        columns: usize,
        grid: (usize, usize),
        start: &[f32],
        plan: &Plan,
        scratch: &mut [f32],
        features: &mut [f32],
    ) {
        let tokens = plan.tokens;
        let (x, rest) = scratch.split_at_mut(plan.narrow);
        let (y, rest) = rest.split_at_mut(plan.narrow);
        let (narrow, rest) = rest.split_at_mut(plan.narrow);
        let (wide, work) = rest.split_at_mut(plan.wide);
        self.cut(image, columns, grid, wide);
        x[..self.width].copy_from_slice(&start[..self.width]);
        let positions = Some(&start[self.width..]);
        self.patches.run(by, wide, tokens - 1, &mut x[self.width..], Activation::Linear, positions);
        for block in &self.blocks {
            block.norm1.run(by, x, narrow);
            block.qkv.run(by, narrow, tokens, wide, Activation::Linear, None);
            self.attention(tokens).run(by, wide, work, narrow);
            block.project.run(by, narrow, tokens, y, Activation::Linear, Some(x));
            block.norm2.run(by, y, narrow);
            block.expand.run(by, narrow, tokens, wide, Activation::Gelu, None);
            block.contract.run(by, wide, tokens, x, Activation::Linear, Some(y));
        }
        self.norm.run(by, &x[..self.width], features);
    }

    /// The patches of an image, one after another.
    fn cut(&self, image: &[f32], columns: usize, grid: (usize, usize), to: &mut [f32]) {
        let run = self.patch * 3;
        let mut runs = to.chunks_exact_mut(run);
        for (y, x) in (0..grid.0).flat_map(|y| (0..grid.1).map(move |x| (y, x))) {
            for (row, to) in (0..self.patch).zip(&mut runs) {
                let at = ((y * self.patch + row) * columns + x * self.patch) * 3;
                to.copy_from_slice(&image[at..][..run]);
            }
        }
    }
}

impl Block {
    fn new(machine: &Machine, width: usize, parameters: &BlockParameters<'_>) -> Self {
        let block = Self {
            norm1: Norm::new(width, parameters.norm1),
            qkv: Pointwise::new(machine, width, parameters.qkv),
            project: Pointwise::new(machine, width, parameters.project),
            norm2: Norm::new(width, parameters.norm2),
            expand: Pointwise::new(machine, width, parameters.expand),
            contract: Pointwise::new(machine, parameters.expand.bias.len(), parameters.contract),
        };
        assert_eq!(block.qkv.cout(), 3 * width, "queries, keys and values have {width} numbers each");
        let ends = [block.project.cout(), block.contract.cout()];
        assert_eq!(ends, [width; 2], "a layer with a residual has {width} outputs");
        block
    }
}
