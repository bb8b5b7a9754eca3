//! What a step replays: the retrieval's choice, and the samples as the method sees them.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};

use super::{Learner, Replayed};
use crate::{
    clock::Phase,
    device::{read, upload},
    memory::{KeptFeatures, Memory},
    methods::{Draw, StepBatch},
    probe::{Incoming, Probed, ScoreKind, Scoring, StepProbe},
    retrieval::Retrieved,
    rng::RngStream,
    sample::{Sample, Slot},
    views::{Anchors, Views},
};

impl Learner {
    /// What to replay, draw by draw, and what asking the network for it left. Nothing of the learner
    /// moves.
    pub(super) fn retrieve(
        &self,
        incoming: &[Sample],
        views: &Anchors,
        lr: f64,
        mark: &mut dyn FnMut(Phase),
    ) -> (Vec<Vec<Replayed>>, Probed) {
        let coming = Incoming { samples: incoming, anchors: views, seen: self.classes.seen() };
        let scoring = Scoring {
            score: self.config.score,
            lr,
            norm: self.config.score_norm,
            shape: self.shape,
            steps: self.cursor.steps,
            feature_age: self.config.feature_age.unwrap_or(0),
        };
        let retrievable = self.config.retrievable.of(&self.memory, self.task());
        let mut probe = StepProbe::new(&self.network, retrievable.memory(), coming, scoring, mark);
        let draws = if self.method.replays_in(self.task()) { self.method.draws() } else { 0 };
        let mut rng = self.rng(RngStream::Retrieval);
        let replayed = |retrieved: Retrieved| {
            let slot = retrievable.stored(retrieved.slot);
            Replayed { sample: self.memory.slots()[slot.0].sample.clone(), retrieved: Retrieved { slot, ..retrieved } }
        };
        let mut draw = || self.retrieval.retrieve(retrievable.memory(), &mut probe, &mut rng);
        let drawn = (0..draws).map(|_| draw().into_iter().map(replayed).collect()).collect();
        let mut probed = probe.finish();
        probed.candidates.iter_mut().for_each(|candidate| candidate.slot = retrievable.stored(candidate.slot));
        probed.features.iter_mut().for_each(|(slot, _)| *slot = retrievable.stored(*slot));
        (drawn, probed)
    }

    /// Takes over what asking the network has moved and found out.
    pub(super) fn absorb(&mut self, probed: &Probed) {
        if let Some(running) = &probed.running {
            let moved = self.network.with_running(running);
            self.network = moved.expect("the statistics of a copy of this network");
        }
        for (slot, values) in &probed.features {
            self.keep_features(*slot, values.clone());
        }
    }

    /// Keeps the features that the training pass had of the replayed samples of the first draw, where
    /// features are kept and those are of raw images. The network has moved since, by one step.
    pub(super) fn refresh_features(&mut self, replayed: &[Vec<Replayed>], features: Option<&Tensor<2>>) {
        let kept = self.config.score == ScoreKind::KeptFeatures && self.config.views != Views::Augmented;
        let (Some(features), Some(first), true) = (features, replayed.first(), kept) else { return };
        let size = features.dims()[1];
        let rows = read(features.clone());
        for (replayed, row) in first.iter().zip(rows.chunks_exact(size)) {
            self.keep_features(replayed.retrieved.slot, row.into());
        }
    }

    fn keep_features(&mut self, slot: Slot, values: Arc<[f32]>) {
        self.memory.keep_features(slot, KeptFeatures { values, step: self.cursor.steps });
    }

    /// New and replayed samples as the method sees them.
    pub(super) fn batch(&self, incoming: Anchors, replayed: &[Vec<Replayed>]) -> StepBatch {
        let mut before = 0;
        let draw = |replayed: &Vec<Replayed>| {
            let samples: Vec<Sample> = replayed.iter().map(|replayed| replayed.sample.clone()).collect();
            let slots: Vec<Slot> = replayed.iter().map(|replayed| replayed.retrieved.slot).collect();
            let anchors = self.views(&samples, RngStream::ReplayAugmentation, before);
            before += samples.len();
            let logits = stored_logits(&self.memory, &slots, anchors.labels.len(), &self.network.device());
            Draw { anchors, logits }
        };
        let draws = replayed.iter().filter(|draw| !draw.is_empty()).map(draw).collect();
        StepBatch { incoming, draws, task: self.task(), seen: self.classes.seen() }
    }
}

/// The logits stored in `slots`, one row for each of `views` anchors; none where a slot has none.
pub(super) fn stored_logits(memory: &Memory, slots: &[Slot], views: usize, device: &Device) -> Option<Tensor<2>> {
    let rows: Option<Vec<&[f32]>> = slots.iter().map(|slot| memory.slots()[slot.0].logits.as_deref()).collect();
    let rows = rows.filter(|rows| !rows.is_empty())?;
    // Raw images first, then augmented ones: the rows of the slots over again.
    let values: Vec<f32> = rows.iter().copied().cycle().take(views).flatten().copied().collect();
    Some(upload(TensorData::new(values, [views, rows[0].len()]), device))
}
