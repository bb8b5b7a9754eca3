//! Whole networks and whole steps against PyTorch: see `tests/goldens/README.md`. On the processor, or
//! on the device that `REHEARSAL_DEVICE` names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod goldens;
mod stop_after;

use burn::tensor::Tensor;
use goldens::{Golden, assert_close, assert_state_close};
use rehearsal::{
    Learner,
    config::PartialConfig,
    device::{DeviceName, read},
    gradients::Gradients,
    learner::{FitOptions, Parts, training_device},
    losses::{Denominator, cross_entropy, proxy_contrastive},
    memory::{Memorized, Memory, Policy},
    methods::{
        AGem, AceHead, ClsEr, ClsErOptions, DerPp, DerPpOptions, Descent, Draw, Er, ErAce, ErAceOptions, Method, Pcr,
        Reduction, StepBatch,
    },
    network::{Architecture, Array, BackboneKind, HeadKind, Kernels, Network, Norm, State},
    probe::{LookAhead, Probe},
    retrieval::LossChange,
    rng::{Rng, RngStream},
    sample::{Class, ImageShape, Sample, Slot, TaskId},
    sample_probe::SampleProbe,
    views::ViewBatch,
};

const TEMPERATURE: f64 = 0.09;

/// What computes on this device: our kernels in both ways, and Burn's operations.
fn every_way() -> Vec<Kernels> {
    match device_name() {
        DeviceName::CPU => vec![Kernels::Winograd, Kernels::Direct, Kernels::Composed],
        _ => vec![Kernels::Composed],
    }
}

fn device_name() -> DeviceName {
    std::env::var("REHEARSAL_DEVICE").map_or(DeviceName::CPU, |name| name.parse().unwrap())
}

/// A network with the golden parameters under `prefix`, for images of `size` × `size`.
fn network(
    golden: &Golden,
    prefix: &str,
    [width, classes, size]: [usize; 3],
    head: HeadKind,
    kernels: Kernels,
) -> Network {
    let input = ImageShape { height: size, width: size, channels: 3 };
    let architecture =
        Architecture { backbone: BackboneKind::ResNet18, width, head, classes, input, kernels, threads: 2 };
    let mut network = Network::new(&architecture, 0, &training_device(&device_name().open().unwrap()));
    network.load(&golden.state(prefix)).unwrap();
    network
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    read(tensor.clone())
}

#[test]
fn parity_network_features_in_every_norm_mode() {
    every_way().into_iter().for_each(features_in_every_norm_mode);
}

fn features_in_every_norm_mode(kernels: Kernels) {
    let golden = Golden::open("network");
    let mut network = network(&golden, "before.", [8, 10, 32], HeadKind::Proxies { temperature: TEMPERATURE }, kernels);
    let images = golden.images("x", &network.device());
    let before = network.state();
    let features = network.features(images.clone(), Norm::Eval);
    assert_close("features_eval", &values(&features), golden.values("features_eval"), 1e-4);
    let features = network.features(images.clone(), Norm::Batch);
    assert_close("features_batch", &values(&features), golden.values("features_batch"), 1e-4);
    assert_eq!(network.state(), before, "neither mode moves anything");
    let at84 = self::network(&golden, "before.", [8, 10, 84], HeadKind::Proxies { temperature: TEMPERATURE }, kernels);
    let features = at84.features(golden.images("x84", &network.device()), Norm::Eval);
    assert_close("features84_eval", &values(&features), golden.values("features84_eval"), 1e-4);
    let features = network.train_features(images);
    assert_close("features_train", &values(&features), golden.values("features_train"), 1e-4);
    assert_state_close(&network.state(), &golden.state("after_forward."), 1e-4);
}

#[test]
fn parity_network_losses_and_gradients() {
    every_way().into_iter().for_each(losses_and_gradients);
}

