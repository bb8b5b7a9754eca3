//! Proxy-based contrastive replay: every anchor is drawn to its class's proxy and away from the
//! proxies of the classes in the batch.

use burn::tensor::Tensor;

use super::{Method, Objective, StepBatch};
use crate::{
    losses::{Denominator, proxy_contrastive},
    network::{HeadKind, Network},
};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Pcr {
    /// τ: what the cosines to the proxies are divided by.
    pub temperature: f64,
    /// Over which proxies the denominator runs.
    pub denominator: Denominator,
}

impl Method for Pcr {
    /// New and replayed anchors go through the network in two passes, each with its own batch
    /// statistics, the new ones first; one mean over all anchors. Without replay there is nothing
    /// to contrast with: no step, only the running statistics move.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let incoming = network.train_logits(batch.incoming.images.clone());
        let Some(retrieved) = batch.retrieved() else {
            return Objective { loss: None, logits: None, features: None };
        };
        let replayed = network.train_features(retrieved.images.clone());
        let features = Some(replayed.clone().detach());
        let logits = Tensor::cat(vec![incoming, network.head().logits(replayed)], 0);
        let labels = [&batch.incoming.labels[..], &retrieved.labels].concat();
        let loss = proxy_contrastive(logits, &labels, self.denominator).mean();
        Objective { loss: Some(loss), logits: None, features }
    }

    fn head(&self) -> HeadKind {
        HeadKind::Proxies { temperature: self.temperature }
    }
}
