//! The network as operations of an ONNX graph, channels first.

use rehearsal_onnx::{Attribute, GraphWriter, Value, int, ints, length};

use super::{BlockLayers, Layer, Layers, SIZE};

/// Adds the network behind an image `[1, 3, 224, 224]`. Gives features `[1, 1280]`.
pub(super) fn write(graph: &mut GraphWriter, image: &Value, layers: &Layers) -> Value {
    let (least, most) =
        (graph.constant("backbone.relu6.least", &[], &[0.0f32]), graph.constant("backbone.relu6.most", &[], &[6.0f32]));
    let mut writer = Writer { graph, least, most };
    let stem = Convolution { kernel: 3, stride: 2, depthwise: false };
    let x = writer.relu6("stem", &layers.stem, stem, SIZE, image);
    let (mut x, mut size) = (x, SIZE / 2);
    for (index, block) in layers.blocks.iter().enumerate() {
        x = writer.block(index, block, size, &x);
        size = size.div_ceil(block.stride);
    }
    let x = writer.relu6("head", &layers.head, POINTWISE, size, &x);
    let pooled = graph.node("backbone.pooled", "GlobalAveragePool", &[&x], Vec::new());
    graph.node("backbone.features", "Flatten", &[&pooled], vec![int("axis", 1)])
}

#[derive(Clone, Copy)]
struct Convolution {
    kernel: usize,
    stride: usize,
    depthwise: bool,
}

const POINTWISE: Convolution = Convolution { kernel: 1, stride: 1, depthwise: false };

struct Writer<'a> {
    graph: &'a mut GraphWriter,
    least: Value,
    most: Value,
}

impl Writer<'_> {
    fn block(&mut self, index: usize, block: &BlockLayers, size: usize, x: &Value) -> Value {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let expanded = match &block.expand {
            Some(expand) => self.relu6(&name("expand"), expand, POINTWISE, size, x),
            None => x.clone(),
        };
        let depthwise = Convolution { kernel: block.kernel, stride: block.stride, depthwise: true };
        let filtered = self.relu6(&name("depthwise"), &block.depthwise, depthwise, size, &expanded);
        let projected = self.convolution(&name("project"), &block.project, POINTWISE, size, &filtered);
        if block.is_residual() {
            self.graph.node(&format!("backbone.{}", name("sum")), "Add", &[&projected, x], Vec::new())
        } else {
            projected
        }
    }

    fn relu6(&mut self, name: &str, layer: &Layer, form: Convolution, size: usize, x: &Value) -> Value {
        let y = self.convolution(name, layer, form, size, x);
        self.graph.node(&format!("backbone.{name}.relu6"), "Clip", &[&y, &self.least, &self.most], Vec::new())
    }

    fn convolution(&mut self, name: &str, layer: &Layer, form: Convolution, size: usize, x: &Value) -> Value {
        let (weights, cout) = (&layer.weights, layer.bias.len());
        let taps = form.kernel * form.kernel;
        // Weights are `[taps, cin, cout]`, of a depthwise convolution `[taps, channels]`.
        let cin = weights.len() / (taps * cout);
        let shape = [cout, cin, form.kernel, form.kernel];
        let weights =
            self.graph.constant(&format!("backbone.{name}.weight"), &shape, &outputs_first(weights, taps, cin, cout));
        let bias = self.graph.constant(&format!("backbone.{name}.bias"), &[cout], &layer.bias);
        let mut attributes = window(form, size);
        attributes.push(int("group", if form.depthwise { length(cout) } else { 1 }));
        self.graph.node(&format!("backbone.{name}"), "Conv", &[x, &weights, &bias], attributes)
    }
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

/// The convolution's attributes; padding as TensorFlow's "SAME": what is odd goes to the bottom and right.
fn window(form: Convolution, size: usize) -> Vec<Attribute> {
    let padded = ((size.div_ceil(form.stride) - 1) * form.stride + form.kernel).saturating_sub(size);
    let (before, after) = (padded / 2, padded.div_ceil(2));
    vec![
        ints("kernel_shape", &[form.kernel; 2]),
        ints("strides", &[form.stride; 2]),
        ints("pads", &[before, before, after, after]),
    ]
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

    #[test]
    fn what_is_odd_of_the_padding_is_at_the_end() {
        let pads = |kernel, stride, size| {
            let attributes = window(Convolution { kernel, stride, depthwise: true }, size);
            attributes.into_iter().find(|attribute| attribute.name == "pads").map(|pads| pads.ints)
        };
        assert_eq!(pads(3, 2, 224), Some(vec![0, 0, 1, 1]));
        assert_eq!(pads(5, 2, 56), Some(vec![1, 1, 2, 2]));
        assert_eq!(pads(5, 1, 14), Some(vec![2, 2, 2, 2]));
        assert_eq!(pads(1, 1, 7), Some(vec![0, 0, 0, 0]));
    }
}
