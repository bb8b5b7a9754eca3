//! The learner: a network, a method, a memory and a retrieval, and one step of them, which is Algorithm 1 of the paper.

use crate::{
    chance::{Chance, Decides},
    clock::{Clock, Phases},
    gradients::Gradients,
    memory::{Memory, Policy},
    methods::{Method, StepBatch},
    network::{Network, Norm},
    probe::StepProbe,
    retrieval::Retrieval,
    sample::{Class, ImageShape, Sample, to_tensor},
    views::Views,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// Images per batch when predicting.
const TEST_BATCH: usize = 256;

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
    /// The learning rate.
    pub lr: f64,
    /// The views it trains on.
    pub views: Views,
    /// What normalises scored samples.
    pub score_norm: Norm,
    /// The shape of images.
    pub shape: ImageShape,
    /// Decides every draw.
    pub seed: u64,
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
        let Settings { lr, views, shape, seed, .. } = self.settings;
        let Parts { network, method, retrieval, policy, memory } = &mut self.parts;
        let (step, device) = (self.steps, network.device());
        let mut clock = Clock::start();
        let mut seconds = Phases::default();

        let new = views.of(incoming, shape, Decides::Augmentation, seed, step, &device);
        seconds.data += clock.lap();

        let mut chance = Chance::new(seed, Decides::Retrieval, &[step]);
        let mut probe = StepProbe::new(network, memory, &new, seen, &self.settings);
        let slots = retrieval.retrieve(memory, &mut probe, &mut chance);
        seconds += probe.seconds;
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
            to_tensor(samples.iter().map(|sample| &*sample.image), self.settings.shape, &device)
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
