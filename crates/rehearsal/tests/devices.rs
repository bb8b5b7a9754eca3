//! Whole steps and runs on the device that `REHEARSAL_DEVICE` names, by default the processor:
//! `scripts/gpu_check.sh` names another.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stop_after;

use std::path::Path;

use rehearsal::{
    Learner,
    config::PartialConfig,
    datasets::choice::Choice,
    device::{DeviceName, count_read_backs},
    experiment::{Experiment, Outcome},
    learner::Step,
    memory::PolicyKind,
    methods::MethodKind,
    network::State,
    probe::{Incoming, Probe, ScoreNorm, Scoring, StepProbe},
    retrieval::RetrievalKind,
    sample::{Image, ImageShape, Sample, Slot, to_tensor},
    views::ViewBatch,
};
use rehearsal_runs::Record;
use stop_after::StopAfter;

fn device() -> DeviceName {
    std::env::var("REHEARSAL_DEVICE").map_or(DeviceName::CPU, |name| name.parse().unwrap())
}

/// Ten images of two classes that differ from call to call.
fn batch(number: usize, names: [&'static str; 2]) -> (Vec<Image>, Vec<&'static str>) {
    let image = |index: usize| -> Image {
        let byte = |i: usize| ((i * (7 + index % 2 * 40) + number * 31 + index * 3) % 256) as u8;
        (0..8 * 8 * 3).map(byte).collect::<Vec<u8>>().into()
    };
    ((0..10).map(image).collect(), names.into_iter().cycle().take(10).collect())
}

/// A small ResNet-18 that has filled its memory in a first task and begun a second; the steps of that,
/// each with its read-backs.
fn steps(settings: &PartialConfig) -> (Learner, Vec<(Step, u64)>) {
    let learner = Learner::builder().settings(settings).size(8).width(4).memory(20).threads(2).device(device());
    let mut learner = learner.classes(&["a", "b", "c", "d"]).build().unwrap();
    for number in 0..2 {
        let (images, labels) = batch(number, ["a", "b"]);
        learner.learn_batch(&images, &labels).unwrap();
    }
    learner.end_task();
    let step = |number: usize| {
        let (images, labels) = batch(number, ["c", "d"]);
        count_read_backs(|| learner.learn_batch(&images, &labels).unwrap())
    };
    let steps = (2..4).map(step).collect();
    (learner, steps)
}

#[test]
fn every_method_retrieval_and_policy_takes_steps() {
    let with = |set: &dyn Fn(&mut PartialConfig)| {
        let mut settings = PartialConfig { candidates: Some(12), ..PartialConfig::default() };
        set(&mut settings);
        settings
    };
    let methods = MethodKind::ALL.iter().map(|&method| with(&|settings| settings.method = Some(method)));
    let retrievals = RetrievalKind::ALL.iter().map(|&kind| with(&|settings| settings.retrieval = Some(kind)));
    let policies = PolicyKind::ALL.iter().map(|&policy| with(&|settings| settings.memory_policy = Some(policy)));
    let running = with(&|settings| settings.score_norm = Some(ScoreNorm::Eval));
    for settings in methods.chain(retrievals).chain(policies).chain([running]) {
        let (learner, steps) = steps(&settings);
        let losses: Vec<Option<f32>> = steps.iter().map(|(step, _)| step.loss).collect();
        assert!(losses.iter().flatten().all(|loss| loss.is_finite()), "{settings:?}: {losses:?}");
        assert!(learner.network().state().is_finite(), "{settings:?}");
        let (images, _) = batch(9, ["a", "b"]);
        assert_eq!(learner.predict(&images).unwrap().len(), 10, "{settings:?}");
    }
}

/// Of what decides: the scores of both draws together, and the loss.
#[test]
fn little_is_read_back_in_a_step() {
    let most = |settings: &str| {
        let (_, steps) = steps(&PartialConfig::parse(settings).unwrap());
        steps.iter().map(|(_, read_backs)| *read_backs).max().unwrap()
    };
    assert_eq!(most("method = 'pcr'\nretrieval = 'balanced'\ncandidates = 12"), 2);
    assert_eq!(most("method = 'er'\nretrieval = 'random'"), 1);
    // On the processor a gradient is compared where it is, tensor by tensor.
    if device() != DeviceName::CPU {
        assert_eq!(most("method = 'a-gem'\nretrieval = 'random'"), 1);
        assert!(most("method = 'pcr'\nretrieval = 'random'\nmemory-policy = 'gss'") <= 3);
    }
}

/// Several draws in one pass are scored as each is alone.
#[test]
fn draws_are_scored_together_as_they_are_apart() {
    let (learner, _) = steps(&PartialConfig::parse("method = 'pcr'\nretrieval = 'random'").unwrap());
    let (network, memory) = (learner.network(), learner.memory());
    let shape = ImageShape { height: 8, width: 8, channels: 3 };
    let stored: Vec<&Sample> = memory.slots()[..6].iter().map(|stored| &stored.sample).collect();
    let images = to_tensor(stored.iter().map(|sample| &*sample.image), shape, &network.device());
    let views = ViewBatch { images, labels: stored.iter().map(|sample| sample.label).collect() };
    let draws: [Vec<Slot>; 2] = [(0..9).map(Slot).collect(), (6..15).map(Slot).collect()];
    let scoring = Scoring { lr: 0.1, norm: ScoreNorm::Batch, shape: shape.into() };
    let incoming = Incoming { samples: &[], views: &views, seen: 4 };
    let mark = &mut |_| {};
    let mut probe = StepProbe::new(network, memory, incoming, scoring, mark);
    let apart: Vec<Vec<f32>> = draws.iter().map(|draw| probe.loss_change(draw)).collect();
    let (together, read_backs) = count_read_backs(|| probe.loss_changes(&[&draws[0], &[], &draws[1]]));
    assert_eq!(read_backs, 1);
    assert!(together[1].is_empty());
    for (together, apart) in [(&together[0], &apart[0]), (&together[2], &apart[1])] {
        let largest = apart.iter().fold(0.0f32, |largest, change| largest.max(change.abs()));
        let close = together.iter().zip(apart).all(|(a, b)| (a - b).abs() <= 1e-3 * largest);
        assert!(close && together.len() == 9, "{together:?}, apart {apart:?}");
    }
    assert_eq!(probe.finish().len(), 36);
}

/// Two tasks of two classes, 12 steps.
fn run_settings(device: DeviceName) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 5\nwidth = 4\nsize = 16\nmemory = 30\n\
                candidates = 12\nthreads = 2";
    PartialConfig { device: Some(device), ..PartialConfig::parse(base).unwrap() }
}

