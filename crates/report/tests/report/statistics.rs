//! Runs that were tested with both `BatchNorm` statistics, and runs that took more or less time.

use crate::support::{Made, cell, report_with, table, text};
use rehearsal_measure::{accuracy, mcnemar_of};
use rehearsal_report::{
    report::{Options, Part, Report},
    table::Cell,
};
use serde_json::json;
use tempfile::TempDir;

fn report(made: impl IntoIterator<Item = Made>) -> (TempDir, Report) {
    report_with(made, Options::default())
}

fn small() -> Made {
    Made::paper().with(json!({ "dataset": "embedded", "classes": 10, "tasks": 5 })).diagnosed()
}

fn balanced() -> Made {
    small().with(json!({ "retrieval": "balanced", "ratio": "5:5" })).quality(0.66)
}

fn fine_tune() -> Made {
    small().with(json!({ "method": "fine-tune", "retrieval": null, "ratio": null, "memory": 0 })).quality(0.0)
}

/// Two arms of three seeds, tested with both.
fn both() -> impl Iterator<Item = Made> {
    (0..3).flat_map(|seed| [small(), balanced()].map(|made| made.seed(seed).with(json!({ "recalibrate": "both" }))))
}

fn table_ids(part: &Part) -> Vec<&str> {
    part.tables.iter().map(|table| table.id.as_str()).collect()
}

fn figure_ids(part: &Part) -> Vec<&str> {
    part.figures.iter().map(|figure| figure.id.as_str()).collect()
}

#[test]
fn both_statistics_have_every_table_and_figure() {
    let (_directory, report) = report(both());
    let [plain, again, across] = &report.parts[..] else { panic!("{} parts", report.parts.len()) };
    assert!(plain.title.ends_with("statistics as trained"), "{}", plain.title);
    assert!(again.title.ends_with("statistics recalibrated from the memory"), "{}", again.title);
    let twice = |ids: Vec<&str>| ids.iter().map(|id| format!("recalibrated-{id}")).collect::<Vec<_>>();
    let but_costs: Vec<&str> = table_ids(plain).into_iter().filter(|id| *id != "costs").collect();
    assert_eq!(table_ids(again), twice(but_costs));
    let of_learning = ["drift", "distance", "mix", "alignment", "loss-change", "age", "replays", "first-order"];
    let of_tests = |id: &&str| !of_learning.iter().any(|kind| id.contains(kind));
    assert_eq!(figure_ids(again), twice(figure_ids(plain).into_iter().filter(of_tests).collect()));
    assert_eq!(table_ids(across), ["recalibration", "recalibration-differences"]);
    assert!(!again.notes.iter().any(|note| note.contains("diagnostics")), "{:?}", again.notes);

    let mean = |of: fn(&Made, usize, usize) -> f64| {
        let of_seed = |seed| (0..5).map(|task| of(&balanced().seed(seed), 4, task)).sum::<f64>() / 5.0;
        (0..3).map(of_seed).sum::<f64>() / 3.0 * 100.0
    };
    let shown = |id| cell(table(&report, id), "PCR + balanced", "accuracy").measured().unwrap().value.mean;
    assert!((shown("results") - mean(Made::accuracy)).abs() < 1e-9);
    assert!((shown("recalibrated-results") - mean(Made::recalibrated)).abs() < 1e-9);
    assert!(shown("recalibrated-results") > shown("results") + 2.0);
}

#[test]
fn mcnemars_test_uses_the_same_statistics() {
    let (directory, report) = report(both());
    let read = |run: &str, file: &str| std::fs::read(directory.path().join(run).join(file)).unwrap();
    for (prefix, file) in [("", "predictions.bin"), ("recalibrated-", "predictions-recalibrated.bin")] {
        let correct = |run| read(run, file).iter().map(|&byte| byte == 1).collect::<Vec<_>>();
        let expected = mcnemar_of(&correct("run001"), &correct("run000"));
        let mcnemar = table(&report, &format!("{prefix}mcnemar-embedded"));
        let counts = ["only the first right", "only the second right"].map(|c| text(cell(mcnemar, "seed 0", c)));
        assert_eq!(counts, [expected.only_first.to_string(), expected.only_second.to_string()], "{prefix}");
    }
}

