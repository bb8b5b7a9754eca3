//! Parameters as the caller has them, and as the kernels want them.

use crate::architecture::Layer;
use crate::convolution::{Machine, PackedForward, PackedInputGradient};
use std::sync::OnceLock;

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

/// One version of all parameters, packed and transformed. What only a backward pass needs is packed by the first one.
pub struct PackedParameters {
    pub(super) layers: Vec<PackedLayer>,
}

pub(super) struct PackedLayer {
    layer: Layer,
    weight: Vec<f32>,
    pub gamma: Vec<f32>,
    pub beta: Vec<f32>,
    pub forward: PackedForward,
    input_gradient: OnceLock<PackedInputGradient>,
}

impl PackedParameters {
    pub(super) fn new(machine: &Machine, layers: &[Layer], parameters: &[LayerParameters<'_>]) -> Self {
        assert_eq!(layers.len(), parameters.len(), "one set of parameters per layer");
        let pack = |(&layer, given): (&Layer, &LayerParameters<'_>)| {
            assert_eq!(
                [given.gamma.len(), given.beta.len()],
                [layer.conv.cout; 2],
                "gamma and beta of {:?}",
                layer.conv
            );
            PackedLayer {
                layer,
                weight: given.weight.to_vec(),
                gamma: given.gamma.to_vec(),
                beta: given.beta.to_vec(),
                forward: PackedForward::new(machine, layer.conv, given.weight),
                input_gradient: OnceLock::new(),
            }
        };
        Self { layers: layers.iter().zip(parameters).map(pack).collect() }
    }
}

impl PackedLayer {
    pub(super) fn input_gradient(&self, machine: &Machine) -> &PackedInputGradient {
        self.input_gradient.get_or_init(|| PackedInputGradient::new(machine, self.layer.conv, &self.weight))
    }
}
