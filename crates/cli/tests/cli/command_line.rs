//! The real binary, as a person or a script runs it.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::program::{masked, output, rehearsal, text};

/// A run of a second: two tasks of two classes on a small network.
const SMALL: &str =
    "backbone = 'tiny'\nclasses = 4\ntasks = 2\ntrain-per-class = 40\ntest-per-class = 10\nwidth = 4\nmemory = 20\n";

fn directory_with(toml: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("small.toml"), toml).unwrap();
    directory
}

/// The result of a run without what differs from one session to the next.
fn result(directory: &Path) -> Value {
    let text = std::fs::read_to_string(directory.join("result.json")).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    // The seal covers seconds, too.
    for key in ["seconds", "samples_per_second", "peak_memory_bytes", "sha256"] {
        assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    value
}

/// The command and its error. Asserts exit code 2, one line, and that nothing is written.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let directory = directory_with(SMALL);
    let output = output(directory.path(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(errors.starts_with("error: "), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().filter(|line| !line.starts_with("hint: ")).count(), 1, "{errors}");
    assert!(output.stdout.is_empty());
    let files = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 1, "{arguments:?} wrote something");
    let errors = errors.replace(directory.path().to_str().unwrap(), "DIR");
    format!("$ rehearsal {}\n{errors}", arguments.join(" "))
}

/// The same for several commands of `run`.
#[track_caller]
fn runs_refused(flags: &[&str]) -> String {
    flags.iter().map(|flags| refused(&["run"].into_iter().chain(flags.split(' ')).collect::<Vec<_>>())).collect()
}

#[test]
fn a_run_writes_its_files_and_prints_a_table() {
    let directory = directory_with(SMALL);
    let output = output(directory.path(), &["run", "small.toml", "--seed", "3"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (table, message) = (text(&output.stdout), text(&output.stderr));
    // The others depend on speed and accuracy.
    let is_constant = |line: &&str| !line.contains("samples/s") && !line.starts_with("warning:");
    let lasting = message.lines().filter(is_constant).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(masked(&format!("{lasting}\n{table}")));
    let plain = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
    assert!(plain(message) && plain(table), "no control characters in a pipe");

    let run = directory.path().join("runs/pcr-balanced-embedded-seed3");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(run.join("result.json")).unwrap()).unwrap();
    for key in [
        "format",
        "config",
        "accuracy",
        "forgetting",
        "forgetting_from_first",
        "retention",
        "average_incremental_accuracy",
        "backward_transfer",
        "matrix",
        "seconds",
        "samples_per_second",
        "peak_memory_bytes",
        "data_sha256",
    ] {
        assert!(!result[key].is_null(), "{key} in {result}");
    }
    assert!(result["matrix"][0][1].is_null(), "rows: after task; a task that was not tested is null");
    let predictions = std::fs::read(run.join("predictions.bin")).unwrap();
    assert_eq!(predictions.len(), 40);
    let right = predictions.iter().map(|&right| f64::from(right)).sum::<f64>() / 40.0;
    assert!((result["accuracy"].as_f64().unwrap() - right).abs() < 1e-12);
    let steps = std::fs::read_to_string(run.join("steps.jsonl")).unwrap();
    assert_eq!(steps.lines().filter(|line| serde_json::from_str::<Value>(line).unwrap()["step"].is_u64()).count(), 16);
    assert!(std::fs::read_to_string(run.join("config.toml")).unwrap().contains("data-sha256 = "));
}

#[test]
fn json_is_all_there_is_on_standard_output_and_quiet_says_nothing() {
    let directory = directory_with(SMALL);
    let json = output(directory.path(), &["run", "small.toml", "--json", "--quiet", "--out", "a"]);
    let result: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(result["config"]["memory"], 20);
    assert!(json.stderr.is_empty(), "{}", text(&json.stderr));
    let quiet = output(directory.path(), &["run", "small.toml", "--quiet", "--out", "b"]);
    assert!(quiet.status.success() && quiet.stdout.is_empty() && quiet.stderr.is_empty());
}

#[test]
fn recalibrated_measures_are_printed_beside_the_plain_ones() {
    let directory = directory_with(SMALL);
    let both = output(directory.path(), &["run", "small.toml", "--recalibrate", "both", "--out", "both"]);
    let table = text(&both.stdout);
    insta::assert_snapshot!(masked(table));
    assert!(table.lines().all(|line| line.chars().count() <= 60 || line.starts_with("files: ")), "{table}");
    let run = directory.path().join("both");
    let result = result(&run);
    let percent = |value: &Value| format!("{:.1} %", 100.0 * value.as_f64().unwrap());
    let line = table.lines().find(|line| line.starts_with("accuracy   ")).unwrap();
    let found: Vec<&str> = line.split("  ").map(str::trim).filter(|word| word.ends_with('%')).collect();
    assert_eq!(found, [percent(&result["accuracy"]), percent(&result["recalibrated"]["accuracy"])], "{line}");
    assert_eq!(std::fs::read(run.join("predictions-recalibrated.bin")).unwrap().len(), 40);
    let flags = ["run", "small.toml", "--recalibrate", "memory", "--method", "fine-tune", "--out", "none"];
    let none = output(directory.path(), &flags);
    assert!(text(&none.stdout).contains("keeps no memory\n"), "{}", text(&none.stdout));
}

#[test]
fn a_runs_own_config_repeats_it() {
    let directory = directory_with(SMALL);
    assert!(output(directory.path(), &["run", "small.toml", "--out", "a", "--threads", "1"]).status.success());
    assert!(output(directory.path(), &["run", "a/config.toml", "--out", "b", "--threads", "2"]).status.success());
    let (mut a, mut b) = (result(&directory.path().join("a")), result(&directory.path().join("b")));
    assert_eq!([a["config"]["threads"].take(), b["config"]["threads"].take()], [1, 2]);
    assert_eq!(a, b);
    let predictions = |name: &str| std::fs::read(directory.path().join(name).join("predictions.bin")).unwrap();
    assert_eq!(predictions("a"), predictions("b"));
}

#[test]
fn a_killed_run_resumes_to_the_same_result() {
    let long = format!("{SMALL}epochs = 40\ncheckpoint-minutes = 0.0\n");
    let directory = directory_with(&long);
    assert!(output(directory.path(), &["run", "small.toml", "--quiet", "--out", "whole"]).status.success());
    for killed in 0..3 {
        let mut child = match killed {
            0 => rehearsal(directory.path(), &["run", "small.toml", "--quiet", "--out", "killed"]),
            _ => rehearsal(directory.path(), &["run", "--quiet", "--resume", "killed"]),
        }
        .spawn()
        .unwrap();
        let steps = directory.path().join("killed/steps.jsonl");
        let length = || std::fs::metadata(&steps).map_or(0, |file| file.len());
        let (start, deadline) = (length(), Instant::now() + Duration::from_mins(1));
        while length() < start + 2000 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!directory.path().join("killed/result.json").exists(), "it was killed before its end");
    }
    let resumed = output(directory.path(), &["run", "--resume", "killed"]);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert!(text(&resumed.stderr).contains("after step"), "{}", text(&resumed.stderr));
    assert_eq!(result(&directory.path().join("killed")), result(&directory.path().join("whole")));
    let predictions = |run: &str| std::fs::read(directory.path().join(run).join("predictions.bin")).unwrap();
    assert_eq!(predictions("killed"), predictions("whole"));
    let again = output(directory.path(), &["run", "--resume", "killed"]);
    assert!(again.status.success() && text(&again.stderr).contains("this run is finished"));
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_stops_at_a_checkpoint_and_says_how_to_go_on() {
    let directory = directory_with(&format!("{SMALL}epochs = 400\ncheckpoint-minutes = 0.01\n"));
    let child =
        rehearsal(directory.path(), &["run", "small.toml", "--out", "run"]).stderr(Stdio::piped()).spawn().unwrap();
    let checkpoint = directory.path().join("run/checkpoint/latest.safetensors");
    let deadline = Instant::now() + Duration::from_mins(1);
    while !checkpoint.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let before = std::fs::read(&checkpoint).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("run --resume run"), "{}", text(&output.stderr));
    assert_ne!(std::fs::read(&checkpoint).unwrap(), before, "a checkpoint of where it stopped");
}

#[test]
fn names_that_do_not_exist() {
    insta::assert_snapshot!(runs_refused(&[
        "--dataset cifar",
        "--method prc",
        "--retrieval ballanced",
        "--memory-policy reservior",
        "--method joint --memory-policy gss",
        "--class-order random",
        "--device cpu:1",
        "--device cuda:x",
    ]));
    assert!(runs_refused(&["--device gpu"]).contains("device `gpu`"));
    assert!(runs_refused(&["--set temprature=0.1"]).contains("did you mean `temperature`?"));
    if !cfg!(feature = "wgpu") {
        assert!(runs_refused(&["--device wgpu"]).contains("--features wgpu"));
        assert!(refused(&["bench", "step", "--device", "wgpu"]).contains("--features wgpu"));
    }
}

#[test]
fn numbers_that_do_not_fit() {
    insta::assert_snapshot!(runs_refused(&[
        "--tasks 3",
        "--ratio 7:4",
        "--memory 0",
        "--batch 501",
        "--classes 11",
        "--classes 70000",
        "--test-per-class 0",
        "--epochs 18446744073709551615",
        "--threads 100000",
        "--seed 18446744073709551615",
        "--lr nan",
        "--lr -1",
        "--memory many",
        "--blur 0.5",
        "--method fine-tune --retrieval mir",
    ]));
}

#[test]
fn files_and_directories_that_do_not_fit() {
    insta::assert_snapshot!(runs_refused(&[
        "--dataset cifar100 --data nowhere",
        "--dataset food100 --data nowhere",
        "--dataset folder",
        "nothing.toml",
        "--out small.toml/run",
        "--resume nowhere",
    ]));
    let directory = directory_with("tasks = 5\nlerning-rate = 0.1\n");
    let unknown = output(directory.path(), &["run", "small.toml"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).starts_with("error: small.toml, line 2: unknown setting `lerning-rate`"),
        "{}",
        text(&unknown.stderr)
    );
    assert!(!text(&unknown.stderr).contains("--"), "a file has no flags: {}", text(&unknown.stderr));
}

#[test]
fn a_directory_that_holds_another_run() {
    let directory = directory_with(SMALL);
    assert!(output(directory.path(), &["run", "small.toml", "--quiet", "--out", "run"]).status.success());
    let before = std::fs::read(directory.path().join("run/result.json")).unwrap();
    let second = output(directory.path(), &["run", "small.toml", "--out", "run"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("run already holds a run"), "{}", text(&second.stderr));
    assert_eq!(std::fs::read(directory.path().join("run/result.json")).unwrap(), before, "nothing is lost");
    let resumed = output(directory.path(), &["run", "--resume", "run", "--epochs", "2"]);
    assert_eq!(resumed.status.code(), Some(2));
}

#[test]
fn a_reader_who_goes_away_does_not_stop_a_run() {
    let directory = directory_with(SMALL);
    let mut child = rehearsal(directory.path(), &["run", "small.toml", "--out", "run"]);
    let mut child = child.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop((child.stderr.take(), child.stdout.take()));
    assert!(child.wait().unwrap().success());
    assert!(directory.path().join("run/result.json").exists());
}

#[test]
fn bench_step_prints_one_line_of_json() {
    let directory = tempfile::tempdir().unwrap();
    let bench =
        output(directory.path(), &["bench", "step", "--width", "4", "--size", "8", "--threads", "1", "--repeats", "3"]);
    assert!(bench.status.success(), "{}", text(&bench.stderr));
    assert_eq!(text(&bench.stdout).lines().count(), 1);
    let line: Value = serde_json::from_slice(&bench.stdout).unwrap();
    assert_eq!((line["width"].as_u64(), line["size"].as_u64(), line["threads"].as_u64()), (Some(4), Some(8), Some(1)));
    assert!(line["engine"].as_str().unwrap().starts_with("rehearsal "));
    assert!(["score", "train", "step"].iter().all(|key| line[key].as_f64().unwrap() > 0.0), "{line}");
}

/// Every verb, in the order of the help, with its subcommands.
fn verbs(of: &[&str]) -> Vec<Vec<String>> {
    let help = output(Path::new("."), &[of, &["--help"]].concat());
    let lines = text(&help.stdout).lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| !line.is_empty()).filter(|line| line.as_bytes()[2] != b' ');
    let names = names.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help");
    names.map(|name| of.iter().chain([&name]).map(|&word| word.to_owned()).collect()).collect()
}

/// An edit of the help changes these snapshots: `INSTA_UPDATE=always cargo test --release --workspace --test cli help`.
#[test]
fn help_of_every_verb() {
    let here = Path::new(".");
    insta::assert_snapshot!("help", text(&output(here, &["--help"]).stdout));
    let help = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let help = rehearsal(here, &[&words[..], &["--help"]].concat()).env_remove("COLUMNS").output().unwrap();
        assert!(help.status.success(), "{}", text(&help.stderr));
        format!("$ rehearsal {} --help\n{}\n", words.join(" "), text(&help.stdout))
    };
    for verb in verbs(&[]) {
        let parts: String = verbs(&[&verb[0]]).iter().map(|part| help(part)).collect();
        insta::assert_snapshot!(format!("help_{}", verb[0]), help(&verb) + &parts);
    }
}

