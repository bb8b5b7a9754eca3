//! What a retrieval may ask before a step. Nothing is computed until asked, and the virtual step at
//! most once per step.

mod kept_features;
mod last_layer;
mod look_ahead;

use std::{collections::BTreeMap, sync::Arc};

use burn::{module::Module, tensor::Tensor};
pub use last_layer::LastLayer;
pub use look_ahead::LookAhead;

use crate::{
    choice::{About, choice},
    clock::Phase,
    device::{is_host, read_all},
    memory::Memory,
    network::{Network, Norm, State},
    sample::{Class, ImageShape, Sample, Slot, to_tensor},
    sample_probe::{NetworkProbe, SampleProbe},
    views::Anchors,
};

/// Answers a retrieval's questions about stored samples. A test answers from a table, and only what
/// it will be asked.
pub trait Probe {
    /// For each slot, how much the coming update would change its loss: ce(x; θ − lr·g) − ce(x; θ)
    /// over the seen classes, or an estimate of it ([`ScoreKind`]). The slots are one draw and go
    /// through the network as one batch.
    fn loss_change(&mut self, _: &[Slot]) -> Vec<f32> {
        unimplemented!("this probe knows no changes of loss")
    }

    /// The same for several draws, each of which is a batch of its own. On a GPU they go up, are passed
    /// and come back together, where nothing moves in between.
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

    /// How many steps have been taken before this one.
    fn steps(&self) -> u64 {
        0
    }
}

/// Answers nothing: for retrievals that ask nothing.
impl Probe for () {}

/// How the change of a sample's loss is found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreKind {
    /// Exactly: its loss after the virtual step minus its loss now.
    #[default]
    LookAhead,
    /// As if the head alone took the step: its loss then minus its loss now.
    HeadAhead,
    /// To first order, at the last layer alone.
    LastLayer,
    /// The same from features that are kept with each sample and computed anew when they are old.
    KeptFeatures,
}
choice!(
    ScoreKind,
    "score",
    LookAhead = "look-ahead",
    HeadAhead = "head-ahead",
    LastLayer = "last-layer",
    KeptFeatures = "kept-features"
);

impl ScoreKind {
    /// What normalises scored samples unless the user says otherwise. Kept features are computed for
    /// a few samples at a time, whose own statistics would say little.
    pub fn default_norm(self) -> ScoreNorm {
        if self == Self::KeptFeatures { ScoreNorm::Eval } else { ScoreNorm::Batch }
    }

    /// What it does and costs.
    pub fn about(self) -> About {
        let (does, costs) = match self {
            Self::LookAhead => ("loss after the virtual step minus loss now", "virtual step, two passes of each draw"),
            Self::HeadAhead => ("the same for a step of the head alone", "one pass of each draw"),
            Self::LastLayer => ("the same to first order, of the head alone", "one pass of each draw"),
            Self::KeptFeatures => {
                ("as last-layer, from features kept in memory", "a pass of those too old; 4 bytes a feature and slot")
            }
        };
        About { does, costs }
    }
}

/// What normalises scored samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreNorm {
    /// The statistics of the draw; nothing moves.
    Batch,
    /// The running statistics; nothing moves.
    Eval,
    /// The statistics of the draw, towards which the network's running ones move.
    Train,
}
choice!(ScoreNorm, "score norm", Batch = "batch", Eval = "eval", Train = "train");

/// How the virtual step and the scoring go.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// How a change of loss is found out.
    pub score: ScoreKind,
    /// The learning rate of the virtual step.
    pub lr: f64,
    /// What normalises scored samples.
    pub norm: ScoreNorm,
    /// The shape of stored images.
    pub shape: ImageShape,
    /// How many steps have been taken.
    pub steps: u64,
    /// Kept features that are older than so many steps are computed anew.
    pub feature_age: u64,
}

/// What is coming in: the samples, and the views of them that the method trains on.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// As they are.
    pub samples: &'a [Sample],
    /// As the network will see them.
    pub anchors: &'a Anchors,
    /// Classes seen so far: `0..seen`.
    pub seen: usize,
}

/// A stored sample that was looked at, and how much the coming update would change its loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Where it is stored.
    pub slot: Slot,
    /// ce(x; θ − lr·g) − ce(x; θ), or an estimate of it.
    pub loss_change: f32,
}

/// What a probe was asked, and what asking left: it changes nothing itself.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Probed {
    /// Every change of loss that it was asked for, in the order asked.
    pub candidates: Vec<Candidate>,
    /// The running statistics as the passes of scored samples would leave them, where these are to
    /// move.
    pub running: Option<State>,
    /// Features that were computed to be kept, by slot.
    pub features: Vec<(Slot, Arc<[f32]>)>,
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
    /// A copy of the network without autodiff, which scored samples pass.
    now: Option<Network>,
    looked_ahead: Option<LookAhead>,
    last_layer: Option<LastLayer>,
    /// Features to be kept that were computed in this step.
    passed: BTreeMap<Slot, Arc<[f32]>>,
    candidates: Vec<Candidate>,
    mark: &'a mut dyn FnMut(Phase),
}

