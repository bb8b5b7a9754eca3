//! Experience replay: cross-entropy on new and replayed samples, in one joint pass.

use burn::tensor::Tensor;

use super::{Method, Objective, StepBatch};
use crate::{choice::choice, losses::cross_entropy, network::Network};

/// How the losses of new and replayed samples are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// One mean over all of them.
    Mean,
    /// The mean of the new plus the mean of the replayed.
    SumOfMeans,
}
choice!(Reduction, "reduction", Mean = "mean", SumOfMeans = "sum-of-means");

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Er {
    /// How the losses are joined.
    pub reduction: Reduction,
}

impl Method for Er {
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let incoming = &batch.incoming;
        let Some(retrieved) = batch.retrieved() else {
            let logits = network.train_logits(incoming.images.clone());
            return cross_entropy(logits, &incoming.labels).mean().into();
        };
        let images = Tensor::cat(vec![incoming.images.clone(), retrieved.images.clone()], 0);
        let losses = cross_entropy(network.train_logits(images), &[&incoming.labels[..], &retrieved.labels].concat());
        let (new, old) = (incoming.labels.len(), retrieved.labels.len());
        let loss = match self.reduction {
            Reduction::Mean => losses.mean(),
            Reduction::SumOfMeans => losses.clone().narrow(0, 0, new).mean() + losses.narrow(0, new, old).mean(),
        };
        loss.into()
    }
}
