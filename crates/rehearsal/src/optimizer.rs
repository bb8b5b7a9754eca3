//! Stochastic gradient descent with momentum and weight decay, as PyTorch defines them, and the
//! learning rate's way through a task.

use burn::tensor::{Tensor, TensorData};
use rehearsal_data::choice;
use serde::{Deserialize, Serialize};

use crate::{
    device::{read, upload},
    gradients::Gradients,
    network::{Array, Network, State, StateError},
};

/// How the learning rate changes while a task is learned; every task starts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// It stays.
    Constant,
    /// It falls to zero along half a cosine.
    Cosine,
    /// It falls to a tenth after half of the task, and again after three quarters.
    Step,
}
choice!(Schedule, "schedule", Constant = "constant", Cosine = "cosine", Step = "step");

/// Options of the optimizer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OptimizerConfig {
    /// The learning rate at the start of each task.
    pub lr: f64,
    /// μ: how much of the last step's velocity stays.
    pub momentum: f64,
    /// λ: λ·θ is added to the gradient.
    pub weight_decay: f64,
    /// How the learning rate changes in a task.
    pub schedule: Schedule,
}

/// Schedule `step`: where the rate falls, as shares of the task's steps.
const MILESTONES: [f64; 2] = [0.5, 0.75];
/// Schedule `step`: what the rate is multiplied by there.
const DECAY: f64 = 0.1;

impl OptimizerConfig {
    /// The learning rate when `progress` of the task's steps (0 to 1) have been taken.
    pub fn rate(&self, progress: f64) -> f64 {
        match self.schedule {
            Schedule::Constant => self.lr,
            Schedule::Cosine => self.lr * f64::midpoint(1.0, libm::cos(std::f64::consts::PI * progress)),
            Schedule::Step => {
                let passed = MILESTONES.iter().filter(|milestone| progress >= **milestone);
                passed.fold(self.lr, |rate, _| rate * DECAY)
            }
        }
    }
}

/// The optimizer of one network, with what it remembers from step to step.
#[derive(Clone, Debug)]
pub struct Sgd {
    momentum: f64,
    weight_decay: f64,
    /// The velocity of every parameter, flat; none before the first step, and without momentum.
    velocity: Option<Vec<Tensor<1>>>,
}

impl Sgd {
    /// Before its first step.
    pub fn new(config: &OptimizerConfig) -> Self {
        Self { momentum: config.momentum, weight_decay: config.weight_decay, velocity: None }
    }

    /// One step: g ← g + λθ, v ← μv + g (at first v = g), θ ← θ − lr·v. Running statistics stay.
    pub fn step(&mut self, network: Network, gradients: &Gradients, lr: f64) -> Network {
        if self.momentum == 0.0 && self.weight_decay == 0.0 {
            return network.plain_step(gradients, lr);
        }
        let mut gradients = gradients.iter().cloned();
        let mut before = self.velocity.take().map(Vec::into_iter);
        let mut velocities = Vec::new();
        let network = network.map_parameters(|value| {
            let gradient = gradients.next().expect("one gradient per parameter");
            let decayed = match self.weight_decay {
                0.0 => gradient,
                decay => gradient + value.clone() * decay,
            };
            let velocity = match before.as_mut().and_then(Iterator::next) {
                Some(velocity) => velocity * self.momentum + decayed,
                None => decayed,
            };
            velocities.push(velocity.clone());
            value - velocity * lr
        });
        self.velocity = (self.momentum != 0.0).then_some(velocities);
        network
    }

    /// Called when the head of `network` has got new rows: they begin at rest.
    pub fn grow(&mut self, network: &Network) {
        let Some(velocity) = &mut self.velocity else { return };
        for (velocity, (_, parameter)) in velocity.iter_mut().zip(network.parameters()) {
            let new = parameter.dims()[0] - velocity.dims()[0];
            if new > 0 {
                let rest = Tensor::zeros([new], &velocity.device());
                *velocity = Tensor::cat(vec![velocity.clone(), rest], 0);
            }
        }
    }

