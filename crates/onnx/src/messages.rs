//! ONNX's messages, as far as a graph of a network needs them: names, numbers and types of fields as in `onnx.proto`.

#![allow(missing_docs, reason = "`onnx.proto` says what the fields are")]

use prost::{Enumeration, Message};

/// A model.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(string, tag = "6")]
    pub doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

/// Which operators there are.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    /// Empty for ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Something else that is said about a model.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Nodes in an order in which they can be computed.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// An operation on named values.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
}

/// What an operation is told beside its inputs: one of the values, as `kind` says.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(enumeration = "AttributeKind", tag = "20")]
    pub kind: i32,
}

/// Which value an attribute has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AttributeKind {
    Undefined = 0,
    Float = 1,
    Int = 2,
    Ints = 7,
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(enumeration = "ElementKind", tag = "2")]
    pub data_type: i32,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Row-major, little-endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

/// Of what a tensor is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum ElementKind {
    Undefined = 0,
    Float = 1,
    Uint8 = 2,
    Int32 = 6,
    Int64 = 7,
    Double = 11,
}

/// What goes in or comes out.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<ValueKind>,
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// Its type: always a tensor here.
#[derive(Clone, PartialEq, Message)]
pub struct ValueKind {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorKind>,
}

/// The type of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorKind {
    #[prost(enumeration = "ElementKind", tag = "1")]
    pub element: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

/// Its axes.
#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Axis>,
}

/// A length, or a name for one that is known when the model runs.
#[derive(Clone, PartialEq, Message)]
pub struct Axis {
    #[prost(int64, optional, tag = "1")]
    pub length: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}
