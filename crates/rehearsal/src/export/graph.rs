//! A graph of operations while it is written: nodes one after another, each named for what it gives.

use super::messages::{
    Attribute, AttributeKind, Axis, ElementKind, Graph, Node, Shape, Tensor, TensorKind, ValueInfo, ValueKind,
};

/// The value that a node gives, by name.
#[derive(Clone, Debug)]
pub(super) struct Value(String);

/// A graph without its inputs and outputs.
#[derive(Default)]
pub(super) struct GraphWriter {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

impl GraphWriter {
    /// What goes into the graph under that name.
    pub(super) fn input(name: &str) -> Value {
        Value(name.to_owned())
    }

    /// A constant of `f32`, row-major.
    pub(super) fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Value {
        self.constants.push(Tensor {
            dims: shape.iter().map(|&length| whole(length)).collect(),
            data_type: ElementKind::Float.into(),
            name: name.to_owned(),
            raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        });
        Value(name.to_owned())
    }

    /// An operation, whose result is called `name`.
    pub(super) fn node(&mut self, name: &str, operation: &str, inputs: &[&Value], attributes: Vec<Attribute>) -> Value {
        self.nodes.push(Node {
            input: inputs.iter().map(|input| input.0.clone()).collect(),
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: operation.to_owned(),
            attribute: attributes,
        });
        Value(name.to_owned())
    }

    /// The whole graph.
    pub(super) fn finish(self, name: &str, input: ValueInfo, output: ValueInfo) -> Graph {
        let (node, initializer) = (self.nodes, self.constants);
        Graph { node, name: name.to_owned(), initializer, input: vec![input], output: vec![output] }
    }
}

/// An attribute that is a number.
pub(super) fn float(name: &str, value: f32) -> Attribute {
    Attribute { f: Some(value), ..attribute(name, AttributeKind::Float) }
}

/// An attribute that is a whole number.
pub(super) fn int(name: &str, value: i64) -> Attribute {
    Attribute { i: Some(value), ..attribute(name, AttributeKind::Int) }
}

/// An attribute that is a list of whole numbers.
pub(super) fn ints(name: &str, values: &[usize]) -> Attribute {
    Attribute { ints: values.iter().map(|&value| whole(value)).collect(), ..attribute(name, AttributeKind::Ints) }
}

fn attribute(name: &str, kind: AttributeKind) -> Attribute {
    Attribute { name: name.to_owned(), kind: kind.into(), ..Attribute::default() }
}

/// As ONNX writes lengths.
fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A value at the edge of the graph: any number of rows of these lengths.
pub(super) fn edge(name: &str, element: ElementKind, lengths: &[usize], about: String) -> ValueInfo {
    let any = Axis { length: None, name: Some("n".into()) };
    let fixed = lengths.iter().map(|&length| Axis { length: Some(whole(length)), name: None });
    let shape = Shape { dim: std::iter::once(any).chain(fixed).collect() };
    let kind = ValueKind { tensor: Some(TensorKind { element: element.into(), shape: Some(shape) }) };
    ValueInfo { name: name.to_owned(), kind: Some(kind), doc_string: about }
}
