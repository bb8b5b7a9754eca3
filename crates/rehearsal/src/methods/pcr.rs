//! Proxy-based contrastive replay: every anchor is drawn to its class's proxy and away from the
//! proxies of the classes in the batch.

use burn::tensor::Tensor;

use super::{Method, Objective, Reduction, StepBatch};
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
    /// How the losses of new and replayed anchors are joined.
    pub reduction: Reduction,
}

impl Method for Pcr {
    /// New and replayed anchors go through the network in two passes, each with its own batch
    /// statistics, the new ones first; one mean over all anchors, unless the reduction says two.
    /// Without replay there is nothing to contrast with: no step, only the running statistics move.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let incoming = network.train_logits(batch.incoming.images.clone());
        let Some(retrieved) = batch.retrieved() else {
            return Objective { loss: None, logits: None, features: None };
        };
        let replayed = network.train_features(retrieved.images.clone());
        let features = Some(replayed.clone().detach());
        let logits = Tensor::cat(vec![incoming, network.head().logits(replayed)], 0);
        let labels = [&batch.incoming.labels[..], &retrieved.labels].concat();
        let losses = proxy_contrastive(logits, &labels, self.denominator);
        let loss = self.reduction.join(losses, batch.incoming.labels.len());
        Objective { loss: Some(loss), logits: None, features }
    }

    fn head(&self) -> HeadKind {
        HeadKind::Proxies { temperature: self.temperature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        methods::{
            Draw,
            testing::{close, network, values, views},
        },
        sample::TaskId,
    };

    /// As the equation adds two means: with three new anchors and one replayed, the replayed one
    /// weighs as much as all the new.
    #[test]
    fn two_means_weigh_new_and_replayed_alike() {
        let loss = |reduction| {
            let mut network = network(4);
            let (incoming, replayed) = (views(&[0, 1, 1], 1, &network), views(&[2], 2, &network));
            let draws = vec![Draw { views: replayed, logits: None }];
            let batch = StepBatch { incoming, draws, task: TaskId(0), seen: 4 };
            let mut method = Pcr { temperature: 0.5, denominator: Denominator::Multiset, reduction };
            let losses = {
                let network = network.clone();
                let norm = crate::network::Norm::Batch;
                let logits = |views: &crate::views::ViewBatch| network.logits(views.images.clone(), norm);
                let both = Tensor::cat(vec![logits(&batch.incoming), logits(&batch.draws[0].views)], 0);
                let labels = [&batch.incoming.labels[..], &batch.draws[0].views.labels].concat();
                values(proxy_contrastive(both, &labels, Denominator::Multiset))
            };
            (values(method.objective(&mut network, &batch).loss.unwrap())[0], losses)
        };
        let (mean, losses) = loss(Reduction::Mean);
        close(&[mean], &[losses.iter().sum::<f32>() / 4.0]);
        close(&[loss(Reduction::SumOfMeans).0], &[losses[..3].iter().sum::<f32>() / 3.0 + losses[3]]);
    }
}
