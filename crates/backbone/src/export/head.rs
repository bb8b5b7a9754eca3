//! From features to probabilities, as operations of a graph: what [`Feature::new`], [`Head::distances`]
//! and [`Head::probabilities`] compute.
//!
//! [`Feature::new`]: rehearsal_gaussian::Feature::new

use rehearsal_gaussian::Head;
use rehearsal_onnx::{GraphWriter, Value, int};

/// A raw coordinate of 1, as in [`rehearsal_gaussian::Feature`], and the largest one.
const ONE: f32 = 4096.0;
const LARGEST: f32 = 32_767.0;

/// Adds the head behind features `[1, dimensions]`, with outputs `probabilities`, `distance` and
/// `class`. Distances are divided by twice the temperature.
pub(super) fn predicted(graph: &mut GraphWriter, features: &Value, head: &Head, per_distance: f32) {
    let rounded = rounded(graph, features, head.dimensions());
    let distances = distances(graph, &rounded, head);
    let one = || vec![int("keepdims", 0)];
    let smallest = graph.node("distance", "ReduceMin", &[&distances], one());
    graph.node("class", "ArgMin", &[&distances], vec![int("axis", 0), int("keepdims", 0)]);
    let differences = graph.node("head.behind", "Sub", &[&smallest, &distances], Vec::new());
    let factor = graph.constant("head.per-distance", &[], &[per_distance]);
    let logits = graph.node("head.logits", "Mul", &[&differences, &factor], Vec::new());
    graph.node("probabilities", "Softmax", &[&logits], vec![int("axis", 0)]);
}

/// Features scaled to a mean square of 1 and rounded to 12 fractional bits.
fn rounded(graph: &mut GraphWriter, features: &Value, dimensions: usize) -> Value {
    let (one, limit) = (graph.constant("feature.1", &[], &[ONE]), graph.constant("feature.largest", &[], &[LARGEST]));
    let least = graph.constant("feature.least", &[], &[-LARGEST]);
    // All zeros stay zeros.
    let tiny = graph.constant("feature.tiny", &[], &[f32::MIN_POSITIVE]);
    let size = graph.constant("feature.size", &[], &[dimensions as f32]);
    let axis = graph.constant("feature.axis", &[1], &[1i64]);
    let mut op = |name: &str, operation: &str, inputs: &[&Value]| graph.node(name, operation, inputs, Vec::new());
    let square = op("feature.squares", "Mul", &[features, features]);
    let square = op("feature.square", "ReduceSum", &[&square, &axis]);
    let square = op("feature.square.positive", "Max", &[&square, &tiny]);
    let mean = op("feature.per-square", "Div", &[&size, &square]);
    let root = op("feature.root", "Sqrt", &[&mean]);
    let scale = op("feature.scale", "Mul", &[&root, &one]);
    let scaled = op("feature.scaled", "Mul", &[features, &scale]);
    let whole = op("feature.whole", "Round", &[&scaled]);
    let limited = op("feature.limited", "Clip", &[&whole, &least, &limit]);
    op("feature", "Div", &[&limited, &one])
}

/// Squared distances `[classes]` to the class means.
fn distances(graph: &mut GraphWriter, feature: &Value, head: &Head) -> Value {
    let d = head.dimensions();
    let whitening = graph.constant("head.whitening", &[d, d], &square(head));
    let means = graph.constant("head.means", &[head.names().len(), d], head.means());
    let white = graph.node("head.white", "Gemm", &[feature, &whitening], vec![int("transB", 1)]);
    let differences = graph.node("head.differences", "Sub", &[&means, &white], Vec::new());
    // `ReduceSumSquare` changed between versions of the operators: graphs around other networks have theirs.
    let squares = graph.node("head.squares", "Mul", &[&differences, &differences], Vec::new());
    let axis = graph.constant("head.axis", &[1], &[1i64]);
    graph.node("head.distances", "ReduceSum", &[&squares, &axis], vec![int("keepdims", 0)])
}

/// The whitening matrix with its zeros, row by row.
fn square(head: &Head) -> Vec<f32> {
    let d = head.dimensions();
    let (mut full, mut start) = (vec![0.0; d * d], 0);
    for (row, to) in full.chunks_exact_mut(d.max(1)).enumerate() {
        to[..=row].copy_from_slice(&head.whitening()[start..][..=row]);
        start += row + 1;
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whitening_matrix_has_its_zeros() {
        let head = Head::from_parts(2, vec!["a".into()], vec![1.0, 2.0, 3.0], vec![0.0; 2]).unwrap();
        assert_eq!(square(&head), [1.0, 0.0, 2.0, 3.0]);
    }
}
