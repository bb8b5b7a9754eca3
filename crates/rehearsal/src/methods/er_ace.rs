//! ER-ACE (Caccia et al., 2022): asymmetric cross-entropy. New samples compete only with the
//! classes of their batch and with classes not yet seen, so that learning them does not push the
//! old ones away; replayed samples compete with all.

use burn::tensor::{Bool, Tensor, TensorData};
use rehearsal_data::choice;
use serde::{Deserialize, Serialize};

use super::{FineTune, Method, Objective, StepBatch};
use crate::{
    device::upload,
    losses::cross_entropy,
    network::{HeadKind, Network},
    sample::{Class, TaskId},
};

/// What masked logits become.
const MASKED: f32 = -1e9;

/// From features to logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AceHead {
    /// W f + b.
    Linear,
    /// Ten times the cosine to one vector per class.
    Cosine,
}
choice!(AceHead, "head", Linear = "linear", Cosine = "cosine");

impl AceHead {
    /// The head it stands for.
    pub fn kind(self) -> HeadKind {
        match self {
            Self::Linear => HeadKind::Linear,
            Self::Cosine => HeadKind::Proxies { temperature: 0.1 },
        }
    }
}

/// How ER-ACE is run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErAceOptions {
    /// Mask and replay from the very first step, not only from the second task on.
    #[serde(rename = "task-free")]
    pub task_free: bool,
    /// From features to logits.
    pub head: AceHead,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct ErAce(pub ErAceOptions);

impl Method for ErAce {
    /// Two passes, the new samples first; the sum of two means.
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        if !self.replays_in(batch.task) {
            return FineTune.objective(network, batch);
        }
        let labels = &batch.incoming.labels;
        let logits = network.train_logits(batch.incoming.images.clone());
        let incoming = cross_entropy(masked(logits, labels, batch.seen), labels).mean();
        let Some(retrieved) = batch.retrieved() else { return incoming.into() };
        let logits = network.train_logits(retrieved.images.clone());
        (incoming + cross_entropy(logits, &retrieved.labels).mean()).into()
    }

    fn head(&self) -> HeadKind {
        self.0.head.kind()
    }

    fn replays_in(&self, task: TaskId) -> bool {
        self.0.task_free || task.index() > 0
    }
}

/// Scores `[n, K]` without those of classes that were seen and are not among `labels`.
fn masked(logits: Tensor<2>, labels: &[Class], seen: usize) -> Tensor<2> {
    let classes = logits.dims()[1];
    let absent = |class: usize| class < seen && labels.iter().all(|label| label.index() != class);
    let mask: Vec<bool> = (0..classes).map(absent).collect();
    let mask: Tensor<2, Bool> = upload(TensorData::new(mask, [1, classes]), &logits.device());
    let dims = logits.dims();
    logits.mask_fill(mask.expand(dims), MASKED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::methods::testing::{close, rows, values};

    const LOGITS: [[f32; 6]; 2] = [[0.5, 1.5, 0.2, 0.1, -0.3, 0.4], [1.0, 0.0, -0.5, 0.7, 0.2, 0.1]];
    const LABELS: [Class; 2] = [Class(2), Class(3)];

    #[test]
    fn v6_losses() {
        let loss = |seen| values(cross_entropy(masked(rows(&LOGITS), &LABELS, seen), &LABELS).mean())[0];
        close(&[loss(4)], &[1.107_951_62]);
        close(&[loss(6)], &[0.453_839_56]);
        close(&[loss(0)], &[1.814_290_89]);
        let replay = cross_entropy(rows(&[[0.3, 0.9, 0.0, 0.0, -1.0, -1.0]]), &[Class(0)]).mean();
        close(&values(replay.clone()), &[1.578_735_13]);
        let incoming = cross_entropy(masked(rows(&LOGITS), &LABELS, 4), &LABELS).mean();
        close(&values(incoming + replay), &[2.686_686_75]);
    }

    proptest! {
        #[test]
        fn masked_scores_get_exactly_no_gradient(
            logits in prop::collection::vec(-20f32..20.0, 18),
            labels in prop::collection::vec(0u16..6, 3),
            seen in 0usize..7,
        ) {
            let labels: Vec<Class> = labels.into_iter().map(Class).collect();
            let logits = rows(logits.as_chunks::<6>().0);
            let loss = cross_entropy(masked(logits.clone(), &labels, seen), &labels).mean();
            let gradient = values(logits.grad(&loss.backward()).unwrap());
            for (index, value) in gradient.into_iter().enumerate() {
                let class = index % 6;
                let absent = class < seen && labels.iter().all(|label| label.index() != class);
                prop_assert!(!absent || value == 0.0, "class {class}: {value}");
            }
        }
    }
}
