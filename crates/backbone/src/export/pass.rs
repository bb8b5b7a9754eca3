//! Our filter along one axis of a photo, as operations of a graph that compute its weights from the
//! photo's size: in the same order, with the same rounding, as the crate that resizes our photos.

use rehearsal_data::{Interpolation, Preprocessing};
use rehearsal_onnx::{ElementKind, GraphWriter, Value, int};

use super::steps::Steps;

/// A weight is less than this, in units of the pass.
const WEIGHT_LIMIT: f64 = 32_768.0;
/// A unit is at least `2⁻²¹`.
const MOST_BITS: i32 = 21;
/// A weight is a multiple of this plus a rest from −128 to 127. Sums of bytes times such parts are
/// exact in `f32`, in any order, as long as fewer than 514 pixels make one.
const COARSE: f64 = 256.0;

/// The filter along one axis.
pub(super) struct Pass {
    /// `[target, pixels]`: the weights are `256 · coarse + rest`, in units.
    pub coarse: Value,
    pub rest: Value,
    /// Units in 1, an integer.
    pub one: Value,
    /// The first pixel that counts and the end of those that do.
    pub first: Value,
    pub end: Value,
}

impl Pass {
    /// Along an axis of `length` pixels, of which `kept` are in the largest part, to `target` pixels.
    pub fn new(
        graph: &mut GraphWriter,
        name: &str,
        length: &Value,
        kept: &Value,
        target: usize,
        preprocessing: &Preprocessing,
    ) -> Self {
        let mut part = Steps { graph, of: name };
        let (length, from, to) = part.window(length, kept, preprocessing.crop);
        let span = part.op("span", "Sub", &[&to, &from]);
        let targets = part.constant("targets", target as f64);
        let scale = part.op("scale", "Div", &[&span, &targets]);
        let one = part.constant("1", 1.0);
        // Shrinking stretches the filter, so that all pixels count.
        let stretch = part.op("stretch", "Max", &[&scale, &one]);
        let support = part.constant("support", support(preprocessing.interpolation));
        let radius = part.op("radius", "Mul", &[&support, &stretch]);
        let (first, end) = part.bounds(&length, (&from, &to), &radius);
        let arguments = part.arguments(&from, &scale, &stretch, (&first, &end), target);
        let weights = part.filter(&arguments, preprocessing.interpolation);
        let (units, one) = part.units(&weights);
        let (coarse, rest) = part.split(&units);
        let [first, end] = [("first", first), ("end", end)]
            .map(|(name, at)| part.cast(&format!("{name}.at"), &at, ElementKind::Int64));
        let [first, end] = [("first", first), ("end", end)].map(|(name, at)| part.row(&format!("{name}.row"), &at));
        Self { coarse, rest, one, first, end }
    }
}

/// How far the filter reaches, in pixels.
fn support(interpolation: Interpolation) -> f64 {
    match interpolation {
        Interpolation::Bilinear => 1.0,
        Interpolation::Bicubic => 2.0,
    }
}

