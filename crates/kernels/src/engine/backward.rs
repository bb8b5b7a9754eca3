//! The backward pass: from the gradient of the features to the gradient of every parameter.

use super::parameters::LayerParameters;
use super::workspace::{self, STEM, Workspace};
use super::{Engine, Tape};
use crate::architecture::{Block, Layer};
use crate::convolution::{PackedInputGradient, weight_gradient};
use crate::image::{Image, Layout, Shape};
use crate::norm::{Backward, gate};
use crate::sums::Sums;

/// Gradients of one layer's parameters, shaped like them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerGradient {
    /// `[k, k, cin, cout]`.
    pub weight: Vec<f32>,
    /// `[cout]`.
    pub gamma: Vec<f32>,
    /// `[cout]`.
    pub beta: Vec<f32>,
}

/// Gradients of all layers, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients {
    /// One per layer.
    pub layers: Vec<LayerGradient>,
}

/// Memory of a backward pass, by stage: gradients of a block's end and middle, and (bordered) of
/// two convolutions' outputs.
pub(super) struct Scratch {
    batch: usize,
    stages: Vec<Stage>,
    sums: Sums<3>,
}

struct Stage {
    end: Image,
    middle: Image,
    output: Image,
    shortcut: Image,
}

impl Scratch {
    pub(super) fn new(layers: &[Layer], blocks: &[Block], batch: usize) -> Self {
        let stage = |block: &Block| {
            let shape = Shape { n: batch, ..layers[block.second].output };
            let (plain, bordered) = (Layout::plain(shape), Layout::bordered(shape));
            Stage {
                end: Image::new(plain),
                middle: Image::new(plain),
                output: Image::new(bordered),
                shortcut: Image::new(bordered),
            }
        };
        let stages = blocks.iter().step_by(2).map(stage).collect();
        Self { batch, stages, sums: Sums::default() }
    }

    pub(super) fn batch(&self) -> usize {
        self.batch
    }
}

impl Tape {
    /// Images of the pass.
    pub fn batch(&self) -> usize {
        self.workspace().batch
    }

    fn workspace(&self) -> &Workspace {
        self.workspace.as_ref().expect("a tape has its workspace until it is dropped")
    }
}

impl Engine {
    /// The caller has checked that parameters, tape and gradient are this network's.
    pub(super) fn gradients(
        &self,
        parameters: &[LayerParameters<'_>],
        tape: &Tape,
        grad_features: &[f32],
        scratch: &mut Scratch,
        gradients: &mut Gradients,
    ) {
        let Scratch { stages, sums, .. } = scratch;
        let layers = &mut gradients.layers;
        layers.resize_with(self.layers.len(), LayerGradient::default);
        let mut pass = Pass { engine: self, parameters, tape, sums, layers };
        spread(grad_features, &mut stages.last_mut().expect("four stages").end);
        for (b, block) in self.blocks.iter().enumerate().rev() {
            let (earlier, here) = stages.split_at_mut(b / 2);
            pass.block(b, block, &mut here[0], earlier.last_mut());
        }
        pass.stem(&mut stages[0]);
    }
}

struct Pass<'a> {
    engine: &'a Engine,
    parameters: &'a [LayerParameters<'a>],
    tape: &'a Tape,
    sums: &'a mut Sums<3>,
    layers: &'a mut [LayerGradient],
}

impl Pass<'_> {
    /// On entry `here.end` is the gradient of the block's end; on return, the gradient of its
    /// beginning is in `here.end` or, if the shape changes, in `earlier.end`.
    fn block(&mut self, b: usize, block: &Block, here: &mut Stage, earlier: Option<&mut Stage>) {
        let tape = self.tape.workspace();
        let (before, middle, end) = (workspace::before(b), workspace::middle(b), workspace::end(b));
        let Stage { end: end_grad, middle: middle_grad, output, shortcut } = here;
        self.gate(end, block.second, block.shortcut, end_grad);
        if let Some(layer) = block.shortcut {
            self.norm(layer, 2, end_grad, shortcut);
            self.weight(layer, tape.activation(before), shortcut);
        }
        self.norm(block.second, 1, end_grad, output);
        self.weight(block.second, tape.activation(middle), output);
        self.packed(block.second).run(&self.engine.machine, output, middle_grad);
        self.gate(middle, block.first, None, middle_grad);
        self.norm(block.first, 1, middle_grad, output);
        self.weight(block.first, tape.activation(before), output);
        let machine = &self.engine.machine;
        match (block.shortcut, earlier) {
            (Some(layer), Some(earlier)) => {
                self.packed(block.first).run(machine, output, &mut earlier.end);
                self.packed(layer).add(machine, shortcut, &mut earlier.end);
            }
            _ => self.packed(block.first).add(machine, output, end_grad),
        }
    }

    fn stem(&mut self, stage: &mut Stage) {
        self.gate(STEM, 0, None, &mut stage.end);
        self.norm(0, 1, &stage.end, &mut stage.output);
        self.weight(0, &self.tape.workspace().input, &stage.output);
    }

    fn packed(&self, layer: usize) -> PackedInputGradient {
        let (machine, conv) = (&self.engine.machine, self.engine.layers[layer].conv);
        PackedInputGradient::new(machine, conv, self.parameters[layer].weight)
    }

    /// Masks the gradient of an activation and computes the sums that the norms of `layer` and
    /// `shortcut` need.
    fn gate(&mut self, activation: usize, layer: usize, shortcut: Option<usize>, grad: &mut Image) {
        let tape = self.tape.workspace();
        let shortcut = shortcut.map(|layer| tape.output(layer));
        gate(&self.engine.machine, tape.activation(activation), tape.output(layer), shortcut, grad, self.sums);
    }

    /// Backward through the norm of `layer`, whose sum with the output is the `kind`-th of the sums.
    fn norm(&mut self, layer: usize, kind: usize, grad: &Image, output_grad: &mut Image) {
        let y = self.tape.workspace().output(layer);
        let sums = self.sums.totals().into_iter().map(|sums| [sums[0], sums[kind]]);
        let gamma = self.parameters[layer].gamma;
        let statistics = &self.tape.statistics[layer];
        let (backward, own) = Backward::new(statistics, gamma, sums, y.shape().pixels(), self.tape.running);
        backward.run(&self.engine.machine, grad, y, output_grad);
        self.layers[layer].gamma = own.gamma;
        self.layers[layer].beta = own.beta;
    }

    fn weight(&mut self, layer: usize, input: &Image, output_grad: &Image) {
        let conv = self.engine.layers[layer].conv;
        let gradient = &mut self.layers[layer].weight;
        gradient.resize(conv.weights(), 0.0);
        weight_gradient(&self.engine.machine, conv, input, output_grad, gradient);
    }
}

/// The gradient of the mean over pixels: every pixel gets the same share.
fn spread(grad_features: &[f32], image: &mut Image) {
    let shape = image.shape();
    let share = 1.0 / (shape.h * shape.w) as f32;
    for (n, grad) in grad_features.chunks_exact(shape.c).enumerate() {
        for row in 0..shape.h {
            for pixel in image.row_mut(n, row).chunks_exact_mut(shape.c) {
                pixel.iter_mut().zip(grad).for_each(|(to, g)| *to = g * share);
            }
        }
    }
}
