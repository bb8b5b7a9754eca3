//! The network as operations of an ONNX graph. Tokens are rows `[257, 384]`, that of the class first.

use rehearsal_onnx::{GraphWriter, Value, float, int, ints};

use super::{Block, EPSILON, HEADS, Layers, Norm, PATCH, SIZE, WIDTH, start};
use crate::export::layers::{Window, convolution, linear};

/// Patches along a side.
const GRID: usize = SIZE / PATCH;
const TOKENS: usize = 1 + GRID * GRID;
/// Features of a head.
const OF_HEAD: usize = WIDTH / HEADS;

/// Adds the network behind an image `[1, 3, 224, 224]`. Gives features `[1, 384]`.
pub(super) fn write(graph: &mut GraphWriter, image: &Value, layers: &Layers) -> Value {
    let mut writer = Writer::new(graph);
    let mut tokens = writer.tokens(image, layers);
    for (index, block) in layers.blocks.iter().enumerate() {
        tokens = writer.block(&format!("backbone.blocks.{index}"), block, &tokens);
    }
    let of_class = writer.op("backbone.class", "Gather", &[&tokens, &writer.first.clone()]);
    writer.norm("backbone.features", &layers.norm, &of_class)
}

struct Writer<'a> {
    graph: &'a mut GraphWriter,
    /// Lists of numbers: the first row, and shapes.
    first: Value,
    rows: Value,
    heads: Value,
    /// Numbers: 0 to 2, and what attention and GELU multiply with.
    parts: [Value; 3],
    per_root: Value,
    root_half: Value,
    one: Value,
    half: Value,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a mut GraphWriter) -> Self {
        let mut number = |name: &str, value: f32| graph.constant(&format!("backbone.{name}"), &[], &[value]);
        let per_root = number("attention.scale", (OF_HEAD as f32).sqrt().recip());
        let root_half = number("gelu.root-half", std::f32::consts::FRAC_1_SQRT_2);
        let (one, half) = (number("gelu.1", 1.0), number("gelu.half", 0.5));
        let first = graph.constant("backbone.first", &[1], &[0i64]);
        let rows = graph.constant("backbone.rows", &[2], &[-1, WIDTH.cast_signed() as i64]);
        let heads =
            graph.constant("backbone.heads", &[4], &[-1, 3, HEADS.cast_signed() as i64, OF_HEAD.cast_signed() as i64]);
        let parts = [0i64, 1, 2].map(|part| graph.constant(&format!("backbone.part.{part}"), &[], &[part]));
        Self { graph, first, rows, heads, parts, per_root, root_half, one, half }
    }

    fn op(&mut self, name: &str, operation: &str, inputs: &[&Value]) -> Value {
        self.graph.node(name, operation, inputs, Vec::new())
    }

    /// The patches behind the class token, each with its position.
    fn tokens(&mut self, image: &Value, layers: &Layers) -> Value {
        let window = Window { kernel: PATCH, stride: PATCH, pads: [0; 2], is_depthwise: false };
        let patches = convolution(self.graph, "backbone.patches", &layers.patches, window, image);
        let columns = self.graph.constant("backbone.columns", &[2], &[WIDTH.cast_signed() as i64, -1]);
        let patches = self.op("backbone.patches.flat", "Reshape", &[&patches, &columns]);
        let patches = self.graph.node("backbone.patches.rows", "Transpose", &[&patches], vec![ints("perm", &[1, 0])]);
        let start = start(&layers.class_token, &layers.positions, (GRID, GRID));
        let (of_class, of_patches) = start.split_at(WIDTH);
        let of_class = self.graph.constant("backbone.class-token", &[1, WIDTH], of_class);
        let of_patches = self.graph.constant("backbone.positions", &[TOKENS - 1, WIDTH], of_patches);
        let patches = self.op("backbone.patches.placed", "Add", &[&patches, &of_patches]);
        self.graph.node("backbone.tokens", "Concat", &[&of_class, &patches], vec![int("axis", 0)])
    }

    fn block(&mut self, name: &str, block: &Block, tokens: &Value) -> Value {
        let part = |part: &str| format!("{name}.{part}");
        let x = self.norm(&part("norm1"), &block.norm1, tokens);
        let x = linear(self.graph, &part("qkv"), &block.qkv, &x);
        let x = self.attention(&part("attention"), &x);
        let x = linear(self.graph, &part("project"), &block.project, &x);
        let tokens = self.op(&part("sum1"), "Add", &[&x, tokens]);
        let x = self.norm(&part("norm2"), &block.norm2, &tokens);
        let x = linear(self.graph, &part("expand"), &block.expand, &x);
        let x = self.gelu(&part("gelu"), &x);
        let x = linear(self.graph, &part("contract"), &block.contract, &x);
        self.op(&part("sum2"), "Add", &[&x, &tokens])
    }

    fn norm(&mut self, name: &str, norm: &Norm, x: &Value) -> Value {
        let weight = self.graph.constant(&format!("{name}.weight"), &[WIDTH], &norm.weight);
        let bias = self.graph.constant(&format!("{name}.bias"), &[WIDTH], &norm.bias);
        let attributes = vec![int("axis", -1), float("epsilon", EPSILON)];
        self.graph.node(name, "LayerNormalization", &[x, &weight, &bias], attributes)
    }

    /// Behind queries, keys and values `[257, 3 · 384]`.
    fn attention(&mut self, name: &str, qkv: &Value) -> Value {
        let part = |part: &str| format!("{name}.{part}");
        let (heads, rows) = (self.heads.clone(), self.rows.clone());
        let split = self.op(&part("heads"), "Reshape", &[qkv, &heads]);
        let [queries, values] = [(0, "queries"), (2, "values")].map(|(index, of)| {
            let turned = vec![ints("perm", &[1, 2, 0, 3])];
            let turned = self.graph.node(&part(&format!("{of}.turned")), "Transpose", &[&split], turned);
            let index = self.parts[index].clone();
            self.op(&part(of), "Gather", &[&turned, &index])
        });
        let keys = vec![ints("perm", &[1, 2, 3, 0])];
        let keys = self.graph.node(&part("keys.turned"), "Transpose", &[&split], keys);
        let keys = self.op(&part("keys"), "Gather", &[&keys, &self.parts[1].clone()]);
        let queries = self.op(&part("queries.scaled"), "Mul", &[&queries, &self.per_root.clone()]);
        let alike = self.op(&part("alike"), "MatMul", &[&queries, &keys]);
        let shares = self.graph.node(&part("shares"), "Softmax", &[&alike], vec![int("axis", -1)]);
        let mixed = self.op(&part("mixed"), "MatMul", &[&shares, &values]);
        let turned = self.graph.node(&part("turned"), "Transpose", &[&mixed], vec![ints("perm", &[1, 0, 2])]);
        self.op(name, "Reshape", &[&turned, &rows])
    }

    /// `½ x (1 + erf(x / √2))`.
    fn gelu(&mut self, name: &str, x: &Value) -> Value {
        let part = |part: &str| format!("{name}.{part}");
        let scaled = self.op(&part("scaled"), "Mul", &[x, &self.root_half.clone()]);
        let error = self.op(&part("erf"), "Erf", &[&scaled]);
        let above = self.op(&part("above"), "Add", &[&error, &self.one.clone()]);
        let share = self.op(&part("share"), "Mul", &[&above, &self.half.clone()]);
        self.op(name, "Mul", &[&share, x])
    }
}
