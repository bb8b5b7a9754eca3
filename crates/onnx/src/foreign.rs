//! A network of another program, to be put into a graph of ours: its values get a prefix, all else stays
//! as it is, also what this program does not know.

use thiserror::Error;

use crate::{
    messages::OperatorSet,
    wire::{Field, FieldValue, fields, put_bytes},
};

/// What the names of its values and nodes begin with; ours do not.
const PREFIX: &str = "network/";
/// Graphs within graphs are no deeper, counted in messages.
const DEEPEST: usize = 40;
/// From this set on, the operators that our graphs consist of are what they are today.
const OLDEST_OPERATORS: i64 = 13;

/// Why a network cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// Its fields do not end where the file does, or parts are missing.
    #[error("it is not an ONNX file, or a part of one")]
    Damaged,
    /// Graphs within graphs within graphs.
    #[error("its graphs are nested too deeply")]
    TooDeep,
    /// A tensor is in another file.
    #[error("its tensor `{0}` is in another file: save the network with its weights in one file")]
    External(String),
    /// It has not one input and one output.
    #[error("expected one input and one output, found inputs: {inputs}, outputs: {outputs}")]
    Edges {
        /// Without those that are constants.
        inputs: usize,
        /// Of the whole network.
        outputs: usize,
    },
    /// Its operators are older than those of our part of the graph.
    #[error("its operators are of version {found}, expected {OLDEST_OPERATORS} or newer: convert the network")]
    OldOperators {
        /// The version of ONNX's own operators.
        found: i64,
    },
}

/// A network with one input and one output.
pub struct Foreign<'a> {
    pub(crate) ir_version: i64,
    pub(crate) operators: Vec<OperatorSet>,
    pub(crate) functions: Vec<&'a [u8]>,
    graph: &'a [u8],
    input: &'a str,
    output: &'a str,
}

impl<'a> Foreign<'a> {
    /// Reads the bytes of a model. Little more is allocated than a name for each constant.
    ///
    /// # Errors
    /// They are not a model, parts of it are in other files, or it has not one input and one output.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ForeignError> {
        let (mut ir_version, mut graph, mut operators, mut functions) = (0, None, Vec::new(), Vec::new());
        for field in fields(bytes) {
            match field.map(|field| (field.number, field.value)).ok_or(ForeignError::Damaged)? {
                (1, FieldValue::Number(version)) => ir_version = version.cast_signed(),
                (7, FieldValue::Bytes(bytes)) if graph.is_none() => graph = Some(bytes),
                (7, _) => return Err(ForeignError::Damaged),
                (8, FieldValue::Bytes(bytes)) => operators.push(operator_set(bytes)?),
                (25, FieldValue::Bytes(bytes)) => functions.push(bytes),
                _ => {}
            }
        }
        let graph = graph.filter(|_| !operators.is_empty()).ok_or(ForeignError::Damaged)?;
        let (input, output) = edges(graph)?;
        check(Message::Graph, graph, DEEPEST)?;
        Ok(Self { ir_version, operators, functions, graph, input, output })
    }

    /// Refuses operators that our part of a graph cannot stand beside.
    pub(crate) fn check_operators(&self) -> Result<(), ForeignError> {
        let own = self.operators.iter().find(|set| set.domain.is_empty());
        match own.map_or(0, |set| set.version) {
            OLDEST_OPERATORS.. => Ok(()),
            found => Err(ForeignError::OldOperators { found }),
        }
    }

    /// The names of input and output in a graph of ours.
    pub(crate) fn edges(&self) -> [String; 2] {
        [self.input, self.output].map(|name| format!("{PREFIX}{name}"))
    }

    /// Appends its operations and constants as fields of a graph. What it says about shapes is left out:
    /// names of lengths may mean others here.
    pub(crate) fn put(&self, to: &mut Vec<u8>) -> Result<(), ForeignError> {
        let kept = |field: &Field<'_>| matches!(field.number, 1 | 5 | 14 | 15);
        rename(Message::Graph, self.graph, kept, to)
    }
}