#[test]
fn list_says_what_goes_together_as_the_documentation_does() {
    let here = Path::new(".");
    let listed = output(here, &["list"]);
    assert!(listed.status.success());
    let page = include_str!("../../../../docs/methods.md");
    assert!(text(&listed.stdout).starts_with("Methods (--method)\n"));
    assert!(page.contains(text(&listed.stdout)), "docs/methods.md differs from `rehearsal list`: paste it in");
    assert!(text(&listed.stdout).lines().all(|line| line.chars().count() <= 80));
    let json: Value = serde_json::from_slice(&output(here, &["list", "--json"]).stdout).unwrap();
    let combinations = json["combinations"].as_array().unwrap();
    let of = |kind: &str| json[kind].as_array().unwrap().len();
    let pairs = of("memory_policies") * of("retrievals");
    let alone = json["methods"].as_array().unwrap().iter().filter(|method| method["replays"] == false).count();
    let runs = combinations.iter().filter(|combination| combination["runs"] == true).count();
    assert_eq!(combinations.len(), of("methods") * pairs + alone);
    assert_eq!(runs, combinations.len() - alone * pairs);
    let refused = combinations.iter().find(|combination| combination["runs"] == false).unwrap();
    assert!(refused["refused"].as_str().unwrap().contains("replays nothing"));
}

