//! `rehearsal grid` through the real binary: stopped, killed and continued in every way.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rehearsal::{
    Learner,
    memory::Memory,
    network::State,
    rng::{Rng, RngStream},
};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, rehearsal, text};

/// Four runs of 48 steps each, with a checkpoint after every step.
const GRID: &str = "[fixed]\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nepochs = 4\nbackbone = 'tiny'\nwidth = 4\n\
                    memory = 25\ncandidates = 12\ncheckpoint-minutes = 0.0\ndiagnostics = true\n\
                    [axes]\nseed = [0, 1]\nretrieval = ['random', 'balanced']\n";

fn directory_with(grid: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("small.toml"), grid).unwrap();
    directory
}

/// All that must be the same, bit for bit, of a finished run.
#[derive(Debug, PartialEq)]
struct Trace {
    result: Value,
    predictions: Vec<u8>,
    steps: Vec<String>,
    diagnostics: String,
    network: State,
    memory: Memory,
}

fn trace(run: &Path) -> Trace {
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let mut result: Value = serde_json::from_str(&read("result.json")).unwrap();
    // The seal covers seconds, too.
    for key in ["seconds", "samples_per_second", "peak_memory_bytes", "sha256"] {
        assert!(result.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let without_seconds = |line: &str| line.split(",\"seconds\"").next().unwrap_or("").to_owned();
    let learner = Learner::load(run.join("checkpoint/latest.safetensors")).unwrap();
    let (network, memory) = (learner.network().state(), learner.memory().clone());
    Trace {
        result,
        predictions: fs::read(run.join("predictions.bin")).unwrap(),
        steps: read("steps.jsonl").lines().map(without_seconds).collect(),
        diagnostics: read("diagnostics.jsonl"),
        network,
        memory,
    }
}

fn traces(grid: &Path) -> BTreeMap<String, Trace> {
    let names = ["random-seed0", "random-seed1", "balanced-seed0", "balanced-seed1"];
    names.map(|name| (name.to_owned(), trace(&grid.join(name)))).into()
}

fn states(directory: &Path) -> Vec<String> {
    let status = output(directory, &["grid", "status", "small.toml", "--json"]);
    assert!(status.status.success(), "{}", text(&status.stderr));
    let state = |line: &str| serde_json::from_str::<Value>(line).unwrap()["state"].as_str().unwrap().to_owned();
    text(&status.stdout).lines().map(state).collect()
}

#[test]
fn a_grid_runs_everything_once() {
    let directory = directory_with(GRID);
    assert_eq!(states(directory.path()), ["left"; 4]);
    let dry = output(directory.path(), &["grid", "small.toml", "--dry-run"]);
    assert!(dry.status.success() && text(&dry.stdout).contains("0 would run random-seed0\n"), "{}", text(&dry.stdout));
    assert!(text(&dry.stderr).contains("4 left in runs/small") && text(&dry.stderr).contains(": about "));
    assert!(!directory.path().join("runs").exists(), "a dry run writes nothing");

    let one = output(directory.path(), &["grid", "small.toml", "--only", "retrieval=random,seed=1"]);
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert_eq!(states(directory.path()), ["left", "left", "done", "left"]);
    let manifest = directory.path().join("runs/small/manifest.jsonl");
    assert_eq!(fs::read_to_string(&manifest).unwrap().lines().count(), 4, "of the whole grid");

    let alone = output(directory.path(), &["grid", "run-one", "runs/small/manifest.jsonl", "--index", "1"]);
    assert!(text(&alone.stdout).contains("accuracy "), "{}", text(&alone.stderr));
    let result = directory.path().join("runs/small/random-seed1/result.json");
    let written = fs::metadata(&result).unwrap().modified().unwrap();
    let all = output(directory.path(), &["grid", "small.toml", "--jobs", "2"]);
    let message = text(&all.stderr);
    assert!(all.status.success() && message.contains("4 runs: 2 done, 2 left in runs/small"), "{message}");
    assert!(message.contains("[4/4] ") && message.contains("make a report: rehearsal report runs/small"), "{message}");
    assert!(message.chars().all(|c| c == '\n' || !c.is_control()), "no control characters in a pipe");
    assert_eq!(fs::metadata(&result).unwrap().modified().unwrap(), written, "what is finished is not touched");
    // As a grid leaves it that is killed when a worker has just finished.
    let log = directory.path().join("runs/small/logs/random-seed1.log");
    fs::write(&log, " ".repeat(4096)).unwrap();
    let again = output(directory.path(), &["grid", "small.toml"]);
    assert!(again.status.success() && text(&again.stderr).contains("all runs are done"));
    assert!(!log.exists(), "a run that is done has no log");
    assert_eq!(states(directory.path()), ["done"; 4]);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let refused = |grid: &str, more: &[&str]| {
        let directory = directory_with(grid);
        let output = output(directory.path(), &[&["grid", "small.toml"], more].concat());
        let errors = text(&output.stderr).to_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(!directory.path().join("runs").exists(), "{errors}: something was written");
        errors
    };
    let files = [
        "[axes]\nseed = 1",
        "[axes]\nmetod = ['er']\nseed = [0]\n[[exclude]]\nmethod = 'er'",
        "[axes]\nseed = [0]\nlr = ['fast']",
        "[fixed]\nclasses = 4\n[axes]\nseed = [0]\ntasks = [2, 3]",
        "[axes]\nmethod = ['er', 'prc']",
    ];
    let flags = [["--only", "seed=7"], ["--only", "seed"], ["--jobs", "0"]];
    let of_files = files.iter().map(|file| format!("{file}\n{}\n", refused(file, &[])));
    let of_flags = flags.iter().map(|flags| format!("{}\n{}\n", flags.join(" "), refused(GRID, flags)));
    insta::assert_snapshot!(of_files.chain(of_flags).collect::<String>());
    let values: Vec<String> = (1..200).map(|value| value.to_string()).collect();
    let axis = |name: &str| format!("{name} = [{}]\n", values.join(", "));
    let huge = format!("[axes]\n{}", ["seed", "memory", "epochs", "width", "candidates"].map(axis).concat());
    for more in [&["--dry-run"][..], &[]] {
        assert!(refused(&huge, more).contains("312 billion runs"));
    }
    assert!(refused("[axes]\nseed = [0]\ndataset = ['cifar10']", &["--data", "nowhere"]).contains("nowhere"));

    let directory = directory_with(GRID);
    assert!(output(directory.path(), &["grid", "run-one", "small.toml", "--index", "0"]).status.success());
    fs::write(directory.path().join("small.toml"), GRID.replace("epochs = 4", "epochs = 3")).unwrap();
    let other = output(directory.path(), &["grid", "small.toml"]);
    assert_eq!(other.status.code(), Some(2));
    insta::assert_snapshot!("a_run_with_other_settings", text(&other.stderr));
    assert_eq!(states(directory.path()), ["foreign", "left", "left", "left"], "status still tells of the others");
    let beyond = output(directory.path(), &["grid", "run-one", "small.toml", "--index", "4", "--out", "elsewhere"]);
    assert!(text(&beyond.stderr).contains("no run 4"));
}

#[test]
fn names_in_a_manifest_do_not_lead_out_of_the_grid() {
    let directory = directory_with(GRID);
    let grid = directory.path().join("runs/small");
    assert!(output(directory.path(), &["grid", "run-one", "small.toml", "--index", "0"]).status.success());
    // The log of a run is removed when the run has ended well.
    let precious = directory.path().join("runs/precious.log");
    fs::write(&precious, "precious").unwrap();
    let settings = "{\"classes\":4,\"tasks\":2,\"train-per-class\":20,\"test-per-class\":10,\"backbone\":\"pixels\"}";
    let elsewhere = directory.path().join("precious");
    for name in ["../../precious", "../precious", elsewhere.to_str().unwrap()] {
        let line = format!("{{\"index\":0,\"name\":{name:?},\"settings\":{settings}}}\n");
        fs::write(grid.join("manifest.jsonl"), line).unwrap();
        for arguments in [&["grid", "run-one", "--index", "0"][..], &["grid"]] {
            let refused = output(directory.path(), &[arguments, &["runs/small/manifest.jsonl"]].concat());
            assert_eq!(refused.status.code(), Some(2), "{name}");
            assert!(text(&refused.stderr).contains("does not name a run: it "), "{}", text(&refused.stderr));
        }
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert!(!elsewhere.exists() && !directory.path().join("runs/precious").exists());
}

#[test]
fn a_run_that_fails_is_listed_with_its_log_and_the_others_go_on_if_told() {
    let grid = "[fixed]\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nbackbone = 'pixels'\nmethod = 'er'\n\
                [axes]\nlr = [1e38, 0.01]\n";
    let directory = directory_with(grid);
    let stopped = output(directory.path(), &["grid", "small.toml", "--jobs", "1"]);
    assert_eq!(stopped.status.code(), Some(1));
    assert_eq!(states(directory.path()), ["failed", "left"]);
    let on = output(directory.path(), &["grid", "small.toml", "--jobs", "1", "--continue-on-error"]);
    let message = text(&on.stderr);
    assert_eq!(on.status.code(), Some(1), "{message}");
    assert_eq!(states(directory.path()), ["failed", "done"]);
    insta::assert_snapshot!("status", text(&output(directory.path(), &["grid", "status", "small.toml"]).stdout));
    let last = message.trim_end().lines().last().unwrap();
    assert!(last.starts_with("failed: ") && last.contains("the loss is"), "{message}");
    let log = last.rsplit_once("(whole log: ").unwrap().1.trim_end_matches(')');
    assert!(fs::read_to_string(directory.path().join(log)).unwrap().contains("try a smaller `lr`"), "{message}");
}

/// Lines of all logs of steps: how far a grid is.
fn steps(grid: &Path) -> usize {
    let logs = fs::read_dir(grid).into_iter().flatten().flatten().map(|run| run.path().join("steps.jsonl"));
    logs.filter_map(|log| fs::read_to_string(log).ok()).map(|text| text.lines().count()).sum()
}

/// Waits until the grid has got `further`, or has ended.
fn wait_for(grid: &mut Child, place: &Path, further: usize) {
    let goal = steps(place) + further;
    while steps(place) < goal && grid.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(unix)]
fn signal(name: &str, process: &str) {
    // The shell's own `kill`, which is everywhere.
    let _ = Command::new("sh").args(["-c", &format!("kill {name} {process} 2> /dev/null")]).status().unwrap();
}

#[cfg(unix)]
fn start(directory: &Path) -> Child {
    use std::os::unix::process::CommandExt;
    let mut command = rehearsal(directory, &["grid", "small.toml", "--jobs", "2"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn killed_ten_times_at_random_moments_it_comes_to_the_same_bits() {
    let undisturbed = directory_with(GRID);
    assert!(output(undisturbed.path(), &["grid", "small.toml", "--jobs", "2"]).status.success());
    let expected = traces(&undisturbed.path().join("runs/small"));

    let seed = std::process::id().into();
    println!("killed at moments drawn from {seed}");
    let mut rng = Rng::new(seed, RngStream::Retrieval, &[]);
    let directory = directory_with(GRID);
    let place: PathBuf = directory.path().join("runs/small");
    let mut hit = 0;
    for round in 0..10 {
        let mut grid = start(directory.path());
        // 192 steps and 8 tests in all: not one round in ten can do it alone.
        wait_for(&mut grid, &place, rng.below(12) as usize);
        std::thread::sleep(Duration::from_micros(rng.below(20_000)));
        hit += usize::from(grid.try_wait().unwrap().is_none());
        // The grid and its workers, or the grid alone: then its workers must stop by themselves.
        let target = if round % 3 == 2 { grid.id().to_string() } else { format!("-{}", grid.id()) };
        signal("-KILL", &target);
        grid.wait().unwrap();
    }
    assert!(hit >= 3, "only {hit} of 10 kills met a running grid");
    let last = output(directory.path(), &["grid", "small.toml", "--jobs", "2"]);
    assert!(last.status.success(), "{}", text(&last.stderr));
    assert_eq!(traces(&place), expected);
}

/// Runs that are long enough to be stopped: the log of steps is written at the end of the first
/// task, when half is left.
fn long() -> String {
    GRID.replace("epochs = 4", "epochs = 30").replace("checkpoint-minutes = 0.0", "checkpoint-minutes = 10.0")
}

#[cfg(unix)]
#[test]
fn asked_to_stop_it_stops_at_checkpoints_and_the_same_command_goes_on() {
    let directory = directory_with(&long());
    let place = directory.path().join("runs/small");
    // As a terminal does it: to the grid and its workers. Once they learn, and, the second time, as
    // soon as they start.
    for further in [1, 0] {
        use std::os::unix::process::CommandExt;
        let mut command = rehearsal(directory.path(), &["grid", "small.toml", "--jobs", "2"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut grid = command.spawn().unwrap();
        wait_for(&mut grid, &place, further);
        while further == 0 && !place.join("logs/random-seed0.log").exists() && grid.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal("-INT", &format!("-{}", grid.id()));
        let ended = grid.wait_with_output().unwrap();
        let message = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{message}");
        assert!(message.contains("stopping at checkpoints") && message.contains("continue with"), "{message}");
        assert!(states(directory.path()).contains(&"stopped".to_owned()), "{message}");
        assert!(!states(directory.path()).contains(&"failed".to_owned()), "{message}");
    }
    let on = output(directory.path(), &["grid", "small.toml"]);
    assert!(on.status.success(), "{}", text(&on.stderr));

    let undisturbed = directory_with(&long());
    assert!(output(undisturbed.path(), &["grid", "small.toml"]).status.success());
    assert_eq!(traces(&place), traces(&undisturbed.path().join("runs/small")));
}

/// The process that another has started.
#[cfg(target_os = "linux")]
fn child_of(parent: u32) -> Option<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_child = |process: &PathBuf| {
        // Behind the name in brackets: the state, the parent.
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
        behind.split(' ').nth(1) == Some(&parent.to_string())
    };
    Some(processes.into_iter().find(is_child)?.file_name()?.to_str()?.to_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_not_done_is_not_called_done() {
    let directory = directory_with(&long());
    let place = directory.path().join("runs/small");
    let only = ["grid", "small.toml", "--only", "seed=0", "--jobs", "1"];
    let mut grid = rehearsal(directory.path(), &only).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&mut grid, &place, 1);
    let worker = child_of(grid.id()).unwrap();
    // While it is running: another grid, and the same run by hand, which waits and then finds it
    // done.
    assert!(states(directory.path()).contains(&"running".to_owned()));
    let other = output(directory.path(), &["grid", "small.toml"]);
    assert!(text(&other.stderr).contains("another grid is running in runs/small"), "{}", text(&other.stderr));
    signal("-INT", &worker);
    let ended = grid.wait_with_output().unwrap();
    let message = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{message}");
    assert!(message.contains("1 done, 1 stopped") && message.contains("continue with"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_run_that_another_process_finishes_is_not_done_again() {
    let directory = directory_with(&long());
    let one = ["grid", "run-one", "small.toml", "--index", "0"];
    let mut first = rehearsal(directory.path(), &one).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let run = directory.path().join("runs/small/random-seed0");
    while !run.join("config.toml").exists() && first.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = output(directory.path(), &one);
    let result = fs::read(run.join("result.json")).unwrap();
    assert!(first.wait().unwrap().success() && second.status.success(), "{}", text(&second.stderr));
    assert!(text(&second.stdout).contains("accuracy "), "its result is shown");
    assert!(text(&second.stderr).is_empty(), "and nothing was learned: {}", text(&second.stderr));
    assert_eq!(fs::read(run.join("result.json")).unwrap(), result);
}

#[test]
fn every_experiment_of_the_paper_makes_sense() {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = fs::read_dir(&experiments).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let directory = tempfile::tempdir().unwrap();
        let status = output(directory.path(), &["grid", "status", file.to_str().unwrap()]);
        assert!(status.status.success(), "{}", text(&status.stderr));
        assert!(text(&status.stdout).contains(" left in runs/"), "{}", text(&status.stdout));
    }
}
