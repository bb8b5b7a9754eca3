//! CLS-ER (Arani et al., 2022): complementary learning systems. Beside the working network live two
//! that follow it slowly by averaging, one more stable, one more plastic; on replayed samples the
//! working network learns to answer as the better of the two. The stable one predicts.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{Er, Method, Objective, Reduction, StepBatch};
use crate::{
    losses::{cross_entropy, mean_squared_error},
    network::{Network, State, StateError},
    rng::Rng,
    sample::Class,
};

/// How the networks follow and teach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClsErOptions {
    /// The weight of the distance to the teachers' logits.
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
    /// None until the working network is known.
    averaged: Option<Averaged>,
}

/// The two networks that follow the working one.
#[derive(Clone, Debug)]
struct Averaged {
    stable: Network,
    plastic: Network,
}

impl Averaged {
    /// The logits to learn on replayed images; the networks' own running statistics move.
    fn teach(&mut self, images: &Tensor<4>, labels: &[Class]) -> Tensor<2> {
        let images = images.clone().without_autodiff();
        let stable = self.stable.train_logits(images.clone());
        better(stable, self.plastic.train_logits(images), labels)
    }
}

impl ClsEr {
    /// Before it has seen a network.
    pub fn new(options: ClsErOptions) -> Self {
        Self { options, averaged: None }
    }
}

impl Method for ClsEr {
    /// Passes: the averaged networks on the replayed samples, the working network on them, the
    /// working network on new and replayed samples together.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let taught = batch.retrieved().zip(self.averaged.as_mut()).map(|(retrieved, averaged)| {
            let target = Tensor::from_inner(averaged.teach(&retrieved.images, &retrieved.labels));
            let distance = mean_squared_error(network.train_logits(retrieved.images.clone()), target);
            distance * self.options.consistency
        });
        let replay = Er { reduction: Reduction::Mean }.objective(network, batch);
        let joined = |replay: Tensor<1>| match taught {
            Some(taught) => taught + replay,
            None => replay,
        };
        Objective { loss: replay.loss.map(joined), ..replay }
    }

    /// Both averaged networks begin as copies of the working one.
    fn start(&mut self, network: &Network) {
        self.averaged = Some(Averaged { stable: network.valid(), plastic: network.valid() });
    }

    /// A new class begins in all three networks alike.
    fn grow(&mut self, network: &Network) {
        if let Some(Averaged { stable, plastic }) = &mut self.averaged {
            stable.take_new_classes(network);
            plastic.take_new_classes(network);
        }
    }

    fn after_step(&mut self, network: &Network, steps: u64, rng: &mut Rng) {
        let ClsErOptions { stable_frequency, stable_alpha, plastic_frequency, plastic_alpha, .. } = self.options;
        let Some(Averaged { stable, plastic }) = &mut self.averaged else { return };
        if rng.happens(plastic_frequency) {
            *plastic = plastic.clone().averaged(network, share(steps, plastic_alpha));
        }
        if rng.happens(stable_frequency) {
            *stable = stable.clone().averaged(network, share(steps, stable_alpha));
        }
    }

    fn predictor<'a>(&'a self, network: &'a Network) -> &'a Network {
        self.averaged.as_ref().map_or(network, |averaged| &averaged.stable)
    }

    fn predictor_prefix(&self) -> Option<&'static str> {
        Some("stable.")
    }

    fn state(&self) -> State {
        let Some(Averaged { stable, plastic }) = &self.averaged else { return State::default() };
        let mut state = stable.state().prefixed("stable.");
        state.0.extend(plastic.state().prefixed("plastic.").0);
        state
    }

    fn load(&mut self, state: &State) -> Result<(), StateError> {
        let Some(Averaged { stable, plastic }) = &mut self.averaged else { return Ok(()) };
        stable.load(&state.under("stable.")).map_err(|error| error.under("stable."))?;
        plastic.load(&state.under("plastic.")).map_err(|error| error.under("plastic."))
    }
}

/// For each row the logits of whichever network is surer of the label; of equals, the plastic one's.
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
        gradients::Gradients,
        methods::testing::{close, network, rows, values, views},
        rng::RngStream,
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

    fn started(options: ClsErOptions, working: &Network) -> ClsEr {
        let mut method = ClsEr::new(options);
        method.start(working);
        method
    }

    #[test]
    fn the_averaged_networks_begin_as_the_working_one() {
        let working = network(3);
        let method = started(ALWAYS, &working);
        for name in ["stable.", "plastic."] {
            assert_eq!(method.state().under(name), working.state());
        }
    }

    #[test]
    fn a_new_class_begins_in_all_networks_alike() {
        let mut working = network(3);
        let mut method = started(ALWAYS, &working);
        method.averaged = Some(Averaged { stable: moved(&working, 1).valid(), plastic: moved(&working, 2).valid() });
        working.grow(5, 7);
        method.grow(&working);
        let new_rows = |state: &State| {
            let weight = &state.0["head.weight"];
            assert_eq!(weight.shape[0], 5);
            weight.values[3 * weight.shape[1]..].to_vec()
        };
        for name in ["stable.", "plastic."] {
            assert_eq!(new_rows(&method.state().under(name)), new_rows(&working.state()));
        }
    }

    #[test]
    fn parameters_are_averaged_and_running_statistics_are_not() {
        let mut working = network(3);
        let mut method = started(ALWAYS, &working);
        let before = working.state();
        let batch = StepBatch { incoming: views(&[0, 1, 2], 1, &working), draws: Vec::new(), task: TaskId(0), seen: 3 };
        let descent = method.descent(&mut working, &batch).unwrap();
        working = working.clone().plain_step(&descent.gradients, 0.1);
        let after = working.state();
        method.after_step(&working, 1, &mut Rng::new(0, RngStream::Averaging, &[0]));
        for (name, array) in method.state().under("stable.").0 {
            let (from, to) = (&before.0[&name].values, &after.0[&name].values);
            let mean: Vec<f32> = from.iter().zip(to).map(|(a, b)| f32::midpoint(*a, *b)).collect();
            close(&array.values, if name.contains("running") { from } else { &mean });
        }
    }

    /// The network after a training pass and a step on noise.
    fn moved(network: &Network, seed: u64) -> Network {
        let mut network = network.clone();
        let views = views(&[0, 1, 2], seed, &network);
        let loss = cross_entropy(network.train_logits(views.images), &views.labels).mean();
        network.clone().plain_step(&Gradients::from_loss(&loss, &network), 1.0)
    }

    #[test]
    fn a_network_that_never_moves_stays() {
        let working = network(3);
        let mut method = started(ClsErOptions { stable_frequency: 0.0, ..ALWAYS }, &working);
        let moved = moved(&working, 3);
        method.after_step(&moved, 1, &mut Rng::new(0, RngStream::Averaging, &[0]));
        assert_eq!(method.state().under("stable."), working.state());
        assert_ne!(method.state().under("plastic."), working.state());
    }

    #[test]
    fn its_state_goes_into_another() {
        let first = network(3);
        let mut method = started(ALWAYS, &first);
        method.averaged = Some(Averaged { stable: moved(&first, 1).valid(), plastic: moved(&first, 2).valid() });
        let mut other = started(ALWAYS, &first);
        for name in ["stable.", "plastic."] {
            assert_ne!(other.state().under(name), method.state().under(name));
        }
        other.load(&method.state()).unwrap();
        assert_eq!(other.state(), method.state());
        assert!(other.load(&State::default()).is_err());
    }
}
