//! `rehearsal report` and `rehearsal compare` on real runs, through the real binary.

use std::{path::Path, process::Stdio, sync::OnceLock, time::Duration};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, rehearsal, text};

/// Runs of a second: two tasks of two classes on a small network.
const SMALL: &str =
    "backbone = 'tiny'\nclasses = 4\ntasks = 2\ntrain-per-class = 20\ntest-per-class = 10\nwidth = 4\nmemory = 20\n";

/// A directory with six finished runs, made once: two retrievals, three seeds.
fn study() -> &'static Path {
    static STUDY: OnceLock<TempDir> = OnceLock::new();
    let made = || {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("small.toml"), SMALL).unwrap();
        for retrieval in ["random", "balanced"] {
            for seed in ["0", "1", "2"] {
                let out = format!("runs/{retrieval}-{seed}");
                let run = ["run", "small.toml", "--quiet", "--retrieval", retrieval, "--seed", seed, "--out", &out];
                let run = output(directory.path(), &run);
                assert!(run.status.success(), "{}", text(&run.stderr));
            }
        }
        directory
    };
    STUDY.get_or_init(made).path()
}

fn refused(arguments: &[&str], why: &str) {
    let output = output(study(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(errors.starts_with("error: ") && errors.contains(why), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().filter(|line| !line.starts_with("hint: ")).count(), 1, "{errors}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_report_of_real_runs() {
    let out = tempfile::tempdir().unwrap();
    let place = out.path().join("deep/report");
    let report = output(study(), &["report", "runs", "-o", place.to_str().unwrap()]);
    assert!(report.status.success(), "{}", text(&report.stderr));
    assert_eq!(text(&report.stdout), format!("{}\n", place.join("index.html").display()), "the page, and nothing else");
    assert!(text(&report.stderr).contains("6 runs in 2 groups."), "{}", text(&report.stderr));
    assert!(text(&report.stderr).contains("no run wrote diagnostics.jsonl"), "{}", text(&report.stderr));
    let table = std::fs::read_to_string(place.join("tables/results.md")).unwrap();
    assert!(table.contains("| PCR + random | 3 | ") && table.contains("| PCR + balanced | 3 | "), "{table}");
    assert!(!place.join("tables/table1-methods.md").exists(), "nobody asked for the paper's tables");
    assert!(place.join("figures/after-embedded.png").metadata().unwrap().len() > 10_000);
    let quiet = output(study(), &["report", "runs", "-q", "-o", place.to_str().unwrap()]);
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", text(&quiet.stderr));
    let paper = output(study(), &["report", "runs", "-q", "--paper", "--bare", "-o", place.to_str().unwrap()]);
    assert!(paper.status.success(), "{}", text(&paper.stderr));
    let table = std::fs::read_to_string(place.join("tables/table1-methods.md")).unwrap();
    assert!(table.contains("| PCR | ") && table.contains("Different setting: "), "{table}");
    let bare = std::fs::read_to_string(place.join("figures/so-far-embedded.svg")).unwrap();
    assert!(!bare.contains("font-size=\"14\""), "no title");
}

#[test]
fn a_report_that_was_killed_is_made_by_the_same_command() {
    let mut hit = 0;
    for wanted in ["", "tables", "figures", "figures", "tables"] {
        let out = tempfile::tempdir().unwrap();
        let place = out.path().join("report");
        let arguments = ["report", "runs", "-q", "-o", place.to_str().unwrap()];
        let has_begun = || std::fs::read_dir(place.join(wanted)).is_ok_and(|mut files| files.next().is_some());
        let mut report = rehearsal(study(), &arguments).stdout(Stdio::null()).spawn().unwrap();
        while !has_begun() && report.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        report.kill().unwrap();
        report.wait().unwrap();
        hit += usize::from(!place.join("index.html").exists());
        let again = output(study(), &arguments);
        assert!(again.status.success(), "killed when {wanted:?} had something: {}", text(&again.stderr));
    }
    assert!(hit >= 3, "only {hit} of 5 kills met a report that was being written");
}

#[test]
fn what_cannot_be_reported() {
    refused(&["report", "nowhere"], "nowhere cannot be read");
    refused(&["report", "runs/random-0/checkpoint"], "there is no finished run in runs/random-0/checkpoint");
    refused(&["report", "runs", "-o", "."], ". is not empty and does not hold a report");
    let none = output(study(), &["report"]);
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn two_sets_of_runs_side_by_side() {
    let compare = output(study(), &["compare", "runs/random-*", "runs/balanced-*"]);
    assert!(compare.status.success(), "{}", text(&compare.stderr));
    let table = text(&compare.stdout);
    for expected in [
        "A  runs/random-* (3 runs, seeds 0 1 2)",
        "   retrieval: random | balanced",
        "accuracy",
        "avg. incremental",
        "over 3 pairs",
        "it cannot be below 0.2500",
        "all seeds",
        "95 % interval",
        "accuracy by bootstrap: ",
        "(too narrow: 3 pairs are few for a bootstrap)",
        "a difference of accuracy\nis detected",
        "4 times in 5",
    ] {
        assert!(table.contains(expected), "{expected:?} in\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 60), "sixty columns:\n{table}");
    assert!(table.chars().all(|c| c == '\n' || !c.is_control()), "no control characters in a pipe");
}

#[test]
fn one_pair_has_no_p_value() {
    let compare = output(study(), &["compare", "runs/random-0", "runs/balanced-0"]);
    assert!(compare.status.success(), "{}", text(&compare.stderr));
    let table = text(&compare.stdout);
    let row = table.lines().skip_while(|line| !line.starts_with("B - A")).nth(1).unwrap();
    assert!(row.starts_with("accuracy") && row.ends_with('–'), "{table}");
    assert!(table.contains("has no interval and no p") && !table.contains("bootstrap"), "{table}");
    assert!(table.contains("McNemar p"), "images are still compared: {table}");
}

#[test]
fn the_json_says_the_same() {
    let json = output(study(), &["compare", "runs/random-0", "runs/balanced-0", "--json"]);
    assert!(json.status.success(), "{}", text(&json.stderr));
    let value: Value = serde_json::from_slice(&json.stdout).unwrap();
    let result = |run: &str| -> Value {
        let file = study().join("runs").join(run).join("result.json");
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    for measure in ["accuracy", "forgetting", "backward_transfer"] {
        let of = |side: &str| value["measures"][measure][side]["mean"].as_f64().unwrap();
        assert!((of("a") - result("random-0")[measure].as_f64().unwrap()).abs() < 1e-12, "{measure}");
        assert!((of("b") - of("a") - of("difference")).abs() < 1e-9, "{measure}");
    }
    assert_eq!(value["measures"]["accuracy"]["wilcoxon"], Value::Null, "one pair");
    assert_eq!((&value["pairs"], &value["images"][0]["seed"]), (&Value::from(1), &Value::from(0)));
    let images = &value["pooled"];
    let gain = images["only_b"].as_f64().unwrap() - images["only_a"].as_f64().unwrap();
    let difference = value["measures"]["accuracy"]["difference"]["mean"].as_f64().unwrap();
    assert!((gain / 40.0 - difference).abs() < 1e-9, "40 test images, as many in each task");
}

#[test]
#[cfg(unix)]
fn names_of_directories_do_not_reach_the_terminal_raw() {
    let place = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(study().join("runs/random-0"), place.path().join("\x1b[2Jrun")).unwrap();
    let other = study().join("runs/balanced-0");
    let compare = output(place.path(), &["compare", "\x1b[2Jrun", other.to_str().unwrap()]);
    assert!(compare.status.success(), "{}", text(&compare.stderr));
    let shown = output(place.path(), &["run", "--resume", "\x1b[2Jrun"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    for said in [&compare.stdout, &shown.stdout] {
        assert!(text(said).contains("\\u{1b}[2Jrun") && !text(said).contains('\x1b'), "{}", text(said));
    }
}

#[test]
fn runs_tested_with_either_statistics_are_compared_with_either() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("both.toml"), format!("{SMALL}recalibrate = 'both'\n")).unwrap();
    for retrieval in ["random", "balanced"] {
        let run = ["run", "both.toml", "--quiet", "--retrieval", retrieval, "--out", &format!("runs/{retrieval}")];
        let run = output(directory.path(), &run);
        assert!(run.status.success(), "{}", text(&run.stderr));
    }
    let compare = |flags: &[&str]| {
        let compare = output(directory.path(), &[&["compare", "runs/random", "runs/balanced"], flags].concat());
        assert!(compare.status.success(), "{}", text(&compare.stderr));
        text(&compare.stdout).to_owned()
    };
    assert!(compare(&[]).contains("--recalibrated"), "{}", compare(&[]));
    let again = compare(&["--recalibrated"]);
    assert!(again.contains("recalibrated BatchNorm"), "{again}");
    assert!(again.lines().all(|line| line.chars().count() <= 60), "sixty columns:\n{again}");
    let result: Value =
        serde_json::from_str(&std::fs::read_to_string(directory.path().join("runs/balanced/result.json")).unwrap())
            .unwrap();
    for (flags, measures) in [(&["--json"][..], &result), (&["--json", "--recalibrated"], &result["recalibrated"])] {
        let json: Value = serde_json::from_str(&compare(flags)).unwrap();
        let [said, written] = [&json["measures"]["accuracy"]["b"]["mean"], &measures["accuracy"]];
        assert!((said.as_f64().unwrap() - written.as_f64().unwrap()).abs() < 1e-12, "{said} {written}");
        assert_eq!(json["recalibrated"], flags.len() == 2);
    }
    let report = output(directory.path(), &["report", "runs"]);
    assert!(text(&report.stderr).contains("All tested with BatchNorm statistics"), "{}", text(&report.stderr));
    assert!(directory.path().join("report/tables/recalibrated-results.md").exists());
}

#[test]
fn what_cannot_be_compared() {
    refused(&["compare", "runs/random-0", "nowhere"], "nowhere does not exist");
    refused(&["compare", "runs/random-0", "runs/mir-*"], "no directory is named runs/mir-*");
    refused(&["compare", "runs", "runs/random-0"], "runs mixes runs that differ in ratio, retrieval");
    refused(&["compare", "runs/random-0/checkpoint", "runs/random-0"], "holds no finished run");
    let why = "runs/random-0 has no recalibrated results";
    refused(&["compare", "runs/random-0", "runs/balanced-0", "--recalibrated"], why);
    let apart = output(study(), &["compare", "runs/random-0", "runs/balanced-1"]);
    assert!(apart.status.success() && text(&apart.stdout).contains("no pairs"), "{}", text(&apart.stdout));
}

#[test]
fn help_has_examples() {
    for command in ["report", "compare"] {
        let help = output(study(), &[command, "--help"]);
        assert!(help.status.success() && text(&help.stdout).contains("Examples:"), "{command}");
    }
}
