//! Proxy-based contrastive replay: every anchor is drawn to its class's proxy and away from the proxies of the classes in the batch.

use burn::tensor::Tensor;

use super::{Method, StepBatch};
use crate::{
    losses::{Denominator, proxy_contrastive},
    network::Network,
};

/// See the module. The scores come from a head of proxies, which knows the temperature.
#[derive(Clone, Debug)]
pub struct Pcr {
    denominator: Denominator,
    /// Of the step's replayed anchors, until someone asks for them.
    replayed: Option<Tensor<2>>,
}

impl Pcr {
    /// With the denominator over these proxies.
    pub fn new(denominator: Denominator) -> Self {
        Self { denominator, replayed: None }
    }
}

impl Method for Pcr {
    /// New and replayed anchors go through the network in two passes, each with its own batch statistics, the new ones first; one mean over
    /// all anchors. Without replay there is nothing to contrast with: no step, only the running statistics move.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let incoming = network.train_logits(batch.incoming.images.clone());
        let retrieved = batch.retrieved()?;
        let replayed = network.train_features(retrieved.images.clone());
        self.replayed = Some(replayed.clone().detach());
        let scores = Tensor::cat(vec![incoming, network.head().logits(replayed)], 0);
        let labels = [&batch.incoming.labels[..], &retrieved.labels].concat();
        Some(proxy_contrastive(scores, &labels, self.denominator).mean())
    }

    fn replayed_features(&mut self) -> Option<Tensor<2>> {
        self.replayed.take()
    }
}
