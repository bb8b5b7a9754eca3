//! A graph of operations while it is written: nodes one after another, each named for what it gives.

use prost::Message;

use crate::{
    Foreign, ForeignError,
    messages::{
        self, Attribute, AttributeKind, ElementKind, Graph, Node, OperatorSet, Shape, Tensor, TensorKind, ValueInfo,
        ValueKind,
    },
};

/// The set of operators: what every runtime of the last years has.
const OPSET: i64 = 17;
/// The version of the file's own layout that goes with it.
const IR_VERSION: i64 = 8;

/// The value that a node gives, by name.
#[derive(Clone, Debug)]
pub struct Value(String);

/// A graph without its inputs and outputs.
#[derive(Default)]
pub struct GraphWriter {
    /// The fields of the graph that are written already.
    written: Vec<u8>,
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
    needs: Needs,
}

/// What a runtime needs to know to run a graph.
pub(crate) struct Needs {
    pub ir_version: i64,
    pub operators: Vec<OperatorSet>,
    /// Functions that operations call.
    pub functions: Vec<Vec<u8>>,
}

impl Default for Needs {
    fn default() -> Self {
        let operators = vec![OperatorSet { domain: String::new(), version: OPSET }];
        Self { ir_version: IR_VERSION, operators, functions: Vec::new() }
    }
}

/// A whole graph.
pub struct FinishedGraph {
    pub(crate) bytes: Vec<u8>,
    pub(crate) needs: Needs,
}

/// A number that constants are made of.
pub trait Element: Copy {
    /// Its name in the format.
    const KIND: ElementKind;

    /// Appends it, little-endian.
    fn write(self, to: &mut Vec<u8>);
}

impl Element for f32 {
    const KIND: ElementKind = ElementKind::Float;

    fn write(self, to: &mut Vec<u8>) {
        to.extend(self.to_le_bytes());
    }
}

impl Element for f64 {
    const KIND: ElementKind = ElementKind::Double;

    fn write(self, to: &mut Vec<u8>) {
        to.extend(self.to_le_bytes());
    }
}

impl Element for i32 {
    const KIND: ElementKind = ElementKind::Int32;

    fn write(self, to: &mut Vec<u8>) {
        to.extend(self.to_le_bytes());
    }
}

impl Element for i64 {
    const KIND: ElementKind = ElementKind::Int64;

    fn write(self, to: &mut Vec<u8>) {
        to.extend(self.to_le_bytes());
    }
}

impl GraphWriter {
    /// What goes into the graph under that name.
    pub fn input(name: &str) -> Value {
        Value(name.to_owned())
    }

    /// A constant, row-major, of the type of `values` (`1.0` alone is an `f64`). Without axes it is one
    /// number.
    pub fn constant<E: Element>(&mut self, name: &str, shape: &[usize], values: &[E]) -> Value {
        let mut raw_data = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.write(&mut raw_data));
        self.constants.push(Tensor {
            dims: shape.iter().map(|&axis| length(axis)).collect(),
            data_type: E::KIND.into(),
            name: name.to_owned(),
            raw_data,
        });
        Value(name.to_owned())
    }

    /// An operation, whose result is called `name`.
    pub fn node(&mut self, name: &str, operation: &str, inputs: &[&Value], attributes: Vec<Attribute>) -> Value {
        self.nodes.push(Node {
            input: inputs.iter().map(|input| input.0.clone()).collect(),
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: operation.to_owned(),
            attribute: attributes,
        });
        Value(name.to_owned())
    }

    /// Puts a network of another program behind a value. Gives its output. The graph then has the
    /// operators of that network, so only one can be put in.
    ///
    /// # Errors
    /// Its operators are too old.
    pub fn insert(&mut self, network: &Foreign<'_>, input: &Value) -> Result<Value, ForeignError> {
        network.check_operators()?;
        let [from, to] = network.edges();
        self.node(&from, "Identity", &[input], Vec::new());
        self.flush();
        network.put(&mut self.written)?;
        self.needs = Needs {
            ir_version: network.ir_version.max(IR_VERSION),
            operators: network.operators.clone(),
            functions: network.functions.iter().map(|function| function.to_vec()).collect(),
        };
        Ok(Value(to))
    }

    /// Writes the operations so far: fields of a message may come in any number of pieces.
    fn flush(&mut self) {
        let (node, initializer) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.constants));
        self.written.extend(Graph { node, initializer, ..Graph::default() }.encode_to_vec());
    }

    /// The whole graph.
    pub fn finish(mut self, name: &str, input: Vec<ValueInfo>, output: Vec<ValueInfo>) -> FinishedGraph {
        self.flush();
        let edges = Graph { name: name.to_owned(), input, output, ..Graph::default() };
        self.written.extend(edges.encode_to_vec());
        FinishedGraph { bytes: self.written, needs: self.needs }
    }
}

/// An attribute that is a number.
pub fn float(name: &str, value: f32) -> Attribute {
    Attribute { f: Some(value), ..attribute(name, AttributeKind::Float) }
}

/// An attribute that is a whole number.
pub fn int(name: &str, value: i64) -> Attribute {
    Attribute { i: Some(value), ..attribute(name, AttributeKind::Int) }
}

/// An attribute that is a list of whole numbers.
pub fn ints(name: &str, values: &[usize]) -> Attribute {
    Attribute { ints: values.iter().map(|&value| length(value)).collect(), ..attribute(name, AttributeKind::Ints) }
}

fn attribute(name: &str, kind: AttributeKind) -> Attribute {
    Attribute { name: name.to_owned(), kind: kind.into(), ..Attribute::default() }
}

/// As ONNX writes lengths.
pub fn length(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The length of an axis of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis<'a> {
    /// Always this one.
    Fixed(usize),
    /// Any, called by this name.
    Any(&'a str),
}

/// An input or output of a graph.
pub fn value(name: &str, element: ElementKind, axes: &[Axis<'_>], about: &str) -> ValueInfo {
    let axis = |axis: &Axis<'_>| match *axis {
        Axis::Fixed(number) => messages::Axis { length: Some(length(number)), name: None },
        Axis::Any(name) => messages::Axis { length: None, name: Some(name.to_owned()) },
    };
    let shape = Shape { dim: axes.iter().map(axis).collect() };
    let kind = ValueKind { tensor: Some(TensorKind { element: element.into(), shape: Some(shape) }) };
    ValueInfo { name: name.to_owned(), kind: Some(kind), doc_string: about.to_owned() }
}
