//! The change of loss at the last layer from features that are kept with each sample: only those that
//! are missing or too old are computed.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};

use super::{Drawn, StepProbe};
use crate::{
    device::{read, upload},
    sample::Slot,
};

impl StepProbe<'_> {
    /// The features of stored samples `[n, d]`: as they were kept, or from a pass.
    pub(super) fn kept_or_passed(&mut self, slots: &[Slot]) -> Tensor<2> {
        let missing: Vec<Slot> = slots.iter().copied().filter(|&slot| self.fresh(slot).is_none()).collect();
        if !missing.is_empty() {
            let passed = self.pass(Drawn { slots: &missing, draws: 1 });
            let size = passed.dims()[1];
            let values = read(passed);
            self.passed.extend(missing.into_iter().zip(values.chunks_exact(size).map(Arc::from)));
        }
        let rows: Vec<&[f32]> = slots.iter().filter_map(|&slot| self.fresh(slot)).collect();
        let size = rows.first().map_or(0, |row| row.len());
        let device = self.network.device().without_autodiff();
        upload(TensorData::new(rows.concat(), [rows.len(), size]), &device)
    }

    /// The features of a sample, if they were computed in this step or not too long ago.
    fn fresh(&self, slot: Slot) -> Option<&[f32]> {
        let kept = || {
            let kept = self.memory.slots()[slot.0].features.as_ref();
            kept.filter(|kept| kept.is_fresh(self.scoring.steps, self.scoring.feature_age))
        };
        self.passed.get(&slot).or_else(|| kept().map(|kept| &kept.values)).map(|values| &**values)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        memory::{KeptFeatures, Memorized, Memory},
        methods::testing::{anchors, network},
        probe::{Incoming, Probe, ScoreKind, ScoreNorm, Scoring, StepProbe},
        sample::{Class, ImageShape, Sample, Slot, TaskId},
    };

    const SHAPE: ImageShape = ImageShape { height: 8, width: 8, channels: 1 };

    fn memory() -> Memory {
        let mut memory = Memory::new(6);
        for slot in 0..6 {
            let image = (0..SHAPE.bytes()).map(|i| ((i * (slot + 3) * 7) % 256) as u8).collect();
            let sample = Sample { image, label: Class(slot as u16 % 3), task: TaskId(0) };
            memory.place(Memorized::from(sample), Some(Slot(slot)));
        }
        memory
    }

    /// The changes of loss of slots 0..4, and the slots that were passed for them.
    fn scored(memory: &Memory, score: ScoreKind, steps: u64) -> (Vec<f32>, Vec<(Slot, Vec<f32>)>) {
        let network = network(3);
        let anchors = anchors(&[0, 1], 1, &network);
        let incoming = Incoming { samples: &[], anchors: &anchors, seen: 3 };
        let scoring = Scoring { score, lr: 0.1, norm: ScoreNorm::Eval, shape: SHAPE, steps, feature_age: 5 };
        let mark = &mut |_| {};
        let mut probe = StepProbe::new(&network, memory, incoming, scoring, mark);
        let changes = probe.loss_change(&[0, 1, 2, 3].map(Slot));
        let again = probe.loss_change(&[1, 3].map(Slot));
        assert_eq!(again, [changes[1], changes[3]], "asked twice, answered alike");
        let passed = probe.finish().features.into_iter().map(|(slot, values)| (slot, values.to_vec())).collect();
        (changes, passed)
    }

    #[test]
    fn what_is_missing_is_passed_and_what_is_kept_is_not() {
        let (mut memory, close) = (memory(), |a: &[f32], b: &[f32]| {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?}, expected {b:?}");
        });
        let (exact, none) = scored(&memory, ScoreKind::LastLayer, 10);
        assert!(none.is_empty(), "a score that keeps nothing");
        let (changes, passed) = scored(&memory, ScoreKind::KeptFeatures, 10);
        close(&changes, &exact);
        assert_eq!(passed.iter().map(|(slot, _)| slot.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for (slot, values) in &passed {
            memory.keep_features(*slot, KeptFeatures { values: values.as_slice().into(), step: 10 });
        }
        let (changes, passed_again) = scored(&memory, ScoreKind::KeptFeatures, 15);
        close(&changes, &exact);
        assert!(passed_again.is_empty(), "five steps old is not too old");
        memory.keep_features(Slot(2), KeptFeatures { values: passed[2].1.as_slice().into(), step: 11 });
        let (_, passed) = scored(&memory, ScoreKind::KeptFeatures, 16);
        assert_eq!(passed.iter().map(|(slot, _)| slot.0).collect::<Vec<_>>(), [0, 1, 3], "six steps old is");
        memory.forget_features();
        assert_eq!(scored(&memory, ScoreKind::KeptFeatures, 16).1.len(), 4);
    }
}
