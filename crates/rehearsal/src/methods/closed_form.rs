//! Classifiers that are computed from sums of features at the end of each task: no gradient, no memory, one
//! epoch. References for all methods that replay.

use std::collections::BTreeMap;

use rehearsal_gaussian::{ClassSum, Feature, Linear, Sums};

use super::{Method, Objective, StepBatch};
use crate::{
    device::read,
    network::{Array, HEAD, Network, Norm, State, StateError},
    sample::Class,
};

/// Before the names of the network that predicts.
const SOLVED: &str = "solved.";
/// The network that learns has no more than these bits in each of a sum's parts: an `f32` holds them exactly.
const BITS: u32 = 24;
/// Parts of a sum of 64 bits.
const PARTS: usize = 3;

/// How the classifier follows from the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// One Gaussian per class with a shared covariance, as `rehearsal learn` has it.
    Gaussian,
    /// The nearest class mean.
    NearestMean,
    /// Ridge regression, with a penalty relative to the features' mean square.
    Ridge(f64),
}

/// See the module.
#[derive(Clone)]
pub struct ClosedForm {
    solver: Solver,
    /// What the network's features are multiplied with before they are rounded.
    scale: f32,
    sums: Sums,
    /// Begins as a copy of the network that learns.
    solved: Option<Network>,
}

impl ClosedForm {
    /// Before the first sample. Features times `scale` are rounded to integers, and limited to ±8.
    pub fn new(solver: Solver, scale: f32) -> Self {
        Self { solver, scale, sums: Sums::new(0), solved: None }
    }

    fn linear(&self) -> Linear {
        match self.solver {
            Solver::Gaussian => Linear::gaussian(&self.sums),
            Solver::NearestMean => Linear::nearest_mean(&self.sums),
            Solver::Ridge(share) => Linear::ridge(&self.sums, share),
        }
    }

    /// Features of a batch, by class.
    fn features(&self, network: &Network, batch: &StepBatch) -> BTreeMap<Class, Vec<Feature>> {
        let features = network.features(batch.incoming.images.clone(), Norm::Eval) * self.scale;
        let size = network.feature_size().max(1);
        let values = read(features.without_autodiff());
        let mut by_class: BTreeMap<Class, Vec<Feature>> = BTreeMap::new();
        for (row, &label) in values.chunks_exact(size).zip(&batch.incoming.labels) {
            // A network that is not trained gives numbers; else the sample says nothing.
            by_class.entry(label).or_default().extend(Feature::from_scaled(row).ok());
        }
        by_class
    }
}

impl Method for ClosedForm {
    /// Adds the new samples to the sums. There is nothing to descend.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        for (class, features) in self.features(network, batch) {
            self.sums.add(&name(class), &features);
        }
        Objective { loss: None, logits: None, features: None }
    }

    fn start(&mut self, network: &Network) {
        self.sums = Sums::new(network.feature_size());
        self.solved = Some(network.valid());
    }

    fn grow(&mut self, network: &Network) {
        if let Some(solved) = &mut self.solved {
            solved.take_new_classes(network);
        }
    }

    fn end_task(&mut self) {
        let linear = self.linear();
        let classes: Vec<Class> = self.sums.classes().keys().filter_map(|name| name.parse().ok().map(Class)).collect();
        let Some(solved) = &mut self.solved else { return };
        let mut state = solved.state();
        for (part, values) in [("weight", &linear.weights), ("bias", &linear.biases)] {
            let Some(array) = state.0.get_mut(&format!("{HEAD}{part}")) else { return };
            let row: usize = array.shape[1..].iter().product();
            // The network's features are not scaled.
            let scale = if part == "weight" { self.scale } else { 1.0 };
            for (class, values) in classes.iter().zip(values.chunks_exact(row)) {
                let into = &mut array.values[class.index() * row..][..row];
                into.iter_mut().zip(values).for_each(|(into, value)| *into = value * scale);
            }
        }
        solved.load(&state).expect("its own names and shapes");
    }

    fn predictor<'a>(&'a self, network: &'a Network) -> &'a Network {
        self.solved.as_ref().unwrap_or(network)
    }

    fn predictor_prefix(&self) -> Option<&'static str> {
        Some(SOLVED)
    }

    fn state(&self) -> State {
        let mut state = self.solved.as_ref().map(|solved| solved.state().prefixed(SOLVED)).unwrap_or_default();
        let classes = self.sums.classes();
        let numbers = |values: Vec<f32>| Array { shape: vec![values.len()], values };
        let labels = classes.keys().filter_map(|name| name.parse::<u16>().ok()).map(f32::from).collect();
        let counts = classes.values().map(|class| class.count.cast_signed());
        let sums = classes.values().flat_map(|class| class.sum.iter().copied());
        let arrays = [
            ("sums.classes", numbers(labels)),
            ("sums.counts", parts(counts)),
            ("sums.features", parts(sums)),
            ("sums.products", parts(self.sums.products().iter().copied())),
        ];
        state.0.extend(arrays.map(|(name, array)| (name.to_owned(), array)));
        state
    }

    fn load(&mut self, state: &State) -> Result<(), StateError> {
        let get = |name: &str| state.0.get(name).ok_or_else(|| StateError::Missing(name.into()));
        let d = self.sums.dimensions();
        let labels = &get("sums.classes")?.values;
        let (counts, features) = (joined(get("sums.counts")?), joined(get("sums.features")?));
        let sum = |number: usize| features.get(number * d..(number + 1) * d).map(<[i64]>::to_vec);
        let class = |(number, (&label, &count)): (usize, (&f32, &i64))| {
            Some((name(Class(label as u16)), ClassSum { count: u64::try_from(count).ok()?, sum: sum(number)? }))
        };
        let classes: Option<BTreeMap<String, ClassSum>> = labels.iter().zip(&counts).enumerate().map(class).collect();
        let products = joined(get("sums.products")?);
        let sums = classes.and_then(|classes| Sums::from_parts(d, classes, products));
        self.sums = sums.ok_or_else(|| StateError::Missing("sums.features".into()))?;
        let Some(solved) = &mut self.solved else { return Ok(()) };
        solved.load(&state.under(SOLVED)).map_err(|error| error.under(SOLVED))
    }
}