fn losses_and_gradients(kernels: Kernels) {
    let golden = Golden::open("network");
    let network = network(&golden, "before.", [8, 10, 32], HeadKind::Proxies { temperature: TEMPERATURE }, kernels);
    let labels = golden.labels("y");
    let logits = network.logits(golden.images("x", &network.device()), Norm::Batch);
    assert_close("logits", &values(&logits), golden.values("logits"), 1e-4);
    let seen = [0usize, 1, 3, 7];
    let place = |class: &Class| seen.iter().position(|&c| c == class.index());
    let renumbered: Option<Vec<_>> = labels.iter().map(place).collect();
    let renumbered = renumbered.expect("every golden label is one of the four");
    let renumbered: Vec<_> = renumbered.into_iter().map(|c| Class(c as u16)).collect();
    let columns: Vec<_> = seen.iter().map(|&c| logits.clone().narrow(1, c, 1)).collect();
    let losses = cross_entropy(Tensor::cat(columns, 1), &renumbered);
    assert_close("ce_seen_0_1_3_7", &values(&losses), golden.values("ce_seen_0_1_3_7"), 1e-4);
    let set = proxy_contrastive(logits.clone(), &labels, Denominator::Set).mean();
    assert_close("pcr_loss_set", &values(&set), golden.values("pcr_loss_set"), 1e-4);
    let loss = proxy_contrastive(logits, &labels, Denominator::Multiset).mean();
    assert_close("pcr_loss", &values(&loss), golden.values("pcr_loss"), 1e-4);
    // One unit of descent leaves θ − g: its distance from θ is the gradient, read by name.
    let stepped = network.valid().plain_step(&Gradients::from_loss(&loss, &network), 1.0).state();
    let (before, expected) = (network.state(), golden.state("grad."));
    assert!(expected.0.len() > 50);
    for (name, gradient) in &expected.0 {
        let moved: Vec<f32> = before.0[name].values.iter().zip(&stepped.0[name].values).map(|(a, b)| a - b).collect();
        assert_close(name, &moved, &gradient.values, 2e-3);
    }
}

/// Answers from the golden memory, whose images are not bytes, and keeps its answers.
struct GoldenProbe {
    look_ahead: LookAhead,
    images: Tensor<4>,
    labels: Vec<Class>,
    scores: Vec<Vec<f32>>,
}

impl Probe for GoldenProbe {
    fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
        let (images, labels) = (select(&self.images, slots), at(&self.labels, slots));
        let scores = read(self.look_ahead.loss_change(&images, &labels, Norm::Batch));
        self.scores.push(scores.clone());
        scores
    }
}

fn select(images: &Tensor<4>, slots: &[Slot]) -> Tensor<4> {
    Tensor::cat(slots.iter().map(|slot| images.clone().narrow(0, slot.0, 1)).collect(), 0)
}

fn at<T: Copy>(values: &[T], slots: &[Slot]) -> Vec<T> {
    slots.iter().map(|slot| values[slot.0]).collect()
}

/// Each step starts from the golden state after the one before. Chained in f32, one ReLU input
/// within rounding of zero may change sign (it does in PyTorch's own f32 at step 3, depending on
/// its threads), and from there on the two runs are two runs.
#[test]
fn parity_pcr_balanced_four_steps() {
    every_way().into_iter().for_each(pcr_balanced_four_steps);
}

