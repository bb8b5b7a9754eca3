//! What a retrieval may ask before a step. Nothing is computed until asked, and the virtual step at most once per step.

mod look_ahead;

use burn::tensor::Tensor;
pub use look_ahead::LookAhead;

use rehearsal_data::choice;

use crate::{
    clock::Phase,
    device::{is_host, read_all},
    memory::Memory,
    network::{Network, Norm},
    sample::{Class, InputShape, Sample, Slot, to_tensor},
    sample_probe::{NetworkProbe, SampleProbe},
    views::ViewBatch,
};

/// Answers a retrieval's questions about stored samples. A test answers from a table, and only what it will be asked.
pub trait Probe {
    /// For each slot, how much the coming update would change its loss: ce(x; θ − lr·g) − ce(x; θ)
    /// over the seen classes. The slots are one draw and go through the network as one batch.
    fn loss_change(&mut self, _: &[Slot]) -> Vec<f32> {
        unimplemented!("this probe knows no changes of loss")
    }

    /// The same for several draws, each of which is a batch. On a GPU they are passed together.
    fn loss_changes(&mut self, draws: &[&[Slot]]) -> Vec<Vec<f32>> {
        draws.iter().map(|draw| self.loss_change(draw)).collect()
    }

    /// The features of the raw image in each slot, in eval mode.
    fn features(&mut self, _: &[Slot]) -> Vec<Vec<f32>> {
        unimplemented!("this probe knows no features")
    }

    /// The features of each incoming sample's raw image, in eval mode.
    fn incoming_features(&mut self) -> Vec<Vec<f32>> {
        unimplemented!("this probe knows no features")
    }

    /// The incoming samples.
    fn incoming(&self) -> &[Sample] {
        &[]
    }
}

/// Answers nothing: for retrievals that ask nothing.
impl Probe for () {}

/// What normalises scored samples. Neither moves the running statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreNorm {
    /// The statistics of the draw.
    Batch,
    /// The running statistics.
    Eval,
}
choice!(ScoreNorm, "score norm", Batch = "batch", Eval = "eval");

/// How the virtual step and the scoring go.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// The learning rate of the virtual step.
    pub lr: f64,
    /// What normalises scored samples.
    pub norm: ScoreNorm,
    /// The shape of stored images.
    pub shape: InputShape,
}

/// What is coming in: the samples, and the views of them that the method trains on.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// As they are.
    pub samples: &'a [Sample],
    /// As the network will see them.
    pub views: &'a ViewBatch,
    /// Classes seen so far: `0..seen`.
    pub seen: usize,
}

/// A stored sample that was looked at, and how much the coming update would change its loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Where it is stored.
    pub slot: Slot,
    /// ce(x; θ − lr·g) − ce(x; θ).
    pub loss_change: f32,
}

/// Slots that are passed together: one draw, or several of one size after one another.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    slots: &'a [Slot],
    draws: usize,
}

impl Drawn<'_> {
    /// Each draw is normalised by its own statistics.
    fn norm(self) -> Norm {
        if self.draws == 1 { Norm::Batch } else { Norm::Batches(self.draws) }
    }
}

/// The probe of a real step. It holds the network by shared reference: asking cannot change it.
pub struct StepProbe<'a> {
    network: &'a Network,
    memory: &'a Memory,
    incoming: Incoming<'a>,
    scoring: Scoring,
    looked_ahead: Option<LookAhead>,
    candidates: Vec<Candidate>,
    mark: &'a mut dyn FnMut(Phase),
}

impl<'a> StepProbe<'a> {
    /// Answers for `memory`, before a step of `network`; `mark` is told when the virtual step is done.
    pub fn new(
        network: &'a Network,
        memory: &'a Memory,
        incoming: Incoming<'a>,
        scoring: Scoring,
        mark: &'a mut dyn FnMut(Phase),
    ) -> Self {
        Self { network, memory, incoming, scoring, looked_ahead: None, candidates: Vec::new(), mark }
    }

    /// Every change of loss that it was asked for, in the order asked.
    pub fn finish(self) -> Vec<Candidate> {
        self.candidates
    }

    fn images(&self, slots: &[Slot]) -> Tensor<4> {
        let image = |slot: &Slot| &*self.memory.slots()[slot.0].sample.image;
        to_tensor(slots.iter().map(image), self.scoring.shape, &self.network.device().without_autodiff())
    }

    /// How the loss of each sample changes with the virtual step: `[n]`, not yet read back.
    fn score(&mut self, drawn: Drawn) -> Tensor<1> {
        let labels: Vec<Class> = drawn.slots.iter().map(|&slot| self.memory.label(slot)).collect();
        let images = self.images(drawn.slots);
        let (network, Incoming { views, seen, .. }) = (self.network, self.incoming);
        let (lr, mark) = (self.scoring.lr, &mut self.mark);
        let look_ahead = self.looked_ahead.get_or_insert_with(|| {
            mark(Phase::Scoring);
            let looked_ahead = LookAhead::new(network, views, seen, lr);
            mark(Phase::VirtualStep);
            looked_ahead
        });
        let norm = match self.scoring.norm {
            ScoreNorm::Batch => drawn.norm(),
            ScoreNorm::Eval => Norm::Eval,
        };
        look_ahead.loss_change(&images, &labels, norm)
    }

    /// Whether draws are passed as one: a GPU does in one pass of all what it does in a pass of each,
    /// for a part of the launches; the processor would only need more memory at a time.
    fn passes_together(&self, draws: &[&[Slot]]) -> bool {
        let alike = draws.windows(2).all(|pair| pair[0].len() == pair[1].len());
        draws.len() > 1 && alike && !is_host(&self.network.device())
    }

    fn probe(&self) -> NetworkProbe<'a> {
        NetworkProbe { network: self.network, seen: self.incoming.seen, shape: self.scoring.shape }
    }
}

impl Probe for StepProbe<'_> {
    fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
        self.loss_changes(&[slots]).concat()
    }

    fn loss_changes(&mut self, draws: &[&[Slot]]) -> Vec<Vec<f32>> {
        let asked: Vec<&[Slot]> = draws.iter().copied().filter(|slots| !slots.is_empty()).collect();
        let scores = if self.passes_together(&asked) {
            vec![self.score(Drawn { slots: &asked.concat(), draws: asked.len() })]
        } else {
            asked.iter().map(|slots| self.score(Drawn { slots, draws: 1 })).collect()
        };
        let changes = read_all(scores).concat();
        let candidates = asked.concat().into_iter().zip(changes);
        let first = self.candidates.len();
        self.candidates.extend(candidates.map(|(slot, loss_change)| Candidate { slot, loss_change }));
        let mut rest = self.candidates[first..].iter().map(|candidate| candidate.loss_change);
        draws.iter().map(|slots| rest.by_ref().take(slots.len()).collect()).collect()
    }

    fn features(&mut self, slots: &[Slot]) -> Vec<Vec<f32>> {
        self.probe().features(&self.memory.at(slots))
    }

    fn incoming_features(&mut self) -> Vec<Vec<f32>> {
        self.probe().features(self.incoming.samples)
    }

    fn incoming(&self) -> &[Sample] {
        self.incoming.samples
    }
}
