//! The learner: a network, a method, a memory and a retrieval, and one step of them, which is Algorithm 1 of the paper.

use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};

use crate::{
    appraiser::NetworkAppraiser,
    chance::{Chance, Decides},
    clock::{Clock, Phases},
    diagnostics::{Diagnostics, Retrieved},
    memory::{Memorized, Memory, Policy},
    methods::{Descent, Draw, Method, StepBatch},
    network::{Network, State, StateError},
    probe::{Incoming, Scoring, StepProbe},
    retrieval::Retrieval,
    sample::{Class, Sample, Slot, TaskId, to_tensor},
    views::{Occasion, Views},
};

/// Images per batch when predicting. The result does not depend on it; as many as a usual draw of candidates share its workspace.
const TEST_BATCH: usize = 50;

/// What a learner is made of.
pub struct Parts {
    /// The classifier, on an autodiff device.
    pub network: Network,
    /// What a step minimises.
    pub method: Box<dyn Method>,
    /// Who is replayed.
    pub retrieval: Box<dyn Retrieval>,
    /// Who stays.
    pub policy: Box<dyn Policy>,
    /// Where they stay; one without capacity replays nothing.
    pub memory: Memory,
}

/// How a learner learns.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The views it trains on.
    pub views: Views,
    /// Decides every draw.
    pub seed: u64,
    /// Learning rate, image shape, and how candidates are scored.
    pub scoring: Scoring,
}

/// A classifier that learns from a stream and remembers.
pub struct Learner {
    parts: Parts,
    settings: Settings,
    steps: u64,
}

/// Where in the stream a step is.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// The task that is being learned.
    pub task: TaskId,
    /// All samples so far, the new ones included, are of the classes `0..seen`.
    pub seen: usize,
    /// Whether the new samples may enter the memory.
    pub offered: bool,
}

/// What happened in a step.
#[derive(Clone, Copy, Debug)]
pub struct StepReport {
    /// The loss descended; none where the step only moved the running statistics.
    pub loss: Option<f32>,
    /// How many samples were replayed.
    pub retrieved: usize,
    /// Where the time went.
    pub seconds: Phases,
}

