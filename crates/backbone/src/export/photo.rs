//! From a photo's bytes to what a network reads, as operations of a graph: the same part of the photo
//! and the same bytes as [`Preprocessing::fit`].
//!
//! ONNX's own `Resize` does not give these bytes: our window begins and ends between pixels, and our
//! filter has weights of 16 bits and rounds to bytes after each of its two passes. So each pass is a
//! matrix product here, with weights that the graph computes from the photo's size.

use rehearsal_data::Preprocessing;
use rehearsal_onnx::{ElementKind, GraphWriter, Value, int, ints, length};

use super::{pass::Pass, steps::Steps};

/// Adds what comes before the network. Gives `[1, 3, height, width]`.
pub(super) fn prepared(graph: &mut GraphWriter, photo: &Value, preprocessing: &Preprocessing) -> Value {
    let (height, width) = (preprocessing.shape.height, preprocessing.shape.width);
    let mut part = Steps { graph, of: "photo" };
    let lengths = part.op("lengths", "Shape", &[photo]);
    let [rows, columns] = [("rows", 0i64), ("columns", 1)].map(|(name, axis)| {
        let axis = part.constant(&format!("{name}.axis"), axis);
        part.op(name, "Gather", &[&lengths, &axis])
    });
    let kept_rows = largest(graph, "kept-rows", &rows, &columns, (height, width));
    let kept_columns = largest(graph, "kept-columns", &columns, &rows, (width, height));
    let down = Pass::new(graph, "down", &rows, &kept_rows, height, preprocessing);
    let across = Pass::new(graph, "across", &columns, &kept_columns, width, preprocessing);
    let resized = resized(graph, photo, &down, &across);
    normalised(graph, &resized, preprocessing)
}

/// How many of the pixels along an axis belong to the largest part with the proportions of `to`: this
/// axis first.
fn largest(graph: &mut GraphWriter, name: &str, own: &Value, other: &Value, to: (usize, usize)) -> Value {
    let mut part = Steps { graph, of: name };
    let [own_to, other_to] = [("to", to.0), ("other-to", to.1)].map(|(name, to)| part.constant(name, length(to)));
    let one = part.constant("one", 1i64);
    let times = part.op("times", "Mul", &[other, &own_to]);
    let fitting = part.op("fitting", "Div", &[&times, &other_to]);
    let fitting = part.op("at-least-one", "Max", &[&fitting, &one]);
    part.op("length", "Min", &[own, &fitting])
}

/// Both passes: rows first, as our filter does. Gives bytes as `f32`, `[3, height, width]`.
fn resized(graph: &mut GraphWriter, photo: &Value, down: &Pass, across: &Pass) -> Value {
    let axes = graph.constant("part.axes", &[2], &[0i64, 1]);
    let flat = graph.constant("part.flat", &[2], &[0i64, -1]);
    let colours = graph.constant("part.colours", &[3], &[0i64, -1, 3]);
    let mut part = Steps { graph, of: "part" };
    let first = part.with("first", "Concat", &[&down.first, &across.first], vec![int("axis", 0)]);
    let end = part.with("end", "Concat", &[&down.end, &across.end], vec![int("axis", 0)]);
    let pixels = part.op("pixels", "Slice", &[photo, &first, &end, &axes]);
    let pixels = part.cast("values", &pixels, ElementKind::Float);
    let pixels = part.op("rows", "Reshape", &[&pixels, &flat]);
    let mut part = Steps { graph, of: "down" };
    let coarse = part.op("coarse.product", "MatMul", &[&down.coarse, &pixels]);
    let rest = part.op("rest.product", "MatMul", &[&down.rest, &pixels]);
    let bytes = part.bytes(&coarse, &rest, &down.one);
    let bytes = part.op("colours", "Reshape", &[&bytes, &colours]);
    let bytes = part.with("planes", "Transpose", &[&bytes], vec![ints("perm", &[2, 0, 1])]);
    let mut part = Steps { graph, of: "across" };
    let turned = || vec![ints("perm", &[1, 0])];
    let coarse = part.with("coarse.turned", "Transpose", &[&across.coarse], turned());
    let rest = part.with("rest.turned", "Transpose", &[&across.rest], turned());
    let coarse = part.op("coarse.product", "MatMul", &[&bytes, &coarse]);
    let rest = part.op("rest.product", "MatMul", &[&bytes, &rest]);
    part.bytes(&coarse, &rest, &across.one)
}

/// `(byte − mean) / std` for each channel, as a batch of one.
fn normalised(graph: &mut GraphWriter, bytes: &Value, preprocessing: &Preprocessing) -> Value {
    let batch = graph.constant("image.batch", &[1], &[0i64]);
    let mean = graph.constant("image.mean", &[3, 1, 1], &preprocessing.mean);
    let std = graph.constant("image.std", &[3, 1, 1], &preprocessing.std);
    let mut part = Steps { graph, of: "image" };
    let centred = part.op("centred", "Sub", &[bytes, &mean]);
    let scaled = part.op("scaled", "Div", &[&centred, &std]);
    part.op("normalised", "Unsqueeze", &[&scaled, &batch])
}