fn pcr_balanced_four_steps(kernels: Kernels) {
    let golden = Golden::open("pcr_balanced");
    let plain = device_name().open().unwrap();
    let mut method = Pcr { temperature: TEMPERATURE, denominator: Denominator::Multiset, reduction: Reduction::Mean };
    let retrieval = LossChange { high: 2, low: 2, candidates: 6 };
    for step in 0..4 {
        let named = |name: &str| format!("step{step}.{name}");
        let start = if step == 0 { "before.".to_owned() } else { format!("step{}.after.", step - 1) };
        let mut network = network(&golden, &start, [4, 6, 16], HeadKind::Proxies { temperature: TEMPERATURE }, kernels);
        let device = network.device();
        let labels = golden.labels(&named("y"));
        let both = |raw: Tensor<4>, augmented: Tensor<4>, labels: Vec<_>| ViewBatch {
            images: Tensor::cat(vec![raw, augmented], 0),
            labels: [&labels[..], &labels[..]].concat(),
        };
        let incoming = both(golden.images(&named("x"), &device), golden.images(&named("x_aug"), &device), labels);
        let before = network.state();
        let mut probe = GoldenProbe {
            look_ahead: LookAhead::new(&network, &incoming, 6, 0.1),
            images: golden.images("memory.x", &plain),
            labels: golden.labels("memory.y"),
            scores: Vec::new(),
        };
        let draw = |name: &str| golden.integers(&named(name)).into_iter().map(Slot).collect::<Vec<_>>();
        let picked = retrieval.pick(&draw("draw_high"), &draw("draw_low"), &mut probe);
        let slots: Vec<Slot> = picked.iter().map(|retrieved| retrieved.slot).collect();
        assert_close("virtual_loss", &[probe.look_ahead.loss()], golden.values(&named("virtual_loss")), 1e-4);
        assert_close("score_high", &probe.scores[0], golden.values(&named("score_high")), 1e-4);
        assert_close("score_low", &probe.scores[1], golden.values(&named("score_low")), 1e-4);
        assert_eq!(slots.iter().map(|slot| slot.0).collect::<Vec<_>>(), golden.integers(&named("slots")));
        assert_eq!(network.state(), before, "the virtual step leaves parameters and running statistics bit-identical");
        let retrieved = both(
            select(&golden.images("memory.x", &device), &slots),
            golden.images(&named("memory_aug"), &device),
            at(&golden.labels("memory.y"), &slots),
        );
        let draws = vec![Draw { views: retrieved, logits: None }];
        let batch = StepBatch { incoming, draws, task: TaskId(1), seen: 6 };
        let loss = method.objective(&mut network, &batch).loss.unwrap();
        assert_close("loss", &values(&loss), golden.values(&named("loss")), 1e-4);
        let network = network.clone().plain_step(&Gradients::from_loss(&loss, &network), 0.1);
        assert_state_close(&network.state(), &golden.state(&named("after.")), 1e-3);
    }
}

/// What the golden files of one step hold.
struct OneStep {
    golden: Golden,
    network: Network,
}

impl OneStep {
    fn open(name: &str, kernels: Kernels) -> Self {
        let golden = Golden::open(name);
        let network = network(&golden, "before.", [4, 6, 16], HeadKind::Linear, kernels);
        Self { golden, network }
    }

    fn views(&self, prefix: &str) -> ViewBatch {
        let images = self.golden.images(&format!("{prefix}x"), &self.network.device());
        ViewBatch { images, labels: self.golden.labels(&format!("{prefix}y")) }
    }

    /// A batch of the second task with these draws.
    fn batch(&self, draws: Vec<Draw>, seen: usize) -> StepBatch {
        StepBatch { incoming: self.views(""), draws, task: TaskId(1), seen }
    }

    fn replayed(&self) -> Vec<Draw> {
        vec![Draw { views: self.views("memory."), logits: None }]
    }

    /// Descends once; loss and parameters must be the golden ones.
    fn step(&mut self, method: &mut dyn Method, batch: &StepBatch) -> Descent {
        let descent = method.descent(&mut self.network, batch).unwrap();
        assert_close("loss", &values(&descent.loss), &[self.golden.scalar("loss")], 1e-4);
        self.network = self.network.clone().plain_step(&descent.gradients, 0.1);
        assert_state_close(&self.network.state(), &self.golden.state("after."), 1e-3);
        descent
    }
}

#[test]
fn parity_er_one_step() {
    for kernels in every_way() {
        let mut one = OneStep::open("er", kernels);
        let batch = one.batch(one.replayed(), 6);
        one.step(&mut Er { reduction: Reduction::Mean }, &batch);
    }
}

#[test]
fn parity_er_ace_one_step() {
    for kernels in every_way() {
        let mut one = OneStep::open("er_ace", kernels);
        let batch = one.batch(one.replayed(), 4);
        one.step(&mut ErAce(ErAceOptions { task_free: false, head: AceHead::Linear }), &batch);
    }
}

#[test]
fn parity_der_pp_one_step() {
    for kernels in every_way() {
        let mut one = OneStep::open("der_pp", kernels);
        let stored = one.golden.rows("memory.logits", &one.network.device());
        let first = Draw { views: one.views("memory."), logits: Some(stored) };
        let second = Draw { views: one.views("memory2."), logits: None };
        let batch = one.batch(vec![first, second], 6);
        let mut method = DerPp(DerPpOptions { alpha: 0.5, beta: 0.5 });
        let kept = one.step(&mut method, &batch).logits.unwrap();
        assert!(method.stores_logits());
        assert_close("incoming_logits", &values(&kept), one.golden.values("incoming_logits"), 1e-4);
    }
}