impl Learner {
    /// A learner before its first step.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        Self { parts, settings, steps: 0 }
    }

    /// Learns from one batch of new samples.
    pub fn step(&mut self, incoming: &[Sample], stage: Stage) -> StepReport {
        self.watched_step(incoming, stage, None)
    }

    /// As [`Learner::step`], while someone looks. What is learned does not depend on that.
    pub fn watched_step(
        &mut self,
        incoming: &[Sample],
        stage: Stage,
        mut watch: Option<&mut Diagnostics>,
    ) -> StepReport {
        let Settings { views, seed, scoring } = self.settings;
        let (Scoring { lr, shape, .. }, Stage { task, seen, offered }) = (scoring, stage);
        let Parts { network, method, retrieval, policy, memory } = &mut self.parts;
        let (step, device) = (self.steps, network.device());
        let occasion = |what, before| Occasion { seed, what, step, before };
        let mut clock = Clock::start();
        let mut seconds = Phases::default();

        let new = views.of(incoming, shape, occasion(Decides::Augmentation, 0), &device);
        seconds.data += clock.lap();

        let mut chance = Chance::new(seed, Decides::Retrieval, &[step]);
        let coming = Incoming { samples: incoming, anchors: &new, seen };
        let mut probe = StepProbe::new(network, memory, coming, scoring);
        let draws = if method.replays_in(task) { method.draws() } else { 0 };
        let drawn: Vec<Vec<Slot>> = (0..draws).map(|_| retrieval.retrieve(memory, &mut probe, &mut chance)).collect();
        seconds.virtual_step = probe.virtual_step;
        seconds.scoring = clock.lap() - probe.virtual_step;
        let loss_changes = std::mem::take(&mut probe.loss_changes);
        // The looked-ahead network is as large as the network itself: it goes before training begins.
        drop(probe);

        let retrieved = drawn.iter().map(Vec::len).sum();
        let replayed: Vec<Vec<Sample>> = drawn.iter().map(|slots| memory.at(slots)).collect();
        if let Some(watch) = &mut watch {
            let conflicting = retrieval.conflicting(memory);
            let chosen = Retrieved { draws: &replayed, conflicting, loss_changes: &loss_changes };
            watch.retrieved(chosen, incoming, &mut NetworkAppraiser { network, seen, shape }, step);
        }
        seconds.diagnostics = clock.lap();

        let mut before = 0;
        let replay = |(slots, samples): (&Vec<Slot>, &Vec<Sample>)| {
            let occasion = occasion(Decides::ReplayAugmentation, before);
            before += slots.len();
            let anchors = views.of(samples, shape, occasion, &device);
            Draw { logits: stored_logits(memory, slots, anchors.labels.len(), &device), anchors }
        };
        let draws = drawn.iter().zip(&replayed).filter(|(slots, _)| !slots.is_empty()).map(replay).collect();
        let batch = StepBatch { incoming: new, draws, task, seen };
        seconds.data += clock.lap();

        let descent = method.descent(network, &batch);
        seconds.training = clock.lap();
        if let (Some(watch), Some(features)) = (watch, method.replayed_features()) {
            watch.trained(features, &replayed[0], network);
        }
        seconds.diagnostics += clock.lap();
        let loss = descent.map(|Descent { loss, gradients }| {
            *network = network.clone().descend(&gradients, lr);
            loss
        });
        method.after_step(network, step + 1, &mut Chance::new(seed, Decides::Averaging, &[step]));
        seconds.training += clock.lap();

        let logits = method.logits_to_store();
        if offered {
            let appraiser = &mut NetworkAppraiser { network, seen, shape };
            let chance = &mut Chance::new(seed, Decides::Reservoir, &[step]);
            policy.offer(memory, to_memorize(incoming, logits), appraiser, chance);
        }
        seconds.memory = clock.lap();

        self.steps += 1;
        StepReport { loss, retrieved, seconds }
    }

    /// The most likely of the classes `0..seen` for each sample.
    pub fn predict(&self, samples: &[Sample], seen: usize) -> Vec<Class> {
        let network = self.parts.method.predictor(&self.parts.network).valid();
        let device = network.device();
        let batch = |samples: &[Sample]| -> Tensor<4> {
            to_tensor(samples.iter().map(|sample| &*sample.image), self.settings.scoring.shape, &device)
        };
        samples.chunks(TEST_BATCH).flat_map(|samples| network.predict(batch(samples), seen)).collect()
    }

    /// The classifier.
    pub fn network(&self) -> &Network {
        &self.parts.network
    }

    /// What it remembers.
    pub fn memory(&self) -> &Memory {
        &self.parts.memory
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What its method remembers from step to step.
    pub fn method_state(&self) -> State {
        self.parts.method.state()
    }

    /// Puts the learner where a saved one was: that is all it takes, for every draw follows from the seed and the step.
    ///
    /// # Errors
    /// The states are not those of this network and this method: then the learner may be partly replaced.
    pub fn restore(&mut self, network: &State, method: &State, memory: Memory, steps: u64) -> Result<(), StateError> {
        self.parts.network.load(network)?;
        self.parts.method.load(method)?;
        (self.parts.memory, self.steps) = (memory, steps);
        Ok(())
    }
}

/// The scores stored in `slots`, one row for each of `views` anchors; none where a slot has none.
fn stored_logits(memory: &Memory, slots: &[Slot], views: usize, device: &Device) -> Option<Tensor<2>> {
    let rows: Option<Vec<&[f32]>> = slots.iter().map(|slot| memory.slots()[slot.0].logits.as_deref()).collect();
    let rows = rows.filter(|rows| !rows.is_empty())?;
    // Raw images first, then augmented ones: the rows of the slots over again.
    let values: Vec<f32> = rows.iter().copied().cycle().take(views).flatten().copied().collect();
    Some(Tensor::from_data(TensorData::new(values, [views, rows[0].len()]), device))
}

/// The samples of a step on their way into the memory, each with its row of scores: its last view's, where it had two.
fn to_memorize(samples: &[Sample], logits: Option<Tensor<2>>) -> Vec<Memorized> {
    let mut memorized: Vec<Memorized> = samples.iter().cloned().map(Memorized::from).collect();
    if let Some(logits) = logits {
        let [rows, classes] = logits.dims();
        let values = logits.into_data().try_to_vec::<f32>().expect("logits are f32");
        let last = values.chunks_exact(classes).skip(rows - samples.len());
        memorized.iter_mut().zip(last).for_each(|(sample, row)| sample.logits = Some(row.into()));
    }
    memorized
}