fn finish(experiment: Experiment) -> (Record, State) {
    let Outcome::Finished(record, learner) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    (*record, learner.network().state())
}

#[test]
fn the_same_run_has_the_same_bits() {
    let run = || finish(Experiment::new(&run_settings(device()), None).unwrap());
    let ((first, network), (second, again)) = (run(), run());
    assert_eq!(first.matrix, second.matrix);
    assert!(network == again, "another network");
    assert_eq!(first.computed.len(), 1);
    assert_eq!(first.computed[0].device, device().to_string());
    assert_eq!(first.computed[0].adapter.is_some(), device() != DeviceName::CPU);
}

/// Stops on one device and goes on on another.
fn moved(from: DeviceName, to: DeviceName, directory: &Path) -> (Record, State) {
    let stopped = Experiment::new(&run_settings(from), Some(directory)).unwrap().run(&mut StopAfter(5)).unwrap();
    assert!(matches!(stopped, Outcome::Stopped));
    finish(Experiment::resume(directory, |settings| settings.device = Some(to)).unwrap())
}

#[test]
fn a_run_goes_on_on_another_device_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let (here, there) = (DeviceName::CPU, device());
    for (from, to, name) in [(here, there, "there"), (there, here, "back")] {
        let (record, network) = moved(from, to, &place.path().join(name));
        assert!(network.is_finite());
        let computed: Vec<(u64, &str)> = record.computed.iter().map(|c| (c.from_step, c.device.as_str())).collect();
        let told = record.warnings.iter().any(|warning| warning.starts_with("it was computed by "));
        if from == to {
            assert_eq!((computed, told), (vec![(0, "cpu")], false));
        } else {
            let (from, to) = (from.to_string(), to.to_string());
            assert_eq!((computed, told), (vec![(0, from.as_str()), (5, to.as_str())], true));
        }
    }
}

#[test]
fn a_learner_that_is_saved_here_predicts_alike_there() {
    let (learner, _) = steps(&PartialConfig::default());
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("learner.safetensors");
    learner.save(&path).unwrap();
    let (images, _) = batch(9, ["a", "b"]);
    let other = Learner::load_on(&path, DeviceName::CPU).unwrap();
    for (a, b) in learner.predict(&images).unwrap().iter().zip(other.predict(&images).unwrap()) {
        assert_eq!(a.class, b.class);
        assert!((a.probability - b.probability).abs() < 1e-4, "{a:?}, {b:?}");
    }
}
