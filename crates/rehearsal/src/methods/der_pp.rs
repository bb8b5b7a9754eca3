//! Dark experience replay, DER++ (Buzzega et al., 2020): replayed samples keep the scores they had when they came, and their labels.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{Draw, Method, StepBatch};
use crate::{
    losses::{cross_entropy, mean_squared_error},
    network::Network,
};

/// How much the replayed samples weigh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerPpOptions {
    /// α: of the first draw's distance to its stored scores.
    #[serde(rename = "der-alpha")]
    pub alpha: f64,
    /// β: of the second draw's cross-entropy.
    #[serde(rename = "der-beta")]
    pub beta: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct DerPp {
    options: DerPpOptions,
    /// The scores of the last incoming pass.
    incoming: Option<Tensor<2>>,
}

impl DerPp {
    /// Before the first step.
    pub fn new(options: DerPpOptions) -> Self {
        Self { options, incoming: None }
    }

    /// CE(incoming) + α·MSE(matched, stored) + β·CE(replayed).
    fn joined(&self, incoming: Tensor<1>, matched: Tensor<1>, replayed: Tensor<1>) -> Tensor<1> {
        incoming + matched * self.options.alpha + replayed * self.options.beta
    }
}

impl Method for DerPp {
    /// Three passes, in this order: new samples, first draw, second draw.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let logits = network.train_logits(batch.incoming.images.clone());
        self.incoming = Some(logits.clone().detach());
        let incoming = cross_entropy(logits, &batch.incoming.labels).mean();
        let [first, second] = &batch.draws[..] else { return Some(incoming) };
        let Draw { anchors, logits: Some(stored) } = first else { return Some(incoming) };
        let matched = mean_squared_error(network.train_logits(anchors.images.clone()), stored.clone());
        let logits = network.train_logits(second.anchors.images.clone());
        let replayed = cross_entropy(logits, &second.anchors.labels).mean();
        Some(self.joined(incoming, matched, replayed))
    }

    fn draws(&self) -> usize {
        2
    }

    fn logits_to_store(&mut self) -> Option<Tensor<2>> {
        self.incoming.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        methods::testing::{close, rows, values},
        sample::Class,
    };

    #[test]
    fn v5_loss() {
        let method = DerPp::new(DerPpOptions { alpha: 0.5, beta: 0.5 });
        let incoming = cross_entropy(rows(&[[1.0, 0.0, -1.0], [0.5, 0.5, 2.0]]), &[Class(0), Class(1)]).mean();
        close(&values(incoming.clone()), &[1.138_293_55]);
        let stored = rows(&[[0.0, 0.3, -0.2], [0.8, -0.4, 0.1]]);
        let matched = mean_squared_error(rows(&[[0.2, 0.1, 0.0], [1.0, -1.0, 0.5]]), stored);
        close(&values(matched.clone()), &[0.113_333_33]);
        let replayed = cross_entropy(rows(&[[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), &[Class(2), Class(1)]).mean();
        close(&values(replayed.clone()), &[1.550_769_79]);
        close(&values(method.joined(incoming, matched, replayed)), &[1.970_345_11]);
    }
}
