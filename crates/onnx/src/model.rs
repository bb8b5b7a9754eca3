//! A graph as a file.

use prost::Message;

use crate::messages::{Entry, Graph, Model, OperatorSet};

/// The set of operators: what every runtime of the last years has.
const OPSET: i64 = 17;
/// The version of the file's own layout that goes with it.
const IR_VERSION: i64 = 8;
/// No message of protobuf may be longer.
const LONGEST: usize = i32::MAX as usize;

/// The bytes of a model: a graph, what it is, the version of the program that wrote it, and entries of
/// metadata. None if they are more than the format can hold.
pub fn encode(graph: Graph, about: &str, version: &str, metadata: &[(&str, String)]) -> Option<Vec<u8>> {
    let entry = |(key, value): &(&str, String)| Entry { key: (*key).to_owned(), value: value.clone() };
    let model = Model {
        ir_version: IR_VERSION,
        producer_name: "rehearsal".into(),
        producer_version: version.to_owned(),
        doc_string: about.to_owned(),
        graph: Some(graph),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props: metadata.iter().map(entry).collect(),
    };
    (model.encoded_len() <= LONGEST).then(|| model.encode_to_vec())
}