    /// What it remembers, under the names of `network`'s parameters.
    pub fn state(&self, network: &Network) -> State {
        let array = |velocity: &Tensor<1>| Array { shape: velocity.dims().to_vec(), values: read(velocity.clone()) };
        let named = |velocity: &Vec<Tensor<1>>| {
            network.parameters().into_iter().zip(velocity).map(|((name, _), v)| (name, array(v))).collect()
        };
        State(self.velocity.as_ref().map(named).unwrap_or_default())
    }

    /// Remembers what [`Sgd::state`] gave.
    ///
    /// # Errors
    /// The state is that of another network.
    pub fn load(&mut self, state: &State, network: &Network) -> Result<(), StateError> {
        let tensor = |(name, parameter): (String, Tensor<1>)| {
            let array = state.array(&name, &parameter.dims())?;
            Ok(upload(TensorData::new(array.values.clone(), parameter.dims()), &parameter.device()))
        };
        let velocity = network.parameters().into_iter().map(tensor);
        self.velocity = if state.0.is_empty() { None } else { Some(velocity.collect::<Result<_, StateError>>()?) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::testing::{network, values};

    fn config(schedule: Schedule) -> OptimizerConfig {
        OptimizerConfig { lr: 0.2, momentum: 0.0, weight_decay: 0.0, schedule }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
    }

    #[test]
    fn schedules_go_from_the_start_of_a_task_to_its_end() {
        for (progress, constant, cosine, step) in [
            (0.0, 0.2, 0.2, 0.2),
            (0.49, 0.2, 0.1 * (1.0 + (0.49 * std::f64::consts::PI).cos()), 0.2),
            (0.5, 0.2, 0.1, 0.02),
            (0.75, 0.2, 0.1 * (1.0 - 0.5f64.sqrt()), 0.002),
        ] {
            close(config(Schedule::Constant).rate(progress), constant);
            close(config(Schedule::Cosine).rate(progress), cosine);
            close(config(Schedule::Step).rate(progress), step);
        }
    }

    /// θ of one step and the next, with a gradient of ones.
    fn two_steps(momentum: f64, weight_decay: f64) -> [f32; 3] {
        let mut network = network(3);
        let mut sgd = Sgd::new(&OptimizerConfig { momentum, weight_decay, ..config(Schedule::Constant) });
        let first = |network: &Network| values(network.parameters()[0].1.clone())[0];
        let ones =
            |network: &Network| Gradients::new(network.parameters().into_iter().map(|(_, p)| p.ones_like()).collect());
        let mut seen = [first(&network); 3];
        for seen in &mut seen[1..] {
            let gradients = ones(&network);
            network = sgd.step(network, &gradients, 0.5);
            *seen = first(&network);
        }
        seen
    }

    #[test]
    fn momentum_and_weight_decay_are_pytorchs() {
        let [start, one, two] = two_steps(0.9, 0.0);
        assert!((start - 0.5 - one).abs() < 1e-6 && (one - 0.5 * 1.9 - two).abs() < 1e-6);
        let [start, one, two] = two_steps(0.0, 0.1);
        assert!((start - 0.5 * (1.0 + 0.1 * start) - one).abs() < 1e-6);
        assert!((one - 0.5 * (1.0 + 0.1 * one) - two).abs() < 1e-6);
    }

    #[test]
    fn its_state_comes_back_and_grows() {
        let mut network = network(3);
        let mut sgd = Sgd::new(&OptimizerConfig { momentum: 0.9, ..config(Schedule::Constant) });
        assert!(sgd.state(&network).0.is_empty());
        let gradients = Gradients::new(network.parameters().into_iter().map(|(_, p)| p.ones_like()).collect());
        network = sgd.step(network, &gradients, 0.1);
        let mut other = Sgd::new(&OptimizerConfig { momentum: 0.9, ..config(Schedule::Constant) });
        other.load(&sgd.state(&network), &network).unwrap();
        assert_eq!(other.state(&network), sgd.state(&network));
        network.grow(5, 0);
        sgd.grow(&network);
        let bias = &sgd.state(&network).0["head.bias"];
        assert_eq!(bias.values, [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert!(other.load(&sgd.state(&network).under("head."), &network).is_err());
    }
}
