//! CLS-ER (Arani et al., 2022): complementary learning systems. Beside the working network live two that follow it slowly by averaging, one
//! more stable, one more plastic; on replayed samples the working network learns to answer as the better of the two. The stable one
//! predicts.

use burn::{module::Module, tensor::Tensor};
use serde::{Deserialize, Serialize};

use super::{Er, Method, Reduction, StepBatch};
use crate::{
    chance::Chance,
    losses::{cross_entropy, mean_squared_error},
    network::{Network, State, StateError},
    sample::Class,
};

/// How the networks follow and teach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClsErOptions {
    /// The weight of the distance to the teachers' scores.
    pub consistency: f64,
    /// The probability with which the stable network moves after a step.
    pub stable_frequency: f64,
    /// The share of itself that it keeps when it moves.
    pub stable_alpha: f64,
    /// The probability with which the plastic network moves after a step.
    pub plastic_frequency: f64,
    /// The share of itself that it keeps when it moves.
    pub plastic_alpha: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct ClsEr {
    options: ClsErOptions,
    stable: Network,
    plastic: Network,
}

impl ClsEr {
    /// Both averaged networks begin as copies of the working one.
    pub fn new(options: ClsErOptions, working: &Network) -> Self {
        Self { options, stable: working.valid(), plastic: working.valid() }
    }

    /// The scores to learn on replayed images; the teachers' own running statistics move.
    fn teach(&mut self, images: &Tensor<4>, labels: &[Class]) -> Tensor<2> {
        let images = images.clone().without_autodiff();
        let stable = self.stable.train_logits(images.clone());
        better(stable, self.plastic.train_logits(images), labels)
    }
}

impl Method for ClsEr {
    /// Passes: the teachers on the replayed samples, the working network on them, the working network on new and replayed samples together.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let taught = batch.retrieved().map(|retrieved| {
            let target = Tensor::from_inner(self.teach(&retrieved.images, &retrieved.labels));
            let distance = mean_squared_error(network.train_logits(retrieved.images.clone()), target);
            distance * self.options.consistency
        });
        let replay = Er { reduction: Reduction::Mean }.loss(network, batch)?;
        Some(taught.map_or(replay.clone(), |taught| taught + replay))
    }

    fn after_step(&mut self, network: &Network, steps: u64, chance: &mut Chance) {
        let ClsErOptions { stable_frequency, stable_alpha, plastic_frequency, plastic_alpha, .. } = self.options;
        if chance.happens(plastic_frequency) {
            self.plastic = self.plastic.clone().averaged(network, share(steps, plastic_alpha));
        }
        if chance.happens(stable_frequency) {
            self.stable = self.stable.clone().averaged(network, share(steps, stable_alpha));
        }
    }

    fn predictor<'a>(&'a self, _: &'a Network) -> &'a Network {
        &self.stable
    }

    fn state(&self) -> State {
        let mut state = self.stable.state().prefixed("stable.");
        state.0.extend(self.plastic.state().prefixed("plastic.").0);
        state
    }

    fn load(&mut self, state: &State) -> Result<(), StateError> {
        self.stable.load(&state.under("stable."))?;
        self.plastic.load(&state.under("plastic."))
    }
}

/// For each row the scores of whichever network is surer of the label; of equals, the plastic one's.
fn better(stable: Tensor<2>, plastic: Tensor<2>, labels: &[Class]) -> Tensor<2> {
    let surer = cross_entropy(stable.clone(), labels).lower(cross_entropy(plastic.clone(), labels));
    let [count, classes] = stable.dims();
    plastic.mask_where(surer.reshape([count, 1]).expand([count, classes]), stable)
}

