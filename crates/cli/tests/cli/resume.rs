//! Runs that were edited between their end and `rehearsal run --resume`: whatever changes results is
//! refused by name, what does not goes on to the same result.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::Output,
};

use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, Outcome},
    observer::{Observer, StepEvent},
};
use rehearsal_runs::{Role, SETTINGS};

use crate::program::{output, text};

/// Two tasks of two classes on a small network, 24 steps.
const SMALL: &str = "backbone = 'tiny'\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 20\nepochs = 2\n\
                     width = 4\nmemory = 25\ncandidates = 12\nthreads = 1\n";

/// Stops after a number of steps.
struct StopAfter(u64);

impl Observer for StopAfter {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if event.step == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A run that was stopped after nine steps.
fn stopped(path: &Path, more: &str) {
    let settings = PartialConfig::parse(&format!("{SMALL}{more}")).unwrap();
    let ended = Experiment::new(&settings, Some(path)).unwrap().run(&mut StopAfter(9)).unwrap();
    assert!(matches!(ended, Outcome::Stopped));
}

/// Sets a setting in a run's `config.toml`.
fn edit(run: &Path, name: &str, value: &str) {
    let file = run.join("config.toml");
    let written = fs::read_to_string(&file).unwrap();
    let begins = format!("{name} = ");
    let kept: String =
        written.lines().filter(|line| !line.starts_with(&begins)).map(|line| format!("{line}\n")).collect();
    fs::write(&file, format!("{kept}{name} = {value}\n")).unwrap();
}

fn resumed(place: &Path, run: &str) -> Output {
    output(place, &["run", "--resume", run, "--json", "--quiet"])
}

/// A value that the run above does not have.
#[allow(clippy::match_same_arms, reason = "a line for each setting, in the order of the table")]
fn another(name: &str) -> &'static str {
    match name {
        "dataset" => "'embedded+embedded'",
        "data" => "'/nowhere'",
        "size" => "20",
        "stream" => "'blurry'",
        "blur" => "0.2",
        "task-classes" => "[['t-shirt', 'trouser'], ['pullover', 'dress']]",
        "tasks" => "4",
        "classes" => "2",
        "class-order" => "'natural'",
        "train-per-class" => "20",
        "test-per-class" => "10",
        "method" => "'er'",
        "retrieval" => "'mir'",
        "memory-policy" => "'gss'",
        "ratio" => "'4:6'",
        "epochs" => "3",
        "test-every" => "7",
        "memory" => "26",
        "recalibrate" => "'both'",
        "batch" => "5",
        "retrieved" => "8",
        "candidates" => "13",
        "lr" => "0.2",
        "momentum" => "0.5",
        "weight-decay" => "0.1",
        "schedule" => "'cosine'",
        "width" => "5",
        "hidden" => "6",
        "seed" => "1",
        "skip-bad" | "diagnostics" | "tensorboard" | "task-free" => "true",
        "threads" => "2",
        "device" => "'gpu'",
        "backbone" => "'pixels'",
        "kernels" => "'direct'",
        "views" => "'raw'",
        "score-norm" => "'eval'",
        "offer" => "'first-epoch'",
        "checkpoint-minutes" => "3.0",
        "denominator" => "'set'",
        "reduction" => "'sum-of-means'",
        "head" => "'cosine'",
        "temperature" | "ridge" | "der-alpha" | "der-beta" | "consistency" => "0.25",
        "stable-frequency" | "stable-alpha" | "plastic-frequency" | "plastic-alpha" => "0.25",
        "gss-groups" | "gss-group-size" | "shapley-neighbours" => "11",
        "shapley-score" => "'asv'",
        "custom-method" | "custom-retrieval" | "custom-memory-policy" | "custom-backbone" => "'mine'",
        "version" => "'0.0.1'",
        "data-sha256" => "'0000'",
        "incomplete-data" => "['nothing at all']",
        new => panic!("this test wants another value of the setting {new}"),
    }
}

/// What the refusal must name; settings without which there are other data name these instead.
fn named(name: &str) -> &str {
    match name {
        "dataset" => "embedded is named twice",
        "data-sha256" => "these are not the data of the run",
        "custom-method" => "the method should be mine",
        "custom-retrieval" => "the retrieval should be mine",
        "custom-memory-policy" => "the memory policy should be mine",
        "custom-backbone" => "the backbone should be mine",
        name => name,
    }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("checkpoint")).unwrap();
    for file in ["config.toml", "steps.jsonl", "checkpoint/latest.safetensors"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
}

