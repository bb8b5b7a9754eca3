//! Proxy-based contrastive replay: every anchor is drawn to its class's proxy and away from the proxies of the classes in the batch.

use burn::tensor::Tensor;

use super::{Method, StepBatch};
use crate::{
    losses::{Denominator, proxy_contrastive},
    network::{HeadKind, Network},
};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Pcr {
    /// τ: scores are cosines divided by it.
    pub temperature: f64,
    /// Over which proxies the denominator runs.
    pub denominator: Denominator,
}

impl Method for Pcr {
    fn head(&self) -> HeadKind {
        HeadKind::Proxies { temperature: self.temperature }
    }

    /// New and replayed anchors go through the network in two passes, each with its own batch statistics, the new ones first; one mean over
    /// all anchors. Without replay there is nothing to contrast with: no step, only the running statistics move.
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let incoming = network.train_logits(batch.incoming.images.clone());
        let retrieved = batch.retrieved.as_ref()?;
        let scores = Tensor::cat(vec![incoming, network.train_logits(retrieved.images.clone())], 0);
        let labels = [&batch.incoming.labels[..], &retrieved.labels].concat();
        Some(proxy_contrastive(scores, &labels, self.denominator).mean())
    }
}
