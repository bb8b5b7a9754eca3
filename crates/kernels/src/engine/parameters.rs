//! Parameters as the caller has them, and as the kernels want them.

use crate::architecture::Layer;
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

/// One version of all parameters, packed and transformed for forward passes. A backward pass packs one layer after another for
/// itself: kept, that would be as much memory again.
pub struct PackedParameters {
    pub(super) layers: Vec<PackedLayer>,
}

pub(super) struct PackedLayer {
    pub gamma: Vec<f32>,
    pub beta: Vec<f32>,
    pub forward: PackedForward,
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
                gamma: given.gamma.to_vec(),
                beta: given.beta.to_vec(),
                forward: PackedForward::new(machine, layer.conv, given.weight),
            }
        };
        Self { layers: layers.iter().zip(parameters).map(pack).collect() }
    }
}
