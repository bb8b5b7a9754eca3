//! The network that predicts as an ONNX graph, from bytes to probabilities. Batch normalisation
//! stays a node of its own, with the statistics that the model predicts with: runtimes fold it.

use rehearsal_onnx::{Attribute, Axis, ElementKind, GraphWriter, Value, float, int, ints, value};

use super::{Predictor, weights::channels_first};
use crate::network::{HeadKind, Part, PlannedLayer};

/// As in the norm of `network/conv_norm.rs`.
const NORM_EPSILON: f32 = 1e-5;
/// As in the directions of `network/head.rs`.
const DIRECTION_EPSILON: f32 = 1e-6;

/// The bytes of the model; none if they are more than the format can hold.
pub(super) fn encode(predictor: &Predictor) -> Option<Vec<u8>> {
    let about = &predictor.about;
    let (image, seen) = (about.image, about.classes.len());
    let mut network = Writer { graph: GraphWriter::default(), predictor };
    let bytes = GraphWriter::input("images");
    let features = network.features(&bytes);
    let logits = network.logits(&features);
    network.graph.node("probabilities", "Softmax", &[&logits], vec![int("axis", 1)]);
    let any = Axis::Any("n");
    let input = value(
        "images",
        ElementKind::Uint8,
        &[any, Axis::Fixed(image.height), Axis::Fixed(image.width), Axis::Fixed(image.channels)],
        "bytes of n images, row by row, channels last (grey, or red, green, blue)",
    );
    let about_output = "of each class, in the order of `classes`";
    let output = value("probabilities", ElementKind::Float, &[any, Axis::Fixed(seen)], about_output);
    let graph = network.graph.finish("classifier", vec![input], vec![output]);
    let text = "An image classifier: bytes to probabilities. Its classes are in the metadata.";
    rehearsal_onnx::encode(graph, text, about.version, &metadata(predictor))
}

/// What the model says about itself: values are JSON.
fn metadata(predictor: &Predictor) -> [(&'static str, String); 3] {
    let about = &predictor.about;
    let json = |value: Result<String, serde_json::Error>| value.expect("names and numbers are plain data");
    [
        ("classes", json(serde_json::to_string(&about.classes))),
        ("image", json(serde_json::to_string(&about.image))),
        ("preprocessing", json(serde_json::to_string(&about.preprocessing))),
    ]
}

struct Writer<'a> {
    graph: GraphWriter,
    predictor: &'a Predictor,
}

