//! Layers of our networks as operations of a graph, channels first.

use rehearsal_onnx::{GraphWriter, Value, int, ints, length};

use crate::folding::Layer;

/// What a convolution reads for one output.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub kernel: usize,
    pub stride: usize,
    /// Rows and columns of zeros before the image, and after it.
    pub pads: [usize; 2],
    pub is_depthwise: bool,
}

impl Window {
    pub const POINTWISE: Self = Self { kernel: 1, stride: 1, pads: [0; 2], is_depthwise: false };
}

/// Adds a convolution. Its layer has weights `[taps, cin, cout]`; of a depthwise one `[taps, channels]`.
pub(crate) fn convolution(graph: &mut GraphWriter, name: &str, layer: &Layer, window: Window, x: &Value) -> Value {
    let Window { kernel, stride, pads: [before, after], is_depthwise } = window;
    let (taps, cout) = (kernel * kernel, layer.bias.len());
    let cin = layer.weights.len() / (taps * cout);
    let turned = outputs_first(&layer.weights, taps, cin, cout);
    let weights = graph.constant(&format!("{name}.weight"), &[cout, cin, kernel, kernel], &turned);
    let bias = graph.constant(&format!("{name}.bias"), &[cout], &layer.bias);
    let attributes = vec![
        ints("kernel_shape", &[kernel; 2]),
        ints("strides", &[stride; 2]),
        ints("pads", &[before, before, after, after]),
        int("group", if is_depthwise { length(cout) } else { 1 }),
    ];
    graph.node(name, "Conv", &[x, &weights, &bias], attributes)
}

/// Adds a linear layer behind rows `[n, cin]`.
pub(crate) fn linear(graph: &mut GraphWriter, name: &str, layer: &Layer, x: &Value) -> Value {
    let cout = layer.bias.len();
    let weights = graph.constant(&format!("{name}.weight"), &[layer.weights.len() / cout, cout], &layer.weights);
    let bias = graph.constant(&format!("{name}.bias"), &[cout], &layer.bias);
    graph.node(name, "Gemm", &[x, &weights, &bias], Vec::new())
}

/// Adds the mean over height and width: `[1, channels]`, the features.
pub(crate) fn pooled(graph: &mut GraphWriter, x: &Value) -> Value {
    let pooled = graph.node("backbone.pooled", "GlobalAveragePool", &[x], Vec::new());
    graph.node("backbone.features", "Flatten", &[&pooled], vec![int("axis", 1)])
}

/// `[taps, cin, cout]` as `[cout, cin, taps]`.
fn outputs_first(weights: &[f32], taps: usize, cin: usize, cout: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(weights.len());
    for output in 0..cout {
        for input in 0..cin {
            turned.extend((0..taps).map(|tap| weights[(tap * cin + input) * cout + output]));
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_turned_to_outputs_first() {
        // Two taps, two inputs, three outputs: the value says where it stood.
        let values: Vec<f32> = (0..12).map(|at| at as f32).collect();
        let turned = outputs_first(&values, 2, 2, 3);
        assert_eq!(turned, [0.0, 6.0, 3.0, 9.0, 1.0, 7.0, 4.0, 10.0, 2.0, 8.0, 5.0, 11.0]);
    }
}
