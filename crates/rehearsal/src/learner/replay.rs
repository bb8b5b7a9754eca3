//! What a step replays: the retrieval's choice, and the samples as the method sees them.

use burn::tensor::{Device, Tensor, TensorData};

use super::{Learner, Replayed};
use crate::{
    clock::Phase,
    device::upload,
    memory::Memory,
    methods::{Draw, StepBatch},
    probe::{Candidate, Incoming, Scoring, StepProbe},
    retrieval::Retrieved,
    rng::RngStream,
    sample::{Sample, Slot},
    views::ViewBatch,
};

impl Learner {
    /// What to replay, draw by draw, and every change of loss that was looked at.
    pub(super) fn retrieve(
        &self,
        incoming: &[Sample],
        views: &ViewBatch,
        lr: f64,
        mark: &mut dyn FnMut(Phase),
    ) -> (Vec<Vec<Replayed>>, Vec<Candidate>) {
        let coming = Incoming { samples: incoming, views, seen: self.classes.seen() };
        let scoring = Scoring { lr, norm: self.config.replay.score_norm, shape: self.shape };
        let mut probe = StepProbe::new(&self.network, &self.memory, coming, scoring, mark);
        let draws = if self.method.replays_in(self.task()) { self.method.draws() } else { 0 };
        let mut rng = self.rng(RngStream::Retrieval);
        let replayed = |retrieved: Retrieved| {
            let sample = self.memory.slots()[retrieved.slot.0].sample.clone();
            Replayed { sample, retrieved }
        };
        let mut draw = || self.retrieval.retrieve(self.config.replay.retrieved, &self.memory, &mut probe, &mut rng);
        let drawn = (0..draws).map(|_| draw().into_iter().map(replayed).collect()).collect();
        (drawn, probe.finish())
    }

    /// New and replayed samples as the method sees them.
    pub(super) fn batch(&self, incoming: ViewBatch, replayed: &[Vec<Replayed>]) -> StepBatch {
        let mut before = 0;
        let draw = |replayed: &Vec<Replayed>| {
            let samples: Vec<Sample> = replayed.iter().map(|replayed| replayed.sample.clone()).collect();
            let slots: Vec<Slot> = replayed.iter().map(|replayed| replayed.retrieved.slot).collect();
            let views = self.views(&samples, RngStream::ReplayAugmentation, before);
            before += samples.len();
            let logits = stored_logits(&self.memory, &slots, views.labels.len(), &self.network.device());
            Draw { views, logits }
        };
        let draws = replayed.iter().filter(|draw| !draw.is_empty()).map(draw).collect();
        StepBatch { incoming, draws, task: self.task(), seen: self.classes.seen() }
    }
}

/// The logits stored in `slots`, one row for each of `views` views; none if a slot has none.
pub(super) fn stored_logits(memory: &Memory, slots: &[Slot], views: usize, device: &Device) -> Option<Tensor<2>> {
    let rows: Option<Vec<&[f32]>> = slots.iter().map(|slot| memory.slots()[slot.0].logits.as_deref()).collect();
    let rows = rows.filter(|rows| !rows.is_empty())?;
    // Raw images first, then augmented ones: the rows of the slots over again.
    let values: Vec<f32> = rows.iter().copied().cycle().take(views).flatten().copied().collect();
    Some(upload(TensorData::new(values, [views, rows[0].len()]), device))
}