#[test]
fn recalibration_is_compared_run_by_run() {
    let (_directory, report) = report(both());
    let arms = table(&report, "recalibration");
    let of = |column| text(cell(arms, "PCR + random", column));
    assert_eq!((of("runs"), of("difference"), of("gained"), of("p")), ("3", "+3.33", "3 of 3", "0.2500"));
    let differences = table(&report, "recalibration-differences");
    let row = &differences.rows[0];
    assert_eq!((row.label.as_str(), text(&row.cells[0])), ("PCR + balanced vs. PCR + random", "3"));
    assert_eq!(text(&row.cells[1]), text(&row.cells[5]), "both arms gained alike");
}

#[test]
fn runs_tested_one_way_have_one_report() {
    let plain = |made: Made| made.with(json!({ "recalibrate": "off" }));
    let (_directory, off) = report(both().map(plain));
    let (_directory, unsaid) = report((0..3).flat_map(|seed| [small(), balanced()].map(|made| made.seed(seed))));
    for report in [&off, &unsaid] {
        assert_eq!((report.parts.len(), report.parts[0].title.contains("statistics")), (1, false));
        assert_eq!(report.summary(), "6 runs in 2 groups.");
    }
    // A run that was tested with recalibrated statistics only belongs to their part.
    let (_directory, mixed) = report(both().chain([small().seed(7).with(json!({ "recalibrate": "memory" }))]));
    let seeds = |id| text(cell(table(&mixed, id), "PCR + random", "seeds")).to_owned();
    assert_eq!((seeds("results"), seeds("recalibrated-results")), ("3".into(), "4".into()));
    assert_eq!(
        mixed.summary(),
        "7 runs in 2 groups. 6 runs tested with BatchNorm statistics as trained and recalibrated from the memory."
    );
}

#[test]
fn arms_without_memory_are_beside_both_statistics() {
    let made = both().chain([fine_tune().with(json!({ "recalibrate": "both" }))]);
    let (directory, report) = report(made);
    assert_eq!(report.parts.len(), 3);
    for id in ["results", "recalibrated-results"] {
        let value = cell(table(&report, id), "fine-tune", "accuracy").measured().unwrap().value.mean;
        let expected = (0..5).map(|task| fine_tune().accuracy(4, task)).sum::<f64>() * 20.0;
        assert!((value - expected).abs() < 1e-9, "{id}");
    }
    let why = "BatchNorm statistics were not recalibrated before the last test: there is no memory (1 run).";
    assert!(report.parts[1].notes.iter().any(|note| note == why), "{:?}", report.parts[1].notes);
    let page = std::fs::read_to_string(report.write(&directory.path().join("out")).unwrap()).unwrap();
    assert!(page.contains(", recalibrated "), "the list of runs says both");
    assert_eq!(page.matches("<li id=\"run-").count(), 7, "each run is listed once");
}

#[test]
fn expensive_arms_are_compared_with_random_retrieval_in_the_same_time() {
    let epochs =
        |made: fn() -> Made, epochs: u64| (0..4).map(move |seed| made().seed(seed).with(json!({ "epochs": epochs })));
    // An epoch takes a second at random and three balanced, beside a minute of tests.
    let made = epochs(small, 20).chain(epochs(small, 60)).chain(epochs(balanced, 20));
    let (_directory, report) = report(made);
    let part = report.parts.last().unwrap();
    assert_eq!((table_ids(part), figure_ids(part)), (vec!["by-time-embedded"], vec!["minutes-embedded"]));
    let table = table(&report, "by-time-embedded");
    let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["PCR + random, 20 epochs", "PCR + random, 60 epochs", "PCR + balanced, 20 epochs"]);
    let other = text(cell(table, labels[2], "random retrieval in about the same time"));
    assert!(other.starts_with("PCR + random, 60 epochs (") && other.ends_with(" × its time)"), "{other}");
    let Cell::Difference { against, .. } = cell(table, labels[2], "difference of accuracy") else { panic!() };
    let mean = |made: fn() -> Made| {
        let group = report.study.groups.iter().find(|group| group.arm.label() == made_label(&made())).unwrap();
        group.of_matrix(accuracy).unwrap().mean * 100.0
    };
    assert!((against.mean - (mean(balanced) - mean(small))).abs() < 1e-9, "{against:?}");
    let steps = |row| cell(table, row, "steps").measured().unwrap().value.mean as u64;
    assert_eq!([steps(labels[0]), steps(labels[1])], [20_000, 60_000]);
    // Under the same conditions there is nothing to compare.
    let (_directory, alone) = self::report(epochs(small, 20).chain(epochs(balanced, 20)));
    assert!(!alone.parts.iter().any(|part| part.id == "time"));
}

fn made_label(made: &Made) -> String {
    rehearsal_report::arm::Arm::from_settings(&serde_json::from_value(made.settings.clone()).unwrap()).label()
}
