//! The forward pass: convolution, norm, residual, `ReLU`, and the mean over pixels at the end.

use super::parameters::PackedParameters;
use super::workspace::{self, STEM, Workspace};
use super::{Engine, Forward, Tape};
use crate::image::Image;
use crate::norm::{Affine, Residual, Statistics, activate};
use crate::sums::Sums;
use std::sync::Arc;

impl Engine {
    pub(super) fn forward(
        &self,
        parameters: &PackedParameters,
        running: Option<&[Statistics]>,
        images: &[f32],
        taped: bool,
    ) -> Forward {
        let one = self.architecture.input(1).len();
        assert!(!images.is_empty(), "a batch has at least one image");
        assert!(images.len().is_multiple_of(one), "{} floats are not whole images of {one}", images.len());
        parameters.check(self.architecture);
        if let Some(running) = running {
            assert_eq!(running.len(), self.layers.len(), "running statistics of every layer");
            running.iter().zip(&self.layers).for_each(|(statistics, layer)| statistics.check(layer.conv.cout));
        }
        let batch = images.len() / one;
        let mut workspace = self.shelf.take(self.architecture, &self.layers, &self.blocks, batch, taped);
        workspace.input.fill(images);
        let statistics = running.unwrap_or_default().to_vec();
        let mut pass = Pass { engine: self, parameters, running, workspace, statistics, moments: Sums::default() };
        let features = pass.run();
        let Pass { workspace, statistics, .. } = pass;
        let tape = if taped {
            let running = running.is_some();
            let (workspace, statistics) = (Some(workspace), statistics.clone());
            Some(Tape {
                architecture: self.architecture,
                workspace,
                statistics,
                running,
                shelf: Arc::clone(&self.shelf),
            })
        } else {
            self.shelf.put(workspace);
            None
        };
        Forward { features, statistics: if running.is_some() { Vec::new() } else { statistics }, tape }
    }
}

struct Pass<'a> {
    engine: &'a Engine,
    parameters: &'a PackedParameters,
    running: Option<&'a [Statistics]>,
    workspace: Workspace,
    statistics: Vec<Statistics>,
    moments: Sums<2>,
}

impl Pass<'_> {
    fn run(&mut self) -> Vec<f32> {
        let engine = self.engine;
        let stem = self.convolve(0, None);
        let (outputs, _, to) = self.workspace.activate(STEM, None);
        activate(&engine.machine, outputs.get(0), &stem, Residual::None, to);
        for (b, block) in engine.blocks.iter().enumerate() {
            let (before, middle, end) = (workspace::before(b), workspace::middle(b), workspace::end(b));
            let affine = self.convolve(block.first, Some(before));
            let (outputs, _, to) = self.workspace.activate(middle, None);
            activate(&engine.machine, outputs.get(block.first), &affine, Residual::None, to);
            let affine = self.convolve(block.second, Some(middle));
            let shortcut = block.shortcut.map(|layer| (layer, self.convolve(layer, Some(before))));
            let (outputs, identity, to) = self.workspace.activate(end, Some(before));
            let residual = match &shortcut {
                Some((layer, affine)) => Residual::Normalised(outputs.get(*layer), affine),
                None => identity.map_or(Residual::None, Residual::Identity),
            };
            activate(&engine.machine, outputs.get(block.second), &affine, residual, to);
        }
        average(self.workspace.activation(workspace::end(engine.blocks.len() - 1)))
    }

    /// Convolves, and returns the norm that follows.
    fn convolve(&mut self, layer: usize, from: Option<usize>) -> Affine {
        let packed = &self.parameters.layers[layer];
        let (input, output) = self.workspace.convolve(from, layer);
        let moments = self.running.is_none().then_some(&mut self.moments);
        packed.forward.run(&self.engine.machine, input, output, moments);
        if self.running.is_none() {
            self.statistics.push(Statistics::new(&self.moments, output.shape().pixels()));
        }
        Affine::new(&self.statistics[layer], &packed.gamma, &packed.beta)
    }
}

/// The mean over all pixels of each image: `[n, c]`.
pub(crate) fn average(image: &Image) -> Vec<f32> {
    let shape = image.shape();
    let mut features = vec![0.0f32; shape.n * shape.c];
    for (n, sums) in features.chunks_exact_mut(shape.c).enumerate() {
        for y in 0..shape.h {
            for pixel in image.row(n, y).chunks_exact(shape.c) {
                sums.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += x);
            }
        }
        for sum in sums {
            *sum /= (shape.h * shape.w) as f32;
        }
    }
    features
}