#[test]
fn parity_a_gem_one_step() {
    for kernels in every_way() {
        let mut one = OneStep::open("a_gem", kernels);
        let batch = one.batch(one.replayed(), 6);
        let mut before = one.network.clone();
        one.step(&mut AGem, &batch);
        // The same passes by hand, for the values in between.
        let mut gradient = |views: &ViewBatch| {
            let loss = cross_entropy(before.train_logits(views.images.clone()), &views.labels).mean();
            (Gradients::from_loss(&loss, &before), values(&loss))
        };
        let (incoming, _) = gradient(&batch.incoming);
        let (reference, loss) = gradient(batch.retrieved().unwrap());
        assert_close("reference_loss", &loss, one.golden.values("reference_loss"), 1e-4);
        assert_close("dot", &[incoming.dot(&reference) as f32], one.golden.values("dot"), 1e-3);
        assert!(incoming.dot(&reference) < 0.0);
    }
}

#[test]
fn parity_cls_er_one_step() {
    let options = ClsErOptions {
        consistency: 0.1,
        stable_frequency: 1.0,
        stable_alpha: 0.999,
        plastic_frequency: 1.0,
        plastic_alpha: 0.999,
    };
    for kernels in every_way() {
        let mut one = OneStep::open("cls_er", kernels);
        let mut method = ClsEr::new(options);
        method.start(&one.network);
        let mut both = one.golden.state("stable.before.").prefixed("stable.");
        both.0.extend(one.golden.state("plastic.before.").prefixed("plastic.").0);
        method.load(&both).unwrap();
        let batch = one.batch(one.replayed(), 6);
        one.step(&mut method, &batch);
        method.after_step(&one.network, 1, &mut Rng::new(0, RngStream::Averaging, &[0]));
        for name in ["stable.", "plastic."] {
            assert_state_close(&method.state().under(name), &one.golden.state(&format!("{name}after.")), 1e-3);
        }
    }
}

/// Keeps what is stored and takes nothing new.
struct Keep;

impl Policy for Keep {
    fn insert(&self, _: &mut Memory, _: Vec<Memorized>, _: &mut dyn SampleProbe, _: &mut Rng) {}
}

/// The learner of a golden file, with its memory: `classes` names, of which the first have been
/// seen.
fn golden_learner(golden: &Golden, method: &str, kernels: Kernels) -> Learner {
    let number = |name: &str| golden.metadata(name).parse::<usize>().unwrap();
    let (high, low) = (number("high"), number("low"));
    let retrieval = if low == 0 { "mir" } else { "balanced" };
    let settings = format!(
        "method = '{method}'\nretrieval = '{retrieval}'\nratio = '{high}:{low}'\nretrieved = {}\ncandidates = {}\n\
         lr = {}\ntemperature = {}\nviews = 'raw'\nmemory = {}\nwidth = {}\nkernels = '{kernels}'\nthreads = 2\ndevice = '{}'",
        high + low,
        number("candidates"),
        golden.metadata("lr"),
        golden.metadata("tau"),
        golden.shape("memory.y")[0],
        golden.shape("before.stem_conv.weight")[0],
        device_name(),
    );
    let &[_, height, width, channels] = golden.shape("memory.bytes") else { panic!("images have four axes") };
    let head = if method == "pcr" { "before.proxies" } else { "before.linear_weight" };
    let names: Vec<String> = (0..golden.shape(head)[0]).map(|class| class.to_string()).collect();
    let learner = Learner::builder().shape(ImageShape { height, width, channels }).classes(&names);
    let learner =
        learner.settings(&PartialConfig::parse(&settings).unwrap()).parts(Parts::new().memory_policy("keep", Keep));
    let mut learner = learner.build().unwrap();
    learner.begin_task(&names[..number("seen")]).unwrap();
    for (slot, sample) in golden_samples(golden, "memory.").into_iter().enumerate() {
        learner.memory_mut().place(sample.into(), Some(Slot(slot)));
    }
    learner
}

