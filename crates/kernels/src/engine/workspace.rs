//! The memory of a forward pass, and the shelf where it waits for the next one.
//!
//! A pass with a tape keeps every convolution's output and every activation. A pass without one needs, per stage, two
//! convolution outputs and three activations, which it writes again and again: small enough to stay in the caches.

use crate::architecture::{Architecture, Block, Layer};
use crate::image::{Image, Layout, Shape};
use std::sync::{Mutex, PoisonError};

/// Images of one pass. `outputs` are the convolutions' (before the norm), `activations` what follows a `ReLU` (bordered).
pub(crate) struct Workspace {
    pub batch: usize,
    pub taped: bool,
    pub input: Image,
    outputs: Vec<Image>,
    activations: Vec<Image>,
    output_of: Vec<usize>,
    activation_of: Vec<usize>,
}

/// The activation written by the stem.
pub(crate) const STEM: usize = 0;

/// The activation in the middle of block `b`.
pub(crate) fn middle(b: usize) -> usize {
    1 + 2 * b
}

/// The activation at the end of block `b`.
pub(crate) fn end(b: usize) -> usize {
    2 + 2 * b
}

/// The activation block `b` reads.
pub(crate) fn before(b: usize) -> usize {
    2 * b
}

impl Workspace {
    fn new(architecture: Architecture, layers: &[Layer], blocks: &[Block], batch: usize, taped: bool) -> Self {
        let of = |shape: Shape| Shape { n: batch, ..shape };
        let mut plan = Plan { taped, outputs: Vec::new(), activations: Vec::new() };
        let mut output_of = vec![0; layers.len()];
        let mut activation_of = vec![0; 1 + 2 * blocks.len()];
        let stem = of(layers[0].output);
        output_of[0] = plan.output(stem, 0);
        activation_of[STEM] = plan.activation(stem, 0);
        for (b, block) in blocks.iter().enumerate() {
            let shape = of(layers[block.second].output);
            output_of[block.first] = plan.output(shape, 0);
            output_of[block.second] = plan.output(shape, 0);
            if let Some(shortcut) = block.shortcut {
                output_of[shortcut] = plan.output(shape, 1);
            }
            activation_of[middle(b)] = plan.activation(shape, 1);
            activation_of[end(b)] = plan.activation(shape, if b % 2 == 0 { 2 } else { 0 });
        }
        Self {
            batch,
            taped,
            input: Image::new(Layout::bordered(architecture.input(batch))),
            outputs: plan.outputs.into_iter().map(|(shape, _)| Image::new(Layout::plain(shape))).collect(),
            activations: plan.activations.into_iter().map(|(shape, _)| Image::new(Layout::bordered(shape))).collect(),
            output_of,
            activation_of,
        }
    }

    pub(crate) fn output(&self, layer: usize) -> &Image {
        &self.outputs[self.output_of[layer]]
    }

    pub(crate) fn activation(&self, which: usize) -> &Image {
        &self.activations[self.activation_of[which]]
    }

    /// An activation to read and a convolution's output to write.
    pub(crate) fn convolve(&mut self, from: Option<usize>, layer: usize) -> (&Image, &mut Image) {
        let input = from.map_or(&self.input, |which| &self.activations[self.activation_of[which]]);
        (input, &mut self.outputs[self.output_of[layer]])
    }

    /// The activation to write, beside everything an activation is made of: all outputs by layer, and maybe another activation.
    pub(crate) fn activate(&mut self, to: usize, residual: Option<usize>) -> (Outputs<'_>, Option<&Image>, &mut Image) {
        let outputs = Outputs { images: &self.outputs, of: &self.output_of };
        let to = self.activation_of[to];
        match residual {
            None => (outputs, None, &mut self.activations[to]),
            Some(residual) => {
                let both = [to, self.activation_of[residual]];
                let [to, residual] = self.activations.get_disjoint_mut(both).expect("two activations");
                (outputs, Some(residual), to)
            }
        }
    }
}

/// Convolution outputs by layer.
#[derive(Clone, Copy)]
pub(crate) struct Outputs<'a> {
    images: &'a [Image],
    of: &'a [usize],
}

impl<'a> Outputs<'a> {
    pub(crate) fn get(self, layer: usize) -> &'a Image {
        &self.images[self.of[layer]]
    }
}

/// Shapes of the images to allocate; without a tape, images of one shape and role are shared.
struct Plan {
    taped: bool,
    outputs: Vec<(Shape, usize)>,
    activations: Vec<(Shape, usize)>,
}

impl Plan {
    fn output(&mut self, shape: Shape, role: usize) -> usize {
        Self::find(self.taped, &mut self.outputs, shape, role)
    }

    fn activation(&mut self, shape: Shape, role: usize) -> usize {
        Self::find(self.taped, &mut self.activations, shape, role)
    }

    fn find(taped: bool, images: &mut Vec<(Shape, usize)>, shape: Shape, role: usize) -> usize {
        let shared = images.iter().position(|&image| !taped && image == (shape, role));
        shared.unwrap_or_else(|| {
            images.push((shape, role));
            images.len() - 1
        })
    }
}

/// Workspaces not in use.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Vec<Workspace>>);

/// More than this many unused workspaces are thrown away, the oldest first: a step needs two tapes and one pass without.
const KEPT: usize = 3;

impl Shelf {
    pub(crate) fn take(
        &self,
        architecture: Architecture,
        layers: &[Layer],
        blocks: &[Block],
        batch: usize,
        taped: bool,
    ) -> Workspace {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match free.iter().rposition(|w| w.batch == batch && w.taped == taped) {
            Some(found) => free.remove(found),
            None => Workspace::new(architecture, layers, blocks, batch, taped),
        }
    }

    pub(crate) fn put(&self, workspace: Workspace) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(workspace);
        if free.len() > KEPT {
            free.remove(0);
        }
    }
}
