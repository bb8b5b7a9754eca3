//! The learner: a network, a method, a memory and a retrieval, and one step of them, which is Algorithm 1 of the paper.

use crate::{
    chance::{Chance, Decides},
    clock::{Clock, Phases},
    gradients::Gradients,
    memory::{Memory, Policy},
    methods::{Method, StepBatch},
    network::Network,
    probe::{Scoring, StepProbe},
    retrieval::Retrieval,
    sample::{Class, Sample, to_tensor},
    views::Views,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
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

    /// Learns from one batch of new samples, all of classes `0..seen`; `offered` says whether they may enter the memory.
    pub fn step(&mut self, incoming: &[Sample], seen: usize, offered: bool) -> StepReport {
        let Settings { views, seed, scoring } = self.settings;
        let Scoring { lr, shape, .. } = scoring;
        let Parts { network, method, retrieval, policy, memory } = &mut self.parts;
        let (step, device) = (self.steps, network.device());
        let mut clock = Clock::start();
        let mut seconds = Phases::default();

        let new = views.of(incoming, shape, Decides::Augmentation, seed, step, &device);
        seconds.data += clock.lap();

        let mut chance = Chance::new(seed, Decides::Retrieval, &[step]);
        let mut probe = StepProbe::new(network, memory, &new, seen, scoring);
        let slots = retrieval.retrieve(memory, &mut probe, &mut chance);
        seconds += probe.seconds;
        // The looked-ahead network is as large as the network itself: it goes before training begins.
        drop(probe);
        clock.lap();

        let replay = || views.of(&memory.at(&slots), shape, Decides::ReplayAugmentation, seed, step, &device);
        let batch = StepBatch { incoming: new, retrieved: (!slots.is_empty()).then(replay), seen };
        seconds.data += clock.lap();

        let loss = method.loss(network, &batch).map(|loss| {
            let gradients = Gradients::of(&loss, network);
            *network = network.clone().descend(&gradients, lr);
            loss.into_scalar::<f32>()
        });
        seconds.training = clock.lap();

        if offered {
            policy.offer(memory, incoming, &mut Chance::new(seed, Decides::Reservoir, &[step]));
        }
        seconds.memory = clock.lap();

        self.steps += 1;
        StepReport { loss, retrieved: slots.len(), seconds }
    }

    /// The most likely of the classes `0..seen` for each sample.
    pub fn predict(&self, samples: &[Sample], seen: usize) -> Vec<Class> {
        let network = self.parts.network.valid();
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

    /// Puts the learner where a saved one was: that is all it takes, for every draw follows from the seed and the step.
    pub(crate) fn restore(&mut self, network: Network, memory: Memory, steps: u64) {
        self.parts.network = network;
        self.parts.memory = memory;
        self.steps = steps;
    }
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
        methods::{Er, Pcr, Reduction},
        network::{Architecture, BackboneKind, Kernels, Norm, State},
        retrieval::LossChange,
        sample::{ImageShape, TaskId},
    };

    const SHAPE: ImageShape = ImageShape { height: 8, width: 8, channels: 3 };

    fn learner(method: Box<dyn Method>, memory: usize) -> Learner {
        let (backbone, head, kernels) = (BackboneKind::Tiny, method.head(), Kernels::Composed);
        let architecture = Architecture { backbone, width: 4, head, classes: 6, input: SHAPE, kernels, threads: 1 };
        let network = Network::new(&architecture, 0, &training_device(&Device::flex()));
        let retrieval = Box::new(LossChange { high: 2, low: 2, candidates: 8 });
        let parts = Parts { network, method, retrieval, policy: Box::new(Reservoir), memory: Memory::new(memory) };
        let scoring = Scoring { lr: 0.1, norm: Norm::Batch, shape: SHAPE };
        Learner::new(parts, Settings { views: Views::Both, seed: 0, scoring })
    }

    fn pcr() -> Box<dyn Method> {
        Box::new(Pcr { temperature: 0.09, denominator: Denominator::Multiset })
    }

    fn samples(labels: &[u16]) -> Vec<Sample> {
        let image = |label: &u16| (0..SHAPE.bytes()).map(|i| ((i * (usize::from(*label) + 3)) % 256) as u8).collect();
        labels.iter().map(|label| Sample { image: image(label), label: Class(*label), task: TaskId(0) }).collect()
    }

    fn moved(before: &State, after: &State) -> (bool, bool) {
        let moved = |running: bool| {
            before.0.iter().any(|(name, array)| name.contains("running") == running && after.0[name] != *array)
        };
        (moved(false), moved(true))
    }

    #[test]
    fn pcr_without_memory_moves_only_the_running_statistics() {
        let mut learner = learner(pcr(), 10);
        let before = learner.network().state();
        let report = learner.step(&samples(&[0, 1, 0, 1]), 2, true);
        assert!(report.loss.is_none() && report.retrieved == 0);
        assert_eq!(moved(&before, &learner.network().state()), (false, true));
        assert_eq!(learner.memory().len(), 4, "the step's samples are offered all the same");
        let before = learner.network().state();
        let report = learner.step(&samples(&[0, 1, 1, 0]), 2, false);
        assert!(report.loss.is_some() && report.retrieved == 4);
        assert_eq!(moved(&before, &learner.network().state()), (true, true));
        assert_eq!((learner.memory().len(), learner.steps()), (4, 2), "not offered: not stored");
    }

    #[test]
    fn er_without_memory_steps_on_the_new_samples_and_joins_losses_as_told() {
        let loss = |reduction| {
            let mut learner = learner(Box::new(Er { reduction }), 10);
            let first = learner.step(&samples(&[0, 1, 0, 1]), 2, true).loss.unwrap();
            (first, learner.step(&samples(&[0, 1, 1, 0]), 2, true).loss.unwrap())
        };
        let (mean, sum) = (loss(Reduction::Mean), loss(Reduction::SumOfMeans));
        assert!((mean.0 - sum.0).abs() < 1e-6, "the same without replay");
        assert!((2.0 * mean.1 - sum.1).abs() < 1e-5, "as many new as replayed: the sum of means is twice the mean");
    }

    #[test]
    fn both_views_are_all_raw_images_then_all_augmented_ones() {
        let samples = samples(&[4, 5]);
        let anchors = Views::Both.of(&samples, SHAPE, Decides::Augmentation, 0, 7, &Device::flex());
        assert_eq!(anchors.labels, [4, 5, 4, 5].map(Class));
        let raw = to_tensor(samples.iter().map(|sample| &*sample.image), SHAPE, &Device::flex());
        let values = |tensor: Tensor<4>| tensor.into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(values(anchors.images.clone().narrow(0, 0, 2)), values(raw));
        let augmented = Views::Augmented.of(&samples, SHAPE, Decides::Augmentation, 0, 7, &Device::flex());
        assert_eq!(values(anchors.images.narrow(0, 2, 2)), values(augmented.images));
    }

    #[test]
    fn only_classes_seen_are_predicted() {
        let mut learner = learner(Box::new(Er { reduction: Reduction::Mean }), 10);
        let mut state = learner.network().state();
        state.0.get_mut("head.bias").unwrap().values[5] = 100.0;
        learner.parts.network.load(&state).unwrap();
        let samples = samples(&[0, 1, 2]);
        assert_eq!(learner.predict(&samples, 6), [Class(5); 3]);
        assert!(learner.predict(&samples, 5).iter().all(|class| class.0 < 5));
    }
}
