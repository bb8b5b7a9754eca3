//! Whole runs: reproducible bit for bit, at any number of threads, stopped and resumed anywhere.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stop_after;

use std::path::Path;

use measure::AccuracyMatrix;
use rehearsal::{
    checkpoint::Checkpoint,
    config::Said,
    experiment::{Experiment, ExperimentError, Outcome},
    network::State,
    sample::ImageShape,
};
use rehearsal_runs::{Record, RunDirectory};
use stop_after::StopAfter;

const GREY: ImageShape = ImageShape { height: 28, width: 28, channels: 1 };

/// Two tasks of two classes, 24 steps, on a small network; `more` overrides.
fn small(more: &str) -> Said {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 20\nepochs = 2\nwidth = 4\nmemory = 25\ncandidates = 12";
    Said::parse(base).unwrap().overridden_by(&Said::parse(more).unwrap())
}

fn finished(outcome: Outcome) -> Box<Record> {
    match outcome {
        Outcome::Finished(record) => record,
        Outcome::Stopped => panic!("stopped"),
    }
}

/// What must be the same bit for bit: accuracies, which test images were right, and the network at the end.
#[derive(Debug, PartialEq)]
struct Trace {
    matrix: AccuracyMatrix,
    predictions: Vec<u8>,
    network: State,
    steps: String,
}

fn trace(directory: &Path, record: &Record) -> Trace {
    let bytes = RunDirectory::read_checkpoint(directory).unwrap().unwrap();
    let steps = std::fs::read_to_string(directory.join("steps.jsonl")).unwrap();
    let without_seconds = |line: &str| line.split(",\"seconds\"").next().unwrap_or("").to_owned() + "\n";
    Trace {
        matrix: record.matrix.clone(),
        predictions: std::fs::read(directory.join("predictions.bin")).unwrap(),
        network: Checkpoint::from_bytes(&bytes, GREY).unwrap().network,
        steps: steps.lines().map(without_seconds).collect(),
    }
}

fn run(said: &Said) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let record = finished(Experiment::new(said, Some(&path)).unwrap().run(&mut ()).unwrap());
    trace(&path, &record)
}

#[test]
fn the_same_seed_gives_the_same_bits_at_any_number_of_threads() {
    for what in [
        "backbone = 'resnet18'",
        "backbone = 'resnet18'\nkernels = 'composed'",
        "backbone = 'tiny'",
        "method = 'aser'\nepochs = 1",
        "method = 'cls-er'\nmemory-policy = 'gss'\nepochs = 1",
    ] {
        let at = |threads: usize, seed: usize| run(&small(&format!("{what}\nthreads = {threads}\nseed = {seed}")));
        let first = at(1, 0);
        assert_eq!(first, at(1, 0), "run after run: {what}");
        assert_eq!(first, at(2, 0), "at two threads: {what}");
        assert_eq!(first, at(3, 0), "at three threads: {what}");
        assert_ne!(first.network, at(2, 1).network, "another seed is another run: {what}");
    }
}

#[test]
fn a_run_stopped_anywhere_and_resumed_equals_an_uninterrupted_one() {
    for method in
        ["method = 'pcr'", "backbone = 'resnet18'", "method = 'er'\nretrieval = 'random'", "method = 'fine-tune'"]
    {
        let said = small("backbone = 'tiny'").overridden_by(&small(method));
        let whole = run(&said);
        // In the middle of an epoch, at an epoch's end, at a task's last step, in the second task, at the very last step.
        for stops in [vec![1], vec![6], vec![12], vec![3, 9, 17], vec![24]] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("run");
            let mut experiment = Experiment::new(&said, Some(&path)).unwrap();
            for &stop in &stops {
                assert!(matches!(experiment.run(&mut StopAfter(stop)).unwrap(), Outcome::Stopped));
                assert!(RunDirectory::read_result(&path).unwrap().is_none(), "only a finished run has a result");
                experiment = Experiment::resume(&path, |_| {}).unwrap();
                assert_eq!(experiment.progress().steps, stop);
            }
            let record = finished(experiment.run(&mut ()).unwrap());
            assert_eq!(trace(&path, &record), whole, "{method} stopped at {stops:?}");
        }
    }
}

#[test]
fn replay_remembers_what_fine_tuning_forgets() {
    let accuracy = |method: &str| {
        let said = small(&format!(
            "method = '{method}'\nbackbone = 'tiny'\nwidth = 8\nclasses = 10\ntasks = 5\ntrain-per-class = 100\nmemory = 200"
        ));
        finished(Experiment::new(&said, None).unwrap().run(&mut ()).unwrap()).accuracy.unwrap()
    };
    let (replay, fine_tuned) = (accuracy("pcr"), accuracy("fine-tune"));
    assert!(fine_tuned < 0.25, "fine-tuning knows the last task at best: {fine_tuned}");
    assert!(replay > fine_tuned + 0.15, "replay {replay}, fine-tuning {fine_tuned}");
}

#[test]
fn a_diverging_run_stops_with_its_step_and_keeps_the_last_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let said = small("method = 'er'\nbackbone = 'pixels'\nlr = 1e38\ncheckpoint-minutes = 0.0");
    let error = Experiment::new(&said, Some(&path)).unwrap().run(&mut ()).err().unwrap();
    let ExperimentError::Diverged { step, task, .. } = error else { panic!("{error}") };
    assert_eq!(task, 1);
    assert!(error.to_string().contains(&format!("at step {step} (task 1, epoch 1)")), "{error}");
    let bytes = RunDirectory::read_checkpoint(&path).unwrap().unwrap();
    let kept = Checkpoint::from_bytes(&bytes, GREY).unwrap();
    assert!(kept.network.is_finite(), "what is kept has not diverged");
    assert!(kept.progress.steps < step);
}

#[test]
fn an_image_is_offered_in_every_epoch_or_only_in_the_first() {
    let presented = |offer: &str| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        let said = small(&format!("backbone = 'tiny'\noffer = '{offer}'\nscore-norm = 'eval'\nviews = 'raw'"));
        finished(Experiment::new(&said, Some(&path)).unwrap().run(&mut ()).unwrap());
        let bytes = RunDirectory::read_checkpoint(&path).unwrap().unwrap();
        Checkpoint::from_bytes(&bytes, GREY).unwrap().memory.presented()
    };
    assert_eq!((presented("every-epoch"), presented("first-epoch")), (240, 120));
}

#[test]
fn other_data_than_the_runs_own_are_refused() {
    let said = Said { data_sha256: Some("0".repeat(64)), ..small("") };
    assert!(Experiment::new(&said, None).err().unwrap().to_string().starts_with("these are not the data of the run"));
}

#[test]
fn a_damaged_checkpoint_is_named_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    Experiment::new(&small("backbone = 'tiny'"), Some(&path)).unwrap().run(&mut StopAfter(2)).unwrap();
    let file = path.join("checkpoint/latest.safetensors");
    std::fs::write(&file, b"not a checkpoint").unwrap();
    let error = Experiment::resume(&path, |_| {}).err().unwrap().to_string();
    assert!(error.contains("run/checkpoint: not a checkpoint"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"not a checkpoint");
}
