//! A graph as a file.

use prost::Message;

use crate::{
    FinishedGraph,
    messages::{Entry, Model},
    wire::put_bytes,
};

/// No message of protobuf may be longer.
const LONGEST: usize = i32::MAX as usize;
/// Numbers of fields of a model.
const GRAPH: u64 = 7;
const FUNCTIONS: u64 = 25;

/// The bytes of a model: a graph, what it is, the version of the program that wrote it, and entries of
/// metadata. None if they are more than the format can hold.
pub fn encode(graph: FinishedGraph, about: &str, version: &str, metadata: &[(&str, String)]) -> Option<Vec<u8>> {
    let entry = |(key, value): &(&str, String)| Entry { key: (*key).to_owned(), value: value.clone() };
    let model = Model {
        ir_version: graph.needs.ir_version,
        producer_name: "rehearsal".into(),
        producer_version: version.to_owned(),
        doc_string: about.to_owned(),
        graph: None,
        opset_import: graph.needs.operators,
        metadata_props: metadata.iter().map(entry).collect(),
    };
    let mut bytes = model.encode_to_vec();
    put_bytes(GRAPH, &[&graph.bytes], &mut bytes);
    graph.needs.functions.iter().for_each(|function| put_bytes(FUNCTIONS, &[function], &mut bytes));
    (bytes.len() <= LONGEST).then_some(bytes)
}