fn operator_set(bytes: &[u8]) -> Result<OperatorSet, ForeignError> {
    let mut set = OperatorSet { domain: String::new(), version: 0 };
    for field in fields(bytes) {
        match field.map(|field| (field.number, field.value)).ok_or(ForeignError::Damaged)? {
            // The longer name of ONNX's own.
            (1, FieldValue::Bytes(b"ai.onnx")) => {}
            (1, FieldValue::Bytes(name)) => set.domain = text(name)?.into(),
            (2, FieldValue::Number(version)) => set.version = version.cast_signed(),
            _ => {}
        }
    }
    Ok(set)
}

/// The names of input and output.
fn edges(graph: &[u8]) -> Result<(&str, &str), ForeignError> {
    let (mut inputs, mut outputs, mut constants) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields(graph) {
        match field.map(|field| (field.number, field.value)).ok_or(ForeignError::Damaged)? {
            (5, FieldValue::Bytes(tensor)) => constants.push(name(tensor, 8)?),
            (11, FieldValue::Bytes(info)) => inputs.push(name(info, 1)?),
            (12, FieldValue::Bytes(info)) => outputs.push(name(info, 1)?),
            _ => {}
        }
    }
    constants.sort_unstable();
    inputs.retain(|input| constants.binary_search(input).is_err());
    match (&inputs[..], &outputs[..]) {
        ([input], [output]) => Ok((input, output)),
        _ => Err(ForeignError::Edges { inputs: inputs.len(), outputs: outputs.len() }),
    }
}

