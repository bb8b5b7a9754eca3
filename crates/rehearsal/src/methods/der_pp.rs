//! Dark experience replay, DER++ (Buzzega et al., 2020): replayed samples keep the logits they had
//! when they came, and their labels.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{Draw, Method, Objective, StepBatch};
use crate::{
    losses::{cross_entropy, mean_squared_error},
    network::Network,
};

/// How much the replayed samples weigh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerPpOptions {
    /// α: of the first draw's distance to its stored logits.
    #[serde(rename = "der-alpha")]
    pub alpha: f64,
    /// β: of the second draw's cross-entropy.
    #[serde(rename = "der-beta")]
    pub beta: f64,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct DerPp(pub DerPpOptions);

impl DerPp {
    /// CE(incoming) + α·MSE(matched, stored) + β·CE(replayed).
    fn joined(self, incoming: Tensor<1>, matched: Tensor<1>, replayed: Tensor<1>) -> Tensor<1> {
        incoming + matched * self.0.alpha + replayed * self.0.beta
    }
}

impl Method for DerPp {
    /// Three passes, in this order: new samples, first draw, second draw.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let logits = network.train_logits(batch.incoming.images.clone());
        let kept = Some(logits.clone().detach());
        let incoming = cross_entropy(logits, &batch.incoming.labels).mean();
        let loss = match &batch.draws[..] {
            [Draw { views, logits: Some(stored) }, second] => {
                let matched = distance(network.train_logits(views.images.clone()), stored.clone());
                let logits = network.train_logits(second.views.images.clone());
                let replayed = cross_entropy(logits, &second.views.labels).mean();
                self.joined(incoming, matched, replayed)
            }
            _ => incoming,
        };
        Objective { loss: Some(loss), logits: kept, features: None }
    }

    fn draws(&self) -> usize {
        2
    }

    fn stores_logits(&self) -> bool {
        true
    }
}

/// The mean squared distance to stored logits `[n, K]`. A class that was not known when they were
/// stored (NaN) has no target: its entry is the network's own, and no gradient.
fn distance(logits: Tensor<2>, stored: Tensor<2>) -> Tensor<1> {
    let unknown = stored.clone().is_nan();
    let targets = stored.mask_where(unknown, logits.clone().detach());
    mean_squared_error(logits, targets)
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
        let method = DerPp(DerPpOptions { alpha: 0.5, beta: 0.5 });
        let incoming = cross_entropy(rows(&[[1.0, 0.0, -1.0], [0.5, 0.5, 2.0]]), &[Class(0), Class(1)]).mean();
        close(&values(incoming.clone()), &[1.138_293_55]);
        let stored = rows(&[[0.0, 0.3, -0.2], [0.8, -0.4, 0.1]]);
        let matched = distance(rows(&[[0.2, 0.1, 0.0], [1.0, -1.0, 0.5]]), stored);
        close(&values(matched.clone()), &[0.113_333_33]);
        let replayed = cross_entropy(rows(&[[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), &[Class(2), Class(1)]).mean();
        close(&values(replayed.clone()), &[1.550_769_79]);
        close(&values(method.joined(incoming, matched, replayed)), &[1.970_345_11]);
    }

    #[test]
    fn a_class_that_was_not_known_pulls_nowhere() {
        let logits = rows(&[[0.5, 1.0, -3.0]]);
        let loss = distance(logits.clone(), rows(&[[0.0, 0.0, f32::NAN]]));
        close(&values(loss.clone()), &[1.25 / 3.0]);
        let gradient = values(logits.grad(&loss.backward()).unwrap());
        close(&gradient, &[1.0 / 3.0, 2.0 / 3.0, 0.0]);
    }
}
