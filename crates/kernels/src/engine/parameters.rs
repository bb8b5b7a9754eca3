//! Parameters as the caller has them, and packed for the kernels.

use crate::architecture::{Architecture, Layer};
use crate::convolution::{Machine, PackedForward};

/// One layer's parameters.
#[derive(Clone, Copy, Debug)]
pub struct LayerParameters<'a> {
    /// `[k, k, cin, cout]`.
    pub weight: &'a [f32],
    /// `[cout]`.
    pub gamma: &'a [f32],
    /// `[cout]`.
    pub beta: &'a [f32],
}

/// Panics if the parameters do not fit these layers.
pub(super) fn check(layers: &[Layer], parameters: &[LayerParameters<'_>]) {
    assert_eq!(parameters.len(), layers.len(), "one set of parameters per layer");
    for (index, (Layer { conv, .. }, given)) in layers.iter().zip(parameters).enumerate() {
        let lengths = [given.weight.len(), given.gamma.len(), given.beta.len()];
        let expected = [conv.weights(), conv.cout, conv.cout];
        assert_eq!(lengths, expected, "weight, gamma and beta of layer {index}, {conv:?}");
    }
}

/// One version of all parameters, packed and transformed for forward passes. A backward pass packs
/// one layer after another for itself, because kept packings would double the memory.
///
/// Any engine of the same architecture and instructions may use them; it computes with the algorithm
/// of the engine that packed them.
pub struct PackedParameters {
    architecture: Architecture,
    pub(super) layers: Vec<PackedLayer>,
}

pub(super) struct PackedLayer {
    pub gamma: Vec<f32>,
    pub beta: Vec<f32>,
    pub forward: PackedForward,
}

impl PackedParameters {
    pub(super) fn new(
        machine: &Machine,
        architecture: Architecture,
        layers: &[Layer],
        parameters: &[LayerParameters<'_>],
    ) -> Self {
        check(layers, parameters);
        let pack = |(layer, given): (&Layer, &LayerParameters<'_>)| PackedLayer {
            gamma: given.gamma.to_vec(),
            beta: given.beta.to_vec(),
            forward: PackedForward::new(machine, layer.conv, given.weight),
        };
        Self { architecture, layers: layers.iter().zip(parameters).map(pack).collect() }
    }

    /// Panics if the network has other dimensions. (Each layer checks the instructions.)
    pub(super) fn check(&self, architecture: Architecture) {
        assert_eq!(self.architecture, architecture, "parameters were packed for a network of these dimensions");
    }
}