impl Steps<'_> {
    /// The axis's length, and where the window begins and ends.
    fn window(&mut self, length: &Value, kept: &Value, crop: f64) -> (Value, Value, Value) {
        let whole = self.cast("length", length, ElementKind::Double);
        let kept_part = self.cast("kept", kept, ElementKind::Double);
        if crop < 1.0 {
            let [share, one, two] = [("share", crop), ("pixel", 1.0), ("2", 2.0)].map(|(n, v)| self.constant(n, v));
            let window = self.op("shared", "Mul", &[&kept_part, &share]);
            let window = self.op("window", "Max", &[&window, &one]);
            let outside = self.op("outside", "Sub", &[&whole, &window]);
            let from = self.op("from", "Div", &[&outside, &two]);
            let to = self.op("to", "Add", &[&from, &window]);
            return (whole, from, to);
        }
        let two = self.constant("2", 2i64);
        let outside = self.op("outside", "Sub", &[length, kept]);
        let from = self.op("corner", "Div", &[&outside, &two]);
        let from = self.cast("from", &from, ElementKind::Double);
        let to = self.op("to", "Add", &[&from, &kept_part]);
        (whole, from, to)
    }

    /// The first pixel that counts, and the end of those that do.
    fn bounds(&mut self, length: &Value, (from, to): (&Value, &Value), radius: &Value) -> (Value, Value) {
        let zero = self.constant("0", 0.0);
        let first = self.op("first.reach", "Sub", &[from, radius]);
        let first = self.op("first.floor", "Floor", &[&first]);
        let end = self.op("end.reach", "Add", &[to, radius]);
        let end = self.op("end.ceil", "Ceil", &[&end]);
        (self.op("first", "Max", &[&first, &zero]), self.op("end", "Min", &[&end, length]))
    }

    /// `[target, pixels]`: how far each pixel is from each centre, in units of the filter.
    fn arguments(
        &mut self,
        from: &Value,
        scale: &Value,
        stretch: &Value,
        (first, end): (&Value, &Value),
        target: usize,
    ) -> Value {
        let one = self.constant("step", 1.0);
        let half = self.constant("half", 0.5);
        let pixels = self.op("pixels", "Range", &[first, end, &one]);
        let places: Vec<f64> = (0..target).map(|place| place as f64 + 0.5).collect();
        let places = self.graph.constant(&format!("{}.places", self.of), &[target, 1], &places);
        let centres = self.op("places.scaled", "Mul", &[&places, scale]);
        let centres = self.op("places.from", "Add", &[from, &centres]);
        let centres = self.op("centres", "Sub", &[&centres, &half]);
        let shrink = self.op("shrink", "Div", &[&one, stretch]);
        let distances = self.op("distances", "Sub", &[&pixels, &centres]);
        let distances = self.op("distances.shrunk", "Mul", &[&distances, &shrink]);
        self.op("arguments", "Abs", &[&distances])
    }

    /// The filter's weights, which sum to 1 for each target.
    fn filter(&mut self, x: &Value, interpolation: Interpolation) -> Value {
        let weights = match interpolation {
            Interpolation::Bilinear => {
                let (one, zero) = (self.constant("line.1", 1.0), self.constant("line.0", 0.0));
                let line = self.op("line", "Sub", &[&one, x]);
                self.op("line.positive", "Max", &[&line, &zero])
            }
            Interpolation::Bicubic => self.catmull_rom(x),
        };
        let axis = self.graph.constant(&format!("{}.sum.axis", self.of), &[1], &[1i64]);
        let sum = self.op("sum", "ReduceSum", &[&weights, &axis]);
        self.op("weights", "Div", &[&weights, &sum])
    }

    /// `(1.5 x − 2.5) x² + 1` below 1, `−0.5 (((x − 5) x + 8) x − 4)` below 2, then 0.
    fn catmull_rom(&mut self, x: &Value) -> Value {
        let numbers = [0.0, 1.0, 1.5, 2.0, 2.5, 4.0, 5.0, 8.0, -0.5];
        let [zero, one, three_halves, two, five_halves, four, five, eight, minus_half] =
            numbers.map(|number| self.constant(&format!("cubic.{number}"), number));
        let near = self.op("near.1", "Mul", &[&three_halves, x]);
        let near = self.op("near.2", "Sub", &[&near, &five_halves]);
        let near = self.op("near.3", "Mul", &[&near, x]);
        let near = self.op("near.4", "Mul", &[&near, x]);
        let near = self.op("near", "Add", &[&near, &one]);
        let far = self.op("far.1", "Sub", &[x, &five]);
        let far = self.op("far.2", "Mul", &[&far, x]);
        let far = self.op("far.3", "Add", &[&far, &eight]);
        let far = self.op("far.4", "Mul", &[&far, x]);
        let far = self.op("far.5", "Sub", &[&far, &four]);
        let far = self.op("far", "Mul", &[&far, &minus_half]);
        let is_within = self.op("is-within", "Less", &[x, &two]);
        let is_near = self.op("is-near", "Less", &[x, &one]);
        let far = self.op("far.limited", "Where", &[&is_within, &far, &zero]);
        self.op("cubic", "Where", &[&is_near, &near, &far])
    }

    /// The weights as integers: the finest unit, a power of two, in which the largest has 16 bits. Also
    /// how many units are 1, as an `i32`.
    fn units(&mut self, weights: &Value) -> (Value, Value) {
        let powers: Vec<f64> = (1..=MOST_BITS).map(|bits| 2.0f64.powi(bits)).collect();
        let powers = self.graph.constant(&format!("{}.powers", self.of), &[powers.len()], &powers);
        let (limit, one) = (self.constant("weight-limit", WEIGHT_LIMIT), self.constant("coarsest", 1.0));
        let all = || vec![int("keepdims", 0)];
        let largest = self.with("largest", "ReduceMax", &[weights], all());
        let candidates = self.op("candidates", "Mul", &[&powers, &largest]);
        let candidates = self.rounded("candidates.rounded", &candidates);
        let fits = self.op("fits", "Less", &[&candidates, &limit]);
        let fitting = self.op("fitting", "Where", &[&fits, &powers, &one]);
        let per_one = self.with("units-per-1", "ReduceMax", &[&fitting], all());
        let scaled = self.op("scaled", "Mul", &[weights, &per_one]);
        (self.rounded("units", &scaled), self.cast("one", &per_one, ElementKind::Int32))
    }

    /// Integers as `256 · coarse + rest`, both in `f32`.
    fn split(&mut self, units: &Value) -> (Value, Value) {
        let (many, half) = (self.constant("coarse.unit", COARSE), self.constant("coarse.half", 0.5));
        let coarse = self.op("coarse.share", "Div", &[units, &many]);
        let coarse = self.op("coarse.above", "Add", &[&coarse, &half]);
        let coarse = self.op("coarse.floor", "Floor", &[&coarse]);
        let covered = self.op("covered", "Mul", &[&coarse, &many]);
        let rest = self.op("left", "Sub", &[units, &covered]);
        (self.cast("coarse", &coarse, ElementKind::Float), self.cast("rest", &rest, ElementKind::Float))
    }

    /// The byte nearest to `256 · coarse + rest` units.
    pub fn bytes(&mut self, coarse: &Value, rest: &Value, one: &Value) -> Value {
        let (many, two) = (self.constant("sum.unit", COARSE as i32), self.constant("sum.2", 2i32));
        let coarse = self.cast("sum.coarse", coarse, ElementKind::Int32);
        let rest = self.cast("sum.rest", rest, ElementKind::Int32);
        let coarse = self.op("sum.units", "Mul", &[&coarse, &many]);
        let sum = self.op("sum.all", "Add", &[&coarse, &rest]);
        let half = self.op("sum.half", "Div", &[one, &two]);
        let sum = self.op("sum.above", "Add", &[&sum, &half]);
        // Division rounds towards zero: that differs from a shift below zero only, where the byte is 0.
        let bytes = self.op("sum.quotient", "Div", &[&sum, one]);
        let bytes = self.cast("sum.value", &bytes, ElementKind::Float);
        let (least, most) = (self.constant("sum.least", 0.0f32), self.constant("sum.most", 255.0f32));
        self.op("bytes", "Clip", &[&bytes, &least, &most])
    }
}
