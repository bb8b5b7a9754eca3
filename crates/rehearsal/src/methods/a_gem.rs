//! Averaged gradient episodic memory (Chaudhry et al., 2019): the step on the new samples, without what would raise the loss of replayed
//! ones.

use burn::tensor::Tensor;

use super::{Descent, FineTune, Method, StepBatch};
use crate::{gradients::Gradients, losses::cross_entropy, network::Network, sample::TaskId};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct AGem;

impl Method for AGem {
    /// The memory has no loss of its own: it only bends the gradient.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        FineTune.loss(network, batch)
    }

    fn descent(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Descent> {
        let loss = self.loss(network, batch)?;
        let gradients = Gradients::of(&loss, network);
        let gradients = match batch.retrieved() {
            None => gradients,
            Some(retrieved) => {
                let logits = network.train_logits(retrieved.images.clone());
                let reference = cross_entropy(logits, &retrieved.labels).mean();
                gradients.projected(&Gradients::of(&reference, network))
            }
        };
        Some(Descent { gradients, loss: loss.into_scalar() })
    }

    /// In the first task there is nothing old to protect.
    fn replays_in(&self, task: TaskId) -> bool {
        task.index() > 0
    }
}