#[test]
fn every_setting_that_changes_results_is_refused_by_name_and_no_other() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { place.path().join(name) };
    stopped(&at("stopped"), "");
    copied(&at("stopped"), &at("whole"));
    let whole = resumed(place.path(), "whole");
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    let predictions = |name: &str| fs::read(at(name).join("predictions.bin")).unwrap();
    let matrix =
        |output: &Output| serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["matrix"].take();
    for setting in SETTINGS {
        let name = setting.name;
        copied(&at("stopped"), &at(name));
        edit(&at(name), name, another(name));
        let output = resumed(place.path(), name);
        let said = text(&output.stderr);
        let goes_on = setting.role == Role::Neutral && !["version", "data-sha256"].contains(&name);
        if goes_on {
            assert!(output.status.success(), "{name}: {said}");
            assert_eq!(matrix(&output), matrix(&whole), "{name}");
            assert_eq!(predictions(name), predictions("whole"), "{name}");
        } else {
            assert_eq!(output.status.code(), Some(2), "{name} = {} was believed: {said}", another(name));
            assert!(said.contains(named(name)), "{name}: {said}");
            assert_eq!(said.lines().filter(|line| !line.starts_with("hint: ")).count(), 1, "{said}");
            assert!(!at(name).join("result.json").exists());
        }
    }
}

#[test]
fn what_is_set_only_beside_another_setting_is_refused_too() {
    let place = tempfile::tempdir().unwrap();
    for (run, more, name, value) in [
        ("blurry", "stream = 'blurry'\n", "blur", "0.2"),
        ("er-ace", "method = 'er-ace'\n", "head", "'cosine'"),
        ("mir", "retrieval = 'random'\n", "retrieval", "'mir'"),
        ("fewer", "retrieval = 'random'\n", "retrieved", "8"),
    ] {
        stopped(&place.path().join(run), more);
        edit(&place.path().join(run), name, value);
        let output = resumed(place.path(), run);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("is not a checkpoint of this run: `{name}` was ")), "{said}");
    }
}

#[test]
fn the_checkpoint_and_log_of_another_seed_are_refused() {
    let place = tempfile::tempdir().unwrap();
    stopped(&place.path().join("mine"), "");
    stopped(&place.path().join("other"), "seed = 7\n");
    for file in ["checkpoint/latest.safetensors", "steps.jsonl"] {
        fs::copy(place.path().join("other").join(file), place.path().join("mine").join(file)).unwrap();
    }
    let output = resumed(place.path(), "mine");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("`seed` was 7 when it was written and is 0 now"), "{said}");
}

/// What the program says within a minute; one that waits for ever has failed.
#[cfg(unix)]
fn within_a_minute(place: &Path, arguments: &[&str]) -> Output {
    use std::time::{Duration, Instant};
    let mut command = crate::program::rehearsal(place, arguments);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_mins(1) {
            child.kill().unwrap();
            panic!("{arguments:?} waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[test]
#[cfg(unix)]
fn no_file_of_a_run_makes_the_program_wait_or_read_without_end() {
    let place = tempfile::tempdir().unwrap();
    stopped(&place.path().join("stopped"), "");
    for file in ["config.toml", "steps.jsonl", "checkpoint/latest.safetensors", "result.json"] {
        for kind in ["fifo", "zero"] {
            let name = format!("{kind}-{}", file.replace('/', "-"));
            let run = place.path().join(&name);
            copied(&place.path().join("stopped"), &run);
            let _ = fs::remove_file(run.join(file));
            if kind == "fifo" {
                assert!(std::process::Command::new("mkfifo").arg(run.join(file)).status().unwrap().success());
            } else {
                std::os::unix::fs::symlink("/dev/zero", run.join(file)).unwrap();
            }
            let output = within_a_minute(place.path(), &["run", "--resume", &name, "--quiet"]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{file} is a {kind}: {said}");
            assert!(said.contains("not a regular file"), "{file} is a {kind}: {said}");
            let report = within_a_minute(place.path(), &["report", &name, "-o", "report", "--quiet"]);
            assert_eq!(report.status.code(), Some(2), "{}", text(&report.stderr));
        }
    }
    let zeros = within_a_minute(place.path(), &["run", "/dev/zero"]);
    assert_eq!(zeros.status.code(), Some(2));
    assert!(text(&zeros.stderr).contains("/dev/zero cannot be read: it has more than"), "{}", text(&zeros.stderr));
}