impl<'a> StepProbe<'a> {
    /// Answers for `memory`, before a step of `network`; `mark` is told when the virtual step is
    /// done.
    pub fn new(
        network: &'a Network,
        memory: &'a Memory,
        incoming: Incoming<'a>,
        scoring: Scoring,
        mark: &'a mut dyn FnMut(Phase),
    ) -> Self {
        let (now, looked_ahead, last_layer) = (None, None, None);
        let (passed, candidates) = (BTreeMap::new(), Vec::new());
        Self { network, memory, incoming, scoring, now, looked_ahead, last_layer, passed, candidates, mark }
    }

    /// What it was asked, and what that left.
    pub fn finish(self) -> Probed {
        let Self { candidates, scoring, looked_ahead, now, passed, .. } = self;
        let moved = || looked_ahead.map(|ahead| ahead.running()).or_else(|| now.map(|network| network.running()));
        let running = (scoring.norm == ScoreNorm::Train).then(moved).flatten();
        Probed { candidates, running, features: passed.into_iter().collect() }
    }

    fn images(&self, slots: &[Slot]) -> Tensor<4> {
        let image = |slot: &Slot| &*self.memory.slots()[slot.0].sample.image;
        to_tensor(slots.iter().map(image), self.scoring.shape, &self.network.device().without_autodiff())
    }

    /// By the loss of the samples before and after the virtual step.
    fn look_ahead(&mut self, drawn: Drawn, labels: &[Class]) -> Tensor<1> {
        let images = self.images(drawn.slots);
        let (network, Incoming { anchors, seen, .. }) = (self.network, self.incoming);
        let (lr, norm, mark) = (self.scoring.lr, self.scoring.norm, &mut self.mark);
        let look_ahead = self.looked_ahead.get_or_insert_with(|| {
            mark(Phase::Scoring);
            let looked_ahead = LookAhead::new(network, anchors, seen, lr);
            mark(Phase::VirtualStep);
            looked_ahead
        });
        match norm {
            ScoreNorm::Batch => look_ahead.loss_change(&images, labels, drawn.norm()),
            ScoreNorm::Eval => look_ahead.loss_change(&images, labels, Norm::Eval),
            ScoreNorm::Train => look_ahead.train_loss_change(&images, labels),
        }
    }

    /// The head, and where the coming update would move it.
    fn last_layer(&mut self) -> &LastLayer {
        let (network, Incoming { anchors, seen, .. }) = (self.network, self.incoming);
        let (lr, mark) = (self.scoring.lr, &mut self.mark);
        self.last_layer.get_or_insert_with(|| {
            mark(Phase::Scoring);
            // With autodiff, so that the step can go on from this pass where it begins with the same.
            let features = network.features(anchors.images.clone(), Norm::Batch).without_autodiff();
            let last_layer = LastLayer::new(network.head().valid(), features, &anchors.labels, seen, lr);
            mark(Phase::VirtualStep);
            last_layer
        })
    }

    /// The features of stored samples, from one pass.
    fn pass(&mut self, drawn: Drawn) -> Tensor<2> {
        let images = self.images(drawn.slots);
        let network = self.now.get_or_insert_with(|| self.network.valid());
        match self.scoring.norm {
            ScoreNorm::Batch => network.features(images, drawn.norm()),
            ScoreNorm::Eval => network.features(images, Norm::Eval),
            ScoreNorm::Train => network.train_features(images),
        }
    }

    /// How the loss of each sample changes: `[n]`, not yet read back.
    fn score(&mut self, drawn: Drawn) -> Tensor<1> {
        let labels: Vec<Class> = drawn.slots.iter().map(|&slot| self.memory.label(slot)).collect();
        match self.scoring.score {
            ScoreKind::LookAhead => self.look_ahead(drawn, &labels),
            ScoreKind::HeadAhead => {
                let features = self.pass(drawn);
                self.last_layer().exact_loss_change(features, &labels)
            }
            ScoreKind::LastLayer => {
                let features = self.pass(drawn);
                self.last_layer().loss_change(features, &labels)
            }
            ScoreKind::KeptFeatures => {
                let features = self.kept_or_passed(drawn.slots);
                self.last_layer().loss_change(features, &labels)
            }
        }
    }

    /// Whether draws are passed as one: a GPU does in one pass of all what it does in a pass of each,
    /// for a part of the launches; the processor would only need more memory at a time. Running
    /// statistics that move do so from draw to draw, and kept features of the first serve the second.
    fn passes_together(&self, draws: &[&[Slot]]) -> bool {
        let alike = draws.windows(2).all(|pair| pair[0].len() == pair[1].len());
        let apart = self.scoring.norm == ScoreNorm::Train || self.scoring.score == ScoreKind::KeptFeatures;
        draws.len() > 1 && alike && !apart && !is_host(&self.network.device())
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

    fn steps(&self) -> u64 {
        self.scoring.steps
    }
}