/// Where training happens: the named device with automatic differentiation.
pub fn training_device(device: &Device) -> Device {
    device.clone().autodiff()
}

/// Runs `work` on `threads` threads: what computes inside uses them all. Networks keep the number they were made with.
///
/// # Errors
/// The system has no threads left.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, rayon::ThreadPoolBuildError> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        losses::Denominator,
        memory::Reservoir,
        methods::{AGem, ClsEr, ClsErOptions, DerPp, DerPpOptions, Er, ErAce, Pcr, Reduction},
        network::{Architecture, BackboneKind, HeadKind, Kernels, Norm},
        retrieval::LossChange,
        sample::ImageShape,
    };

    const SHAPE: ImageShape = ImageShape { height: 8, width: 8, channels: 3 };

    fn learner(method: Box<dyn Method>, head: HeadKind) -> Learner {
        let (backbone, kernels) = (BackboneKind::Tiny, Kernels::Composed);
        let architecture = Architecture { backbone, width: 4, head, classes: 6, input: SHAPE, kernels, threads: 1 };
        let network = Network::new(&architecture, 0, &training_device(&Device::flex()));
        let retrieval = Box::new(LossChange { high: 2, low: 2, candidates: 8 });
        let parts = Parts { network, method, retrieval, policy: Box::new(Reservoir), memory: Memory::new(10) };
        let scoring = Scoring { lr: 0.1, norm: Norm::Batch, shape: SHAPE };
        Learner::new(parts, Settings { views: Views::Both, seed: 0, scoring })
    }

    fn pcr() -> Learner {
        let method = Pcr::new(Denominator::Multiset);
        learner(Box::new(method), HeadKind::Proxies { temperature: 0.09 })
    }

    fn er(reduction: Reduction) -> Learner {
        learner(Box::new(Er { reduction }), HeadKind::Linear)
    }

    fn samples(labels: &[u16]) -> Vec<Sample> {
        let image = |label: &u16| (0..SHAPE.bytes()).map(|i| ((i * (usize::from(*label) + 3)) % 256) as u8).collect();
        labels.iter().map(|label| Sample { image: image(label), label: Class(*label), task: TaskId(0) }).collect()
    }

    fn stage(offered: bool) -> Stage {
        Stage { task: TaskId(0), seen: 2, offered }
    }

    fn moved(before: &State, after: &State) -> (bool, bool) {
        let moved = |running: bool| {
            before.0.iter().any(|(name, array)| name.contains("running") == running && after.0[name] != *array)
        };
        (moved(false), moved(true))
    }

    #[test]
    fn pcr_without_memory_moves_only_the_running_statistics() {
        let mut learner = pcr();
        let before = learner.network().state();
        let report = learner.step(&samples(&[0, 1, 0, 1]), stage(true));
        assert!(report.loss.is_none() && report.retrieved == 0);
        assert_eq!(moved(&before, &learner.network().state()), (false, true));
        assert_eq!(learner.memory().len(), 4, "the step's samples are offered all the same");
        let before = learner.network().state();
        let report = learner.step(&samples(&[0, 1, 1, 0]), stage(false));
        assert!(report.loss.is_some() && report.retrieved == 4);
        assert_eq!(moved(&before, &learner.network().state()), (true, true));
        assert_eq!((learner.memory().len(), learner.steps()), (4, 2), "not offered: not stored");
    }

    #[test]
    fn er_without_memory_steps_on_the_new_samples_and_joins_losses_as_told() {
        let loss = |reduction| {
            let mut learner = er(reduction);
            let first = learner.step(&samples(&[0, 1, 0, 1]), stage(true)).loss.unwrap();
            (first, learner.step(&samples(&[0, 1, 1, 0]), stage(true)).loss.unwrap())
        };
        let (mean, sum) = (loss(Reduction::Mean), loss(Reduction::SumOfMeans));
        assert!((mean.0 - sum.0).abs() < 1e-6, "the same without replay");
        assert!((2.0 * mean.1 - sum.1).abs() < 1e-5, "as many new as replayed: the sum of means is twice the mean");
    }

    #[test]
    fn both_views_are_all_raw_images_then_all_augmented_ones() {
        let samples = samples(&[4, 5]);
        let occasion = Occasion { seed: 0, what: Decides::Augmentation, step: 7, before: 0 };
        let anchors = Views::Both.of(&samples, SHAPE, occasion, &Device::flex());
        assert_eq!(anchors.labels, [4, 5, 4, 5].map(Class));
        let raw = to_tensor(samples.iter().map(|sample| &*sample.image), SHAPE, &Device::flex());
        let values = |tensor: Tensor<4>| tensor.into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(values(anchors.images.clone().narrow(0, 0, 2)), values(raw));
        let augmented = Views::Augmented.of(&samples, SHAPE, occasion, &Device::flex());
        assert_eq!(values(anchors.images.narrow(0, 2, 2)), values(augmented.images.clone()));
        let second = Views::Augmented.of(&samples[1..], SHAPE, Occasion { before: 1, ..occasion }, &Device::flex());
        assert_eq!(
            values(augmented.images.narrow(0, 1, 1)),
            values(second.images),
            "views go by the place in the step"
        );
    }

    #[test]
    fn only_classes_seen_are_predicted() {
        let mut learner = er(Reduction::Mean);
        let mut state = learner.network().state();
        state.0.get_mut("head.bias").unwrap().values[5] = 100.0;
        learner.restore(&state, &State::default(), Memory::new(10), 0).unwrap();
        let samples = samples(&[0, 1, 2]);
        assert_eq!(learner.predict(&samples, 6), [Class(5); 3]);
        assert!(learner.predict(&samples, 5).iter().all(|class| class.0 < 5));
    }

    #[test]
    fn a_gem_and_er_ace_replay_from_the_second_task_on_and_er_ace_from_the_first_if_told() {
        let retrieved = |method: Box<dyn Method>| {
            let mut learner = learner(method, HeadKind::Linear);
            learner.step(&samples(&[0, 1, 0, 1]), stage(true));
            let first = learner.step(&samples(&[0, 1, 1, 0]), stage(true)).retrieved;
            (first, learner.step(&samples(&[0, 1, 1, 0]), Stage { task: TaskId(1), ..stage(true) }).retrieved)
        };
        assert_eq!(retrieved(Box::new(AGem)), (0, 4));
        assert_eq!(retrieved(Box::new(ErAce { task_free: false })), (0, 4));
        assert_eq!(retrieved(Box::new(ErAce { task_free: true })), (4, 4));
        assert_eq!(retrieved(Box::new(DerPp::new(DerPpOptions { alpha: 0.5, beta: 0.5 }))), (8, 8), "two draws");
    }

    #[test]
    fn the_methods_predictor_predicts() {
        let options = ClsErOptions {
            consistency: 0.1,
            stable_frequency: 0.7,
            stable_alpha: 0.999,
            plastic_frequency: 0.9,
            plastic_alpha: 0.999,
        };
        let working = er(Reduction::Mean).parts.network;
        let mut learner = learner(Box::new(ClsEr::new(options, &working)), HeadKind::Linear);
        let mut averaged = learner.method_state();
        averaged.0.get_mut("stable.head.bias").unwrap().values[3] = 100.0;
        learner.restore(&working.state(), &averaged, Memory::new(10), 0).unwrap();
        assert_eq!(learner.predict(&samples(&[0, 1]), 6), [Class(3); 2], "the stable network's favourite");
    }

    #[test]
    fn scores_are_stored_with_their_samples_and_come_back_for_every_view() {
        let samples = samples(&[0, 1]);
        let logits = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], &Device::flex());
        let mut memory = Memory::new(2);
        for (slot, sample) in to_memorize(&samples, Some(logits)).into_iter().enumerate() {
            memory.place(sample, Some(Slot(slot)));
        }
        let rows = stored_logits(&memory, &[Slot(1), Slot(0)], 4, &Device::flex()).unwrap();
        let rows = rows.into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(rows, [7.0, 8.0, 5.0, 6.0, 7.0, 8.0, 5.0, 6.0], "of the augmented views, the last two");
        memory.place(samples[0].clone().into(), Some(Slot(0)));
        assert!(stored_logits(&memory, &[Slot(1), Slot(0)], 2, &Device::flex()).is_none());
    }
}
