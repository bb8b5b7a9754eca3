//! The network as operations of an ONNX graph.

use rehearsal_onnx::{GraphWriter, Value};

use super::{BlockLayers, Layers, SIZE};
use crate::{
    export::layers::{Window, convolution, pooled},
    folding::Layer,
};

/// Adds the network behind an image `[1, 3, 224, 224]`. Gives features `[1, 1280]`.
pub(super) fn write(graph: &mut GraphWriter, image: &Value, layers: &Layers) -> Value {
    let (least, most) =
        (graph.constant("backbone.relu6.least", &[], &[0.0f32]), graph.constant("backbone.relu6.most", &[], &[6.0f32]));
    let mut writer = Writer { graph, least, most };
    let mut x = writer.relu6("stem", &layers.stem, same(3, 2, SIZE, false), image);
    let mut size = SIZE / 2;
    for (index, block) in layers.blocks.iter().enumerate() {
        x = writer.block(index, block, size, &x);
        size = size.div_ceil(block.stride);
    }
    let x = writer.relu6("head", &layers.head, Window::POINTWISE, &x);
    pooled(graph, &x)
}

struct Writer<'a> {
    graph: &'a mut GraphWriter,
    least: Value,
    most: Value,
}

impl Writer<'_> {
    fn block(&mut self, index: usize, block: &BlockLayers, size: usize, x: &Value) -> Value {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let expanded = match &block.expand {
            Some(expand) => self.relu6(&name("expand"), expand, Window::POINTWISE, x),
            None => x.clone(),
        };
        let depthwise = same(block.kernel, block.stride, size, true);
        let filtered = self.relu6(&name("depthwise"), &block.depthwise, depthwise, &expanded);
        let projected = format!("backbone.{}", name("project"));
        let projected = convolution(self.graph, &projected, &block.project, Window::POINTWISE, &filtered);
        if block.is_residual() {
            self.graph.node(&format!("backbone.{}", name("sum")), "Add", &[&projected, x], Vec::new())
        } else {
            projected
        }
    }

    fn relu6(&mut self, name: &str, layer: &Layer, window: Window, x: &Value) -> Value {
        let y = convolution(self.graph, &format!("backbone.{name}"), layer, window, x);
        self.graph.node(&format!("backbone.{name}.relu6"), "Clip", &[&y, &self.least, &self.most], Vec::new())
    }
}

/// Padding as TensorFlow's "SAME": what is odd goes to the bottom and right.
fn same(kernel: usize, stride: usize, size: usize, is_depthwise: bool) -> Window {
    let padded = ((size.div_ceil(stride) - 1) * stride + kernel).saturating_sub(size);
    Window { kernel, stride, pads: [padded / 2, padded.div_ceil(2)], is_depthwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_odd_of_the_padding_is_at_the_end() {
        let pads = |kernel, stride, size| same(kernel, stride, size, true).pads;
        assert_eq!(pads(3, 2, 224), [0, 1]);
        assert_eq!(pads(5, 2, 56), [1, 2]);
        assert_eq!(pads(5, 1, 14), [2, 2]);
        assert_eq!(pads(1, 1, 7), [0, 0]);
    }
}