/// A place that cannot be written is wrong input, and a full disk a failure on the way, for every command.
#[cfg(target_os = "linux")]
#[test]
fn the_same_unwritable_place_has_the_same_exit_code_for_every_command() {
    let directory = directory_with(SMALL);
    std::fs::write(directory.path().join("grid.toml"), format!("[fixed]\n{SMALL}\n[axes]\nseed = [0]\n")).unwrap();
    let run = |place: &str| format!("run small.toml --quiet --out {place}");
    let learn = |place: &str| format!("learn {place} photos");
    let grid = |place: &str| format!("grid grid.toml --out {place}");
    for command in [run("/proc/none/run"), learn("/proc/none/model"), grid("/proc/none/grid")] {
        let output = output(directory.path(), &command.split(' ').collect::<Vec<_>>());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {errors}");
        assert!(errors.contains("error: /proc/none/") && errors.contains("cannot be written"), "{command}: {errors}");
    }
    for command in [run("run"), learn("model"), grid("grid")] {
        let program = env!("CARGO_BIN_EXE_rehearsal");
        let script = format!("trap '' XFSZ; ulimit -f 0; exec {program} {command}");
        let full = Command::new("sh").args(["-c", &script]).current_dir(directory.path()).output().unwrap();
        let errors = text(&full.stderr);
        assert_eq!(full.status.code(), Some(1), "{command}: {errors}");
        assert!(errors.contains("cannot be written"), "{command}: {errors}");
    }
}