fn name(message: &[u8], number: u64) -> Result<&str, ForeignError> {
    let mut found = "";
    for field in fields(message) {
        let field = field.ok_or(ForeignError::Damaged)?;
        if let (true, FieldValue::Bytes(bytes)) = (field.number == number, field.value) {
            found = text(bytes)?;
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> Result<&str, ForeignError> {
    std::str::from_utf8(bytes).map_err(|_| ForeignError::Damaged)
}

/// The messages that names of values stand in.
#[derive(Clone, Copy)]
enum Message {
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    ValueInfo,
    Annotation,
    Entry,
}

enum Meaning {
    Name,
    Message(Message),
    Other,
}

impl Message {
    /// The fields of `onnx.proto` that are names of values or nodes, or hold some.
    fn meaning(self, field: u64) -> Meaning {
        use Meaning::{Name, Other};
        match (self, field) {
            (Self::Graph, 1) => Meaning::Message(Self::Node),
            (Self::Graph, 5) | (Self::SparseTensor, 1 | 2) | (Self::Attribute, 5 | 10) => {
                Meaning::Message(Self::Tensor)
            }
            (Self::Graph, 11..=13) => Meaning::Message(Self::ValueInfo),
            (Self::Graph, 14) => Meaning::Message(Self::Annotation),
            (Self::Graph, 15) | (Self::Attribute, 22 | 23) => Meaning::Message(Self::SparseTensor),
            (Self::Node, 5) => Meaning::Message(Self::Attribute),
            (Self::Attribute, 6 | 11) => Meaning::Message(Self::Graph),
            (Self::Annotation, 2) => Meaning::Message(Self::Entry),
            (Self::Node, 1..=3) | (Self::Tensor, 8) | (Self::ValueInfo | Self::Annotation, 1) | (Self::Entry, 2) => {
                Name
            }
            _ => Other,
        }
    }
}

/// Whether a tensor is in another file.
fn is_external(field: &Field<'_>) -> bool {
    matches!((field.number, field.value), (14, FieldValue::Number(1)) | (13, FieldValue::Bytes(_)))
}

/// Refuses what is not whole, too deep, or in other files.
fn check(message: Message, bytes: &[u8], deepest: usize) -> Result<(), ForeignError> {
    let deeper = deepest.checked_sub(1).ok_or(ForeignError::TooDeep)?;
    for field in fields(bytes) {
        let field = field.ok_or(ForeignError::Damaged)?;
        if matches!(message, Message::Tensor) && is_external(&field) {
            return Err(ForeignError::External(name(bytes, 8)?.into()));
        }
        match (message.meaning(field.number), field.value) {
            (Meaning::Message(inner), FieldValue::Bytes(bytes)) => check(inner, bytes, deeper)?,
            (Meaning::Name, FieldValue::Bytes(bytes)) => drop(text(bytes)?),
            (Meaning::Message(_) | Meaning::Name, _) => return Err(ForeignError::Damaged),
            (Meaning::Other, _) => {}
        }
    }
    Ok(())
}

/// Appends those fields of a message that are kept, with the prefix before each name that is not empty.
fn rename(
    message: Message,
    bytes: &[u8],
    is_kept: impl Fn(&Field<'_>) -> bool,
    to: &mut Vec<u8>,
) -> Result<(), ForeignError> {
    for field in fields(bytes) {
        let field = field.ok_or(ForeignError::Damaged)?;
        if !is_kept(&field) {
            continue;
        }
        match (message.meaning(field.number), field.value) {
            (Meaning::Message(inner), FieldValue::Bytes(bytes)) => {
                let mut renamed = Vec::with_capacity(bytes.len() + PREFIX.len());
                rename(inner, bytes, all, &mut renamed)?;
                put_bytes(field.number, &[&renamed], to);
            }
            (Meaning::Name, FieldValue::Bytes(name)) if !name.is_empty() => {
                put_bytes(field.number, &[PREFIX.as_bytes(), name], to);
            }
            _ => to.extend_from_slice(field.raw),
        }
    }
    Ok(())
}

fn all(_: &Field<'_>) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node with a graph in an attribute, and so on.
    fn nested(depth: usize) -> Vec<u8> {
        let mut graph = Vec::new();
        for _ in 0..depth {
            let mut attribute = Vec::new();
            put_bytes(6, &[&graph], &mut attribute);
            let mut node = Vec::new();
            put_bytes(5, &[&attribute], &mut node);
            graph.clear();
            put_bytes(1, &[&node], &mut graph);
        }
        graph
    }

    fn model(graph: &[u8]) -> Vec<u8> {
        let (mut edges, mut model) = (graph.to_vec(), Vec::new());
        for (field, name) in [(11, "x"), (12, "y")] {
            let mut info = Vec::new();
            put_bytes(1, &[name.as_bytes()], &mut info);
            put_bytes(field, &[&info], &mut edges);
        }
        put_bytes(7, &[&edges], &mut model);
        put_bytes(8, &[&[0x10, 17]], &mut model);
        model
    }

    #[test]
    fn names_get_a_prefix_and_what_is_not_known_stays() {
        let (mut node, mut graph) = (Vec::new(), Vec::new());
        [(1, "x"), (1, ""), (2, "y"), (4, "Relu"), (99, "new")]
            .iter()
            .for_each(|(field, text)| put_bytes(*field, &[text.as_bytes()], &mut node));
        put_bytes(1, &[&node], &mut graph);
        let bytes = model(&graph);
        let network = Foreign::read(&bytes).unwrap();
        assert_eq!(network.edges(), ["network/x", "network/y"]);
        let mut found = Vec::new();
        network.put(&mut found).unwrap();
        let (mut node, mut expected) = (Vec::new(), Vec::new());
        [(1, "network/x"), (1, ""), (2, "network/y"), (4, "Relu"), (99, "new")]
            .iter()
            .for_each(|(field, text)| put_bytes(*field, &[text.as_bytes()], &mut node));
        put_bytes(1, &[&node], &mut expected);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_cut_too_deep_or_elsewhere_is_refused() {
        let read = |bytes: &[u8]| Foreign::read(bytes).map(drop);
        let whole = model(&nested(5));
        assert_eq!(read(&whole), Ok(()));
        (0..whole.len()).for_each(|length| assert!(read(&whole[..length]).is_err(), "{length} bytes"));
        assert_eq!(read(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Err(ForeignError::Damaged));
        assert_eq!(read(&model(&nested(1000))), Err(ForeignError::TooDeep));
        let (mut tensor, mut graph) = (vec![0x70, 1], Vec::new());
        put_bytes(8, &[b"w"], &mut tensor);
        put_bytes(5, &[&tensor], &mut graph);
        assert_eq!(read(&model(&graph)), Err(ForeignError::External("w".into())));
    }
}
