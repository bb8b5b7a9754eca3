//! Fine-tuning: cross-entropy on the new samples, no memory. The lower bound of every table.

use burn::tensor::Tensor;

use super::{Method, StepBatch};
use crate::{losses::cross_entropy, network::Network};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct FineTune;

impl Method for FineTune {
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let logits = network.train_logits(batch.incoming.images.clone());
        Some(cross_entropy(logits, &batch.incoming.labels).mean())
    }
}
