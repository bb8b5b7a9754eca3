//! Whole runs: reproducible bit for bit, at any number of threads, stopped and resumed anywhere.

use std::path::Path;

use rehearsal::{
    Learner,
    config::PartialConfig,
    experiment::{Experiment, ExperimentError, Outcome},
    learner::LearnerError,
    network::State,
};
use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{Record, RunDirectory};

use crate::stop_after::StopAfter;

/// Two tasks of two classes, 24 steps, on a small network; `more` overrides.
fn small(more: &str) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 20\nepochs = 2\nwidth = 4\nmemory = 25\ncandidates = 12";
    PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

fn finished(outcome: Outcome) -> Box<Record> {
    match outcome {
        Outcome::Finished(record, _) => record,
        Outcome::Stopped => panic!("stopped"),
    }
}

/// What must be the same bit for bit: accuracies, which test images were right, and the network at
/// the end.
#[derive(Debug, PartialEq)]
struct Trace {
    matrix: AccuracyMatrix,
    predictions: Vec<u8>,
    network: State,
    steps: String,
}

/// The learner of a run's last checkpoint.
fn saved(directory: &Path) -> Learner {
    Learner::load(RunDirectory::checkpoint_path(directory)).unwrap()
}

fn trace(directory: &Path, record: &Record) -> Trace {
    let learner = saved(directory);
    let steps = std::fs::read_to_string(directory.join("steps.jsonl")).unwrap();
    let without_seconds = |line: &str| line.split(",\"seconds\"").next().unwrap_or("").to_owned() + "\n";
    Trace {
        matrix: record.matrix.clone(),
        predictions: std::fs::read(directory.join("predictions.bin")).unwrap(),
        network: learner.network().state(),
        steps: steps.lines().map(without_seconds).collect(),
    }
}

fn run(settings: &PartialConfig) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let record = finished(Experiment::new(settings, Some(&path)).unwrap().run(&mut ()).unwrap());
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
        let settings = small("backbone = 'tiny'").overridden_by(&small(method));
        let whole = run(&settings);
        // In the middle of an epoch, at an epoch's end, at a task's last step, in the second task,
        // at the very last step.
        for stops in [vec![1], vec![6], vec![12], vec![3, 9, 17], vec![24]] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("run");
            let mut experiment = Experiment::new(&settings, Some(&path)).unwrap();
            for &stop in &stops {
                assert!(matches!(experiment.run(&mut StopAfter(stop)).unwrap(), Outcome::Stopped));
                assert!(RunDirectory::read_result(&path).unwrap().is_none(), "only a finished run has a result");
                experiment = Experiment::resume(&path, |_| {}).unwrap();
                assert_eq!(experiment.learner().cursor().steps, stop);
            }
            let record = finished(experiment.run(&mut ()).unwrap());
            assert_eq!(trace(&path, &record), whole, "{method} stopped at {stops:?}");
        }
    }
}

#[test]
fn replay_remembers_what_fine_tuning_forgets() {
    let accuracy = |method: &str| {
        let settings = small(&format!(
            "method = '{method}'\nbackbone = 'tiny'\nwidth = 8\nclasses = 10\ntasks = 5\ntrain-per-class = 100\nmemory = 200"
        ));
        finished(Experiment::new(&settings, None).unwrap().run(&mut ()).unwrap()).accuracy.unwrap()
    };
    let (replay, fine_tuned) = (accuracy("pcr"), accuracy("fine-tune"));
    assert!(fine_tuned < 0.25, "fine-tuning knows the last task at best: {fine_tuned}");
    assert!(replay > fine_tuned + 0.15, "replay {replay}, fine-tuning {fine_tuned}");
}

#[test]
fn a_diverging_run_stops_with_its_step_and_keeps_the_last_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let settings = small("method = 'er'\nbackbone = 'pixels'\nlr = 1e38\ncheckpoint-minutes = 0.0");
    let error = Experiment::new(&settings, Some(&path)).unwrap().run(&mut ()).err().unwrap();
    let ExperimentError::Learner(LearnerError::Diverged { step, task, .. }) = error else { panic!("{error}") };
    assert_eq!(task, 1);
    assert!(error.to_string().contains(&format!("at step {step} (task 1)")), "{error}");
    let kept = saved(&path);
    assert!(kept.network().state().is_finite(), "what is kept has not diverged");
    assert!(kept.cursor().steps < step);
}

