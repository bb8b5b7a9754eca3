//! Fine-tuning: cross-entropy on the new samples, no memory. The lower bound of every table. Joint
//! training, the upper bound, is the same on a stream of one task with all classes.

use super::{Method, Objective, StepBatch};
use crate::{losses::cross_entropy, network::Network};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct FineTune;

impl Method for FineTune {
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let logits = network.train_logits(batch.incoming.images.clone());
        cross_entropy(logits, &batch.incoming.labels).mean().into()
    }
}
