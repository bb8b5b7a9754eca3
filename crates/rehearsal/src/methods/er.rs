//! Experience replay: cross-entropy on new and replayed samples, in one joint pass.

use burn::tensor::Tensor;
use rehearsal_data::choice;

use super::{Method, Objective, StepBatch};
use crate::{losses::cross_entropy, network::Network};

/// How the losses of new and replayed samples are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// One mean over all of them.
    Mean,
    /// The mean of the new plus the mean of the replayed.
    SumOfMeans,
}
choice!(Reduction, "reduction", Mean = "mean", SumOfMeans = "sum-of-means");

impl Reduction {
    /// The loss of a step `[1]` from those of its samples `[n]`, of which the first `new` are new.
    pub fn join(self, losses: Tensor<1>, new: usize) -> Tensor<1> {
        let replayed = losses.dims()[0] - new;
        match self {
            Self::Mean => losses.mean(),
            Self::SumOfMeans => losses.clone().narrow(0, 0, new).mean() + losses.narrow(0, new, replayed).mean(),
        }
    }
}

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
        self.reduction.join(losses, incoming.labels.len()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::testing::{close, rows, values};

    #[test]
    fn losses_are_joined_by_one_mean_or_by_two() {
        let losses = || rows(&[[1.0, 3.0, 5.0, 0.0, 1.0]]).reshape([5]);
        close(&values(Reduction::Mean.join(losses(), 2)), &[2.0]);
        close(&values(Reduction::SumOfMeans.join(losses(), 2)), &[2.0 + 2.0]);
    }
}