/// Names in the order of the classes.
fn name(class: Class) -> String {
    format!("{:05}", class.0)
}

/// Integers `[n]` as floats `[n, PARTS]` that hold them exactly.
fn parts(values: impl Iterator<Item = i64>) -> Array {
    let mask = (1_i64 << BITS) - 1;
    // The last part has the sign.
    let split = |value: i64| [value & mask, (value >> BITS) & mask, value >> (2 * BITS)].map(|part| part as f32);
    let values: Vec<f32> = values.flat_map(split).collect();
    Array { shape: vec![values.len() / PARTS, PARTS], values }
}

fn joined(array: &Array) -> Vec<i64> {
    let join = |parts: &[f32; PARTS]| {
        parts.iter().rev().fold(0_i64, |sum, &part| sum.wrapping_shl(BITS).wrapping_add(part as i64))
    };
    array.values.as_chunks().0.iter().map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        methods::testing::{network, values, views},
        sample::TaskId,
    };

    #[test]
    fn integers_survive_the_way_to_floats_and_back() {
        let numbers = [0, 1, -1, 1 << 24, -(1 << 24), 123_456_789_012_345, -123_456_789_012_345, i64::MAX, i64::MIN];
        assert_eq!(joined(&parts(numbers.into_iter())), numbers);
    }

    fn taught(solver: Solver) -> (Network, ClosedForm) {
        let mut network = network(4);
        let mut method = ClosedForm::new(solver, 1.0);
        method.start(&network);
        for seed in 1..4 {
            let incoming = views(&[0, 1, 1, 0, 2], seed, &network);
            let batch = StepBatch { incoming, draws: Vec::new(), task: TaskId(0), seen: 4 };
            assert!(method.objective(&mut network, &batch).loss.is_none());
        }
        method.end_task();
        (network, method)
    }

    #[test]
    fn the_head_of_the_predictor_is_the_one_of_the_sums() {
        for solver in [Solver::Gaussian, Solver::NearestMean, Solver::Ridge(0.1)] {
            let (network, method) = taught(solver);
            assert_eq!(method.sums.count(), 15);
            let (state, linear) = (method.predictor(&network).state(), method.linear());
            let weight = &state.0["head.weight"].values;
            assert_eq!(weight[..3 * network.feature_size()], linear.weights, "{solver:?}");
            let untouched = &network.valid().state().0["head.weight"].values[3 * network.feature_size()..].to_vec();
            assert_eq!(&weight[3 * network.feature_size()..], untouched, "a class that has not appeared");
            assert_eq!(state.0["head.bias"].values[..3], linear.biases);
        }
    }

    #[test]
    fn what_it_remembers_can_be_loaded() {
        let (network, method) = taught(Solver::Gaussian);
        let mut other = ClosedForm::new(Solver::Gaussian, 1.0);
        other.start(&network);
        other.load(&method.state()).unwrap();
        assert_eq!(other.state(), method.state());
        let images = views(&[0, 1], 9, &network).images.without_autodiff();
        let logits = |method: &ClosedForm| values(method.predictor(&network).logits(images.clone(), Norm::Eval));
        assert_eq!(logits(&other), logits(&method));
        let mut damaged = method.state();
        damaged.0.remove("sums.products");
        assert!(other.load(&damaged).is_err());
    }
}