impl Writer<'_> {
    /// Bytes `[n, h, w, c]` to features `[n, d]`.
    fn features(&mut self, bytes: &Value) -> Value {
        let float_kind = vec![int("to", ElementKind::Float as i64)];
        let values = self.graph.node("values", "Cast", &[bytes], float_kind);
        let most = self.graph.constant("255", &[], &[255.0f32]);
        let shares = self.graph.node("shares", "Div", &[&values, &most], Vec::new());
        let flatten = || vec![int("axis", 1)];
        let parts = &self.predictor.plan.0;
        if parts.is_empty() {
            return self.graph.node("features", "Flatten", &[&shares], flatten());
        }
        let x = self.graph.node("x", "Transpose", &[&shares], vec![ints("perm", &[0, 3, 1, 2])]);
        let x = parts.iter().enumerate().fold(x, |x, (index, part)| self.part(index, part, &x));
        let pooled = self.graph.node("pooled", "GlobalAveragePool", &[&x], Vec::new());
        self.graph.node("features", "Flatten", &[&pooled], flatten())
    }

    /// The part of that number.
    fn part(&mut self, index: usize, part: &Part, x: &Value) -> Value {
        match part {
            Part::Layer(layer) => self.relu_layer(layer, x),
            Part::MaxPool { kernel, stride } => {
                self.graph.node(&format!("pool.{index}"), "MaxPool", &[x], window(*kernel, *stride))
            }
            Part::Residual { first, second, shortcut } => {
                let inner = self.relu_layer(first, x);
                let inner = self.layer(second, &inner);
                let shortcut = shortcut.as_ref().map_or_else(|| x.clone(), |layer| self.layer(layer, x));
                let sum = self.graph.node(&format!("{}.sum", second.name), "Add", &[&inner, &shortcut], Vec::new());
                self.graph.node(&format!("{}.relu", second.name), "Relu", &[&sum], Vec::new())
            }
        }
    }

    fn relu_layer(&mut self, layer: &PlannedLayer, x: &Value) -> Value {
        let y = self.layer(layer, x);
        self.graph.node(&format!("{}.relu", layer.name), "Relu", &[&y], Vec::new())
    }

    /// A convolution and its norm.
    fn layer(&mut self, PlannedLayer { name, conv, .. }: &PlannedLayer, x: &Value) -> Value {
        let state = &self.predictor.state.0;
        let (shape, values) = channels_first(&state[&format!("backbone.{name}.weight")]);
        let weight = self.graph.constant(&format!("{name}.weight"), &shape, &values);
        let convolution = window(conv.kernel, conv.stride);
        let y = self.graph.node(&format!("{name}.convolved"), "Conv", &[x, &weight], convolution);
        let mut vector = |part: &str| {
            let array = &state[&format!("backbone.{name}.{part}")];
            self.graph.constant(&format!("{name}.{part}"), &array.shape, &array.values)
        };
        let [scale, shift, mean, variance] = ["scale", "shift", "running_mean", "running_variance"].map(&mut vector);
        let inputs = [&y, &scale, &shift, &mean, &variance];
        let epsilon = vec![float("epsilon", NORM_EPSILON)];
        self.graph.node(&format!("{name}.normalised"), "BatchNormalization", &inputs, epsilon)
    }

    /// Features `[n, d]` to the logits `[n, seen]` of the classes that have appeared.
    fn logits(&mut self, features: &Value) -> Value {
        let state = &self.predictor.state.0;
        let by_rows = || vec![int("transB", 1)];
        match self.predictor.about.head {
            HeadKind::Linear => {
                let (weight, bias) = (&state["head.weight"], &state["head.bias"]);
                let weight = self.graph.constant("head.weight", &weight.shape, &weight.values);
                let bias = self.graph.constant("head.bias", &bias.shape, &bias.values);
                self.graph.node("logits", "Gemm", &[features, &weight, &bias], by_rows())
            }
            HeadKind::Proxies { temperature } => {
                let proxies = &state["head.proxies"];
                let directions = directions(&proxies.values, proxies.shape[1], temperature);
                let proxies = self.graph.constant("head.directions", &proxies.shape, &directions);
                let epsilon = self.graph.constant("head.epsilon", &[], &[DIRECTION_EPSILON]);
                let rows = vec![ints("axes", &[1]), int("keepdims", 1)];
                let length = self.graph.node("length", "ReduceL2", &[features], rows);
                let length = self.graph.node("length.above", "Add", &[&length, &epsilon], Vec::new());
                let direction = self.graph.node("direction", "Div", &[features, &length], Vec::new());
                self.graph.node("logits", "Gemm", &[&direction, &proxies], by_rows())
            }
        }
    }
}

/// A square window, padded by half of it.
fn window(kernel: usize, stride: usize) -> Vec<Attribute> {
    vec![ints("kernel_shape", &[kernel; 2]), ints("pads", &[kernel / 2; 4]), ints("strides", &[stride; 2])]
}

/// Each row of `size` values divided by its length and by the temperature.
fn directions(rows: &[f32], size: usize, temperature: f64) -> Vec<f32> {
    let direction = |row: &[f32]| {
        let length = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let divisor = (length + f64::from(DIRECTION_EPSILON)) * temperature;
        row.iter().map(|&value| (f64::from(value) / divisor) as f32).collect::<Vec<_>>()
    };
    rows.chunks_exact(size.max(1)).flat_map(direction).collect()
}
