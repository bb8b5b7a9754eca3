//! Writes ONNX models, around networks of other programs, too.
//!
//! ```
//! use rehearsal_onnx::{Axis, ElementKind, GraphWriter, encode, value};
//!
//! let mut graph = GraphWriter::default();
//! let x = GraphWriter::input("x");
//! let two = graph.constant("two", &[], &[2.0f32]);
//! graph.node("y", "Mul", &[&x, &two], Vec::new());
//! let any = [Axis::Any("n")];
//! let input = value("x", ElementKind::Float, &any, "numbers");
//! let output = value("y", ElementKind::Float, &any, "twice as much");
//! let bytes = encode(graph.finish("double", vec![input], vec![output]), "Doubles.", "0.1.0", &[]);
//! assert!(bytes.is_some());
//! ```

#![forbid(unsafe_code)]

mod foreign;
mod graph;
pub mod messages;
mod model;
mod wire;

pub use foreign::{Foreign, ForeignError};
pub use graph::{Axis, Element, FinishedGraph, GraphWriter, Value, float, int, ints, length, value};
pub use messages::{Attribute, ElementKind};
pub use model::encode;