#[test]
fn an_image_is_inserted_in_every_epoch_or_only_in_the_first() {
    let seen = |offer: &str| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        let settings = small(&format!("backbone = 'tiny'\noffer = '{offer}'\nscore-norm = 'eval'\nviews = 'raw'"));
        finished(Experiment::new(&settings, Some(&path)).unwrap().run(&mut ()).unwrap());
        saved(&path).memory().samples_seen()
    };
    assert_eq!((seen("every-epoch"), seen("first-epoch")), (240, 120));
}

#[test]
fn other_data_than_the_runs_own_are_refused() {
    let settings = PartialConfig { data_sha256: Some("0".repeat(64)), ..small("") };
    assert!(
        Experiment::new(&settings, None).err().unwrap().to_string().starts_with("these are not the data of the run")
    );
}

#[test]
fn a_damaged_checkpoint_is_named_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    Experiment::new(&small("backbone = 'tiny'"), Some(&path)).unwrap().run(&mut StopAfter(2)).unwrap();
    let file = path.join("checkpoint/latest.safetensors");
    std::fs::write(&file, b"not a checkpoint").unwrap();
    let error = Experiment::resume(&path, |_| {}).err().unwrap().to_string();
    assert!(error.contains("latest.safetensors is not a model of Rehearsal: "), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"not a checkpoint");
}

/// A run that was stopped after nine steps of task 1 and may have lost or gained something since.
fn stopped(place: &Path, name: &str, more: &str) -> std::path::PathBuf {
    let path = place.join(name);
    let experiment = Experiment::new(&small(&format!("backbone = 'tiny'\n{more}")), Some(&path)).unwrap();
    assert!(matches!(experiment.run(&mut StopAfter(9)).unwrap(), Outcome::Stopped));
    path
}

#[test]
fn settings_that_were_edited_between_stop_and_resume_are_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let path = stopped(place.path(), "run", "");
    let file = path.join("config.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    let edits = [
        ("lr = 0.1", "lr = 0.2", "`lr`"),
        ("seed = 0", "seed = 1", "`seed`"),
        ("method = \"pcr\"", "method = \"er\"", "`method`"),
        ("epochs = 2", "epochs = 3", "`epochs`"),
        ("memory = 25", "memory = 26", "`memory`"),
        ("momentum = 0.0", "momentum = 0.5", "`momentum`"),
        ("denominator = \"multiset\"", "denominator = \"set\"", "`denominator`"),
        ("train-per-class = 30", "train-per-class = 40", "`train-per-class`"),
        ("class-order = \"seeded\"", "class-order = \"natural\"", "`class-order`"),
        ("offer = \"every-epoch\"", "offer = \"first-epoch\"", "`offer`"),
    ];
    for (from, to, named) in edits {
        assert!(written.contains(from), "{from}");
        std::fs::write(&file, written.replace(from, to)).unwrap();
        let error = Experiment::resume(&path, |_| {}).err().unwrap_or_else(|| panic!("{to} was believed")).to_string();
        assert!(error.contains("is not a checkpoint of this run") && error.contains(named), "{to}: {error}");
    }
    std::fs::write(&file, written.replace("checkpoint-minutes = 10.0", "checkpoint-minutes = 3.0")).unwrap();
    assert!(
        Experiment::resume(&path, |settings| settings.threads = Some(1)).is_ok(),
        "what changes no result may change"
    );
}

#[test]
fn the_checkpoint_of_another_run_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = stopped(place.path(), "mine", "");
    let other = stopped(place.path(), "other", "seed = 5");
    for file in ["checkpoint/latest.safetensors", "steps.jsonl"] {
        std::fs::copy(other.join(file), path.join(file)).unwrap();
    }
    let error = Experiment::resume(&path, |_| {}).err().unwrap().to_string();
    assert!(error.contains("`seed` was 5 when it was written and is 0 now"), "{error}");
    saved(&path).save(RunDirectory::checkpoint_path(&path)).unwrap();
    let error = Experiment::resume(&path, |_| {}).err().unwrap().to_string();
    assert!(error.contains("it is a model, which no run wrote"), "{error}");
}

#[test]
fn a_flipped_bit_in_a_checkpoint_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = stopped(place.path(), "run", "");
    let file = RunDirectory::checkpoint_path(&path);
    let whole = std::fs::read(&file).unwrap();
    for index in (0..whole.len()).step_by(whole.len() / 200) {
        let mut damaged = whole.clone();
        damaged[index] ^= 1 << (index % 8);
        std::fs::write(&file, damaged).unwrap();
        assert!(Experiment::resume(&path, |_| {}).is_err(), "byte {index} was believed");
    }
}