/// Images `[n, h, w, c]` of bytes with their labels.
fn golden_samples(golden: &Golden, prefix: &str) -> Vec<Sample> {
    let labels = golden.labels(&format!("{prefix}y"));
    let bytes: Vec<u8> = golden.values(&format!("{prefix}bytes")).iter().map(|&byte| byte as u8).collect();
    let images = bytes.chunks_exact(bytes.len() / labels.len());
    images.zip(labels).map(|(image, label)| Sample { image: image.into(), label, task: TaskId(0) }).collect()
}

/// Three steps of the learner from bytes: changes of loss, slots, loss and state must be the golden
/// ones.
fn parity_learner(name: &str, method: &str) {
    let golden = Golden::open(name);
    for kernels in every_way() {
        let mut learner = golden_learner(&golden, method, kernels);
        for step in 0..3 {
            let named = |name: &str| format!("step{step}.{name}");
            let start = if step == 0 { "before.".to_owned() } else { format!("step{}.after.", step - 1) };
            learner.load_network(&golden.state(&start)).unwrap();
            let done = learner.step(&golden_samples(&golden, &named(""))).unwrap();
            let expected = golden.values(&named("loss_change"));
            assert_eq!(done.candidates.len() % expected.len(), 0, "{name}: each draw is the whole memory");
            for candidate in &done.candidates {
                let (found, expected) = (candidate.loss_change, expected[candidate.slot.0]);
                assert!((found - expected).abs() < 1e-3, "{name}, {kernels}: {candidate:?}, expected {expected}");
            }
            let slots: Vec<usize> = done.replayed[0].iter().map(|replayed| replayed.retrieved.slot.0).collect();
            assert_eq!(slots, golden.integers(&named("slots")), "{name}, {kernels}, step {step}");
            assert_close("loss", &[done.loss.unwrap()], golden.values(&named("loss")), 1e-4);
            assert_state_close(&learner.network().state(), &golden.state(&named("after.")), 1e-3);
        }
        assert_eq!(learner.memory().samples_seen(), golden.shape("memory.y")[0] as u64);
    }
}

#[test]
fn parity_learner_pcr_balanced() {
    parity_learner("learner_pcr_balanced", "pcr");
}

#[test]
fn parity_learner_er_mir() {
    parity_learner("learner_er_mir", "er");
}

/// Three steps of SGD with momentum, weight decay and a falling rate, through the learner: the
/// pixels are the features, so that the network is the golden linear layer.
#[test]
fn parity_sgd_momentum_and_weight_decay() {
    let golden = Golden::open("sgd");
    let settings = format!(
        "method = 'fine-tune'\nbackbone = 'pixels'\nviews = 'raw'\nbatch = 4\nepochs = {}\nschedule = 'cosine'\nlr = {}\n\
         momentum = {}\nweight-decay = {}\ndevice = '{}'",
        golden.metadata("steps"),
        golden.metadata("lr"),
        golden.metadata("momentum"),
        golden.metadata("weight_decay"),
        device_name(),
    );
    let shape = ImageShape { height: 3, width: 4, channels: 1 };
    let learner = Learner::builder().shape(shape).classes(&["0", "1", "2"]);
    let mut learner = learner.settings(&PartialConfig::parse(&settings).unwrap()).build().unwrap();
    let state = |prefix: &str| {
        let array = |name: &str, shape: &[usize]| {
            let values = golden.values(&format!("{prefix}{name}")).to_vec();
            (format!("head.{name}"), Array { shape: shape.to_vec(), values })
        };
        State([array("weight", &[3, 12]), array("bias", &[3])].into())
    };
    learner.load_network(&state("before.")).unwrap();
    learner.begin_task(&["0", "1", "2"]).unwrap();
    // A task of one batch, as many epochs as the golden schedule has steps; each brings the batch
    // of its step.
    for step in 0..3 {
        let samples = golden_samples(&golden, &format!("step{step}."));
        let done = learner.fit(&samples, FitOptions::default(), &mut stop_after::StopAfter(step + 1)).unwrap();
        assert_close("loss", &[done.loss.unwrap()], golden.values(&format!("step{step}.loss")), 1e-5);
        assert_state_close(&learner.network().state(), &state(&format!("step{step}.after.")), 1e-5);
    }
}
