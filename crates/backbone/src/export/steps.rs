//! Operations of a part of a graph.

use rehearsal_onnx::{Attribute, Element, ElementKind, GraphWriter, Value, int};

/// Operations whose results have names with a common beginning.
pub(super) struct Steps<'a> {
    pub graph: &'a mut GraphWriter,
    pub of: &'a str,
}

impl Steps<'_> {
    pub fn op(&mut self, name: &str, operation: &str, inputs: &[&Value]) -> Value {
        self.with(name, operation, inputs, Vec::new())
    }

    pub fn with(&mut self, name: &str, operation: &str, inputs: &[&Value], attributes: Vec<Attribute>) -> Value {
        self.graph.node(&format!("{}.{name}", self.of), operation, inputs, attributes)
    }

    pub fn cast(&mut self, name: &str, value: &Value, to: ElementKind) -> Value {
        self.with(name, "Cast", &[value], vec![int("to", to as i64)])
    }

    /// One number.
    pub fn constant<E: Element>(&mut self, name: &str, value: E) -> Value {
        self.graph.constant(&format!("{}.{name}", self.of), &[], &[value])
    }

    /// One number as a list of one.
    pub fn row(&mut self, name: &str, value: &Value) -> Value {
        let shape = self.graph.constant(&format!("{}.{name}.shape", self.of), &[1], &[1i64]);
        self.op(name, "Reshape", &[value, &shape])
    }

    /// The nearest integer; halves away from zero.
    pub fn rounded(&mut self, name: &str, value: &Value) -> Value {
        let half = self.constant(&format!("{name}.half"), 0.5);
        let sign = self.op(&format!("{name}.sign"), "Sign", &[value]);
        let size = self.op(&format!("{name}.size"), "Abs", &[value]);
        let above = self.op(&format!("{name}.above"), "Add", &[&size, &half]);
        let floor = self.op(&format!("{name}.floor"), "Floor", &[&above]);
        self.op(name, "Mul", &[&sign, &floor])
    }
}
