//! Averaged gradient episodic memory (Chaudhry et al., 2019): the step on the new samples, without
//! what would raise the loss of replayed ones.

use super::{Descent, FineTune, Method, Objective, StepBatch};
use crate::{gradients::Gradients, losses::cross_entropy, network::Network, sample::TaskId};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct AGem;

impl Method for AGem {
    /// The memory has no loss of its own: it only bends the gradient.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        FineTune.objective(network, batch)
    }

    fn descent(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Descent> {
        let descent = FineTune.descent(network, batch)?;
        let Some(retrieved) = batch.retrieved() else { return Some(descent) };
        let logits = network.train_logits(retrieved.images.clone());
        let reference = cross_entropy(logits, &retrieved.labels).mean();
        let gradients = descent.gradients.projected(&Gradients::from_loss(&reference, network));
        Some(Descent { gradients, ..descent })
    }

    /// In the first task there is nothing old to protect.
    fn replays_in(&self, task: TaskId) -> bool {
        task.index() > 0
    }
}