/// The share of itself that an averaged network keeps at a step, counted from 1: at first it follows closely.
fn share(steps: u64, alpha: f64) -> f64 {
    (1.0 - 1.0 / (steps as f64 + 1.0)).min(alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chance::Decides,
        gradients::Gradients,
        methods::testing::{anchors, close, network, rows, values},
        sample::TaskId,
    };

    const ALWAYS: ClsErOptions = ClsErOptions {
        consistency: 0.1,
        stable_frequency: 1.0,
        stable_alpha: 0.999,
        plastic_frequency: 1.0,
        plastic_alpha: 0.999,
    };

    #[test]
    fn v7_targets_and_distance() {
        let (stable, plastic) = (rows(&[[2.0, 0.0, 0.0], [0.0, 0.5, 0.0]]), rows(&[[1.0, 0.0, 0.5], [0.2, 1.5, 0.1]]));
        let targets = better(stable.clone(), plastic.clone(), &[Class(0), Class(1)]);
        close(&values(targets.clone()), &[2.0, 0.0, 0.0, 0.2, 1.5, 0.1]);
        let distance = mean_squared_error(rows(&[[1.5, 0.2, 0.1], [0.1, 1.0, 0.3]]), targets);
        close(&values(distance * ALWAYS.consistency), &[0.01]);
        let tied = better(rows(&[[1.0, 0.0, 2.0]]), rows(&[[1.0, 2.0, 0.0]]), &[Class(0)]);
        close(&values(tied), &[1.0, 2.0, 0.0]);
    }

    #[test]
    fn v7_shares() {
        let mut average = 1.0;
        for (steps, expected) in [(1, 0.5), (2, 0.333_333_33), (3, 0.25)] {
            average *= share(steps, 0.999);
            assert!((average - expected).abs() < 1e-8);
        }
        assert!(share(998, 0.999) < 0.999);
        assert!((share(999, 0.999) - 0.999).abs() < 1e-12 && (share(5000, 0.999) - 0.999).abs() < 1e-12);
    }

    #[test]
    fn the_averaged_networks_begin_as_the_working_one() {
        let working = network(3);
        let method = ClsEr::new(ALWAYS, &working);
        for averaged in [&method.stable, &method.plastic] {
            assert_eq!(averaged.state(), working.state());
        }
    }

    #[test]
    fn parameters_are_averaged_and_running_statistics_are_not() {
        let mut working = network(3);
        let mut method = ClsEr::new(ALWAYS, &working);
        let before = working.state();
        let batch =
            StepBatch { incoming: anchors(&[0, 1, 2], 1, &working), draws: Vec::new(), task: TaskId(0), seen: 3 };
        let descent = method.descent(&mut working, &batch).unwrap();
        working = working.clone().descend(&descent.gradients, 0.1);
        let after = working.state();
        method.after_step(&working, 1, &mut Chance::new(0, Decides::Averaging, &[0]));
        for (name, array) in method.stable.state().0 {
            let (from, to) = (&before.0[&name].values, &after.0[&name].values);
            let mean: Vec<f32> = from.iter().zip(to).map(|(a, b)| f32::midpoint(*a, *b)).collect();
            close(&array.values, if name.contains("running") { from } else { &mean });
        }
    }

    /// The network after a training pass and a step on noise.
    fn moved(network: &Network, seed: u64) -> Network {
        let mut network = network.clone();
        let anchors = anchors(&[0, 1, 2], seed, &network);
        let loss = cross_entropy(network.train_logits(anchors.images), &anchors.labels).mean();
        network.clone().descend(&Gradients::of(&loss, &network), 1.0)
    }

    #[test]
    fn a_network_that_never_moves_stays() {
        let working = network(3);
        let mut method = ClsEr::new(ClsErOptions { stable_frequency: 0.0, ..ALWAYS }, &working);
        let moved = moved(&working, 3);
        method.after_step(&moved, 1, &mut Chance::new(0, Decides::Averaging, &[0]));
        assert_eq!(method.stable.state(), working.state());
        assert_ne!(method.plastic.state(), working.state());
    }

    #[test]
    fn its_state_goes_into_another() {
        let first = network(3);
        let mut method = ClsEr::new(ALWAYS, &first);
        method.stable = moved(&first, 1).valid();
        method.plastic = moved(&first, 2).valid();
        let mut other = ClsEr::new(ALWAYS, &first);
        for name in ["stable.", "plastic."] {
            assert_ne!(other.state().under(name), method.state().under(name));
        }
        other.load(&method.state()).unwrap();
        assert_eq!(other.state(), method.state());
        assert!(other.load(&State::default()).is_err());
    }
}
