//! Tables from made-up runs: what stands in a cell, beside it, and where nothing may stand.

use crate::support::{Made, cell, report_with, rows, study, table, table1, text};
use rehearsal_measure::{Paired, accuracy, mcnemar_of, wilcoxon};
use rehearsal_report::{
    paper::Verdict,
    report::{Options, Report},
    study::Study,
    table::{Cell, Measured, Table},
};
use serde_json::json;
use tempfile::TempDir;

/// With the paper's own tables.
const PAPER: Options = Options { paper: true, bare: false };

fn report(made: impl IntoIterator<Item = Made>) -> (TempDir, Report) {
    report_with(made, PAPER)
}

fn seeds(made: fn() -> Made, count: u64) -> impl Iterator<Item = Made> {
    (0..count).map(move |seed| made().seed(seed))
}

fn balanced() -> Made {
    Made::paper().with(json!({ "retrieval": "balanced", "ratio": "5:5" })).quality(0.66)
}

#[test]
fn runs_that_differ_in_the_seed_only_are_one_group() {
    let elsewhere =
        Made::paper().seed(1).with(json!({ "threads": 8, "data": "/elsewhere", "checkpoint-minutes": 1.0 }));
    let another = Made::paper().with(json!({ "lr": 0.05 }));
    let (_directory, study) = study([Made::paper(), elsewhere, Made::paper(), another]);
    assert_eq!(study.groups.iter().map(|group| group.runs.len()).collect::<Vec<_>>(), [1, 2]);
    assert!(
        study.repeated.len() == 1 && study.repeated[0].ends_with("run002"),
        "the same seed again is not counted twice"
    );
    assert_eq!(study.protocols().len(), 2, "another learning rate is another protocol");
}

#[test]
fn a_cell_is_the_mean_and_sample_deviation_over_seeds_in_percent() {
    let (_directory, report) = report(seeds(Made::paper, 5));
    let measured = cell(table(&report, "table1-methods"), "PCR", "CIFAR100, Acc.").measured().unwrap();
    let values: Vec<f64> =
        (0..5).map(|seed| (0..20).map(|task| Made::paper().seed(seed).accuracy(19, task)).sum::<f64>() * 5.0).collect();
    let mean = values.iter().sum::<f64>() / 5.0;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    assert!((measured.value.mean - mean).abs() < 1e-9 && (measured.value.deviation.unwrap() - deviation).abs() < 1e-9);
    assert_eq!((measured.value.n, measured.runs.len()), (5, 5));
}

#[test]
fn table_1_has_the_papers_rows_and_numbers_and_shows_what_is_missing() {
    let made = (0..3).flat_map(|seed| table1().into_iter().map(move |made| made.seed(seed)));
    let (directory, _) = study(made);
    Made::paper().with(json!({ "dataset": "core50", "tasks": 10 })).begin(&directory.path().join("begun"));
    let report = Report::new(Study::read(&[directory.path().into()]).unwrap(), PAPER);
    let table = table(&report, "table1-methods");
    assert_eq!(
        rows(table),
        [
            "fine-tune",
            "ER",
            "A-GEM",
            "DER++",
            "ASER",
            "ER-ACE",
            "+ balanced",
            "CLS-ER",
            "+ balanced",
            "PCR",
            "+ balanced"
        ]
    );
    assert_eq!(table.columns(), 12, "six data sets, though one was run");
    let paper = |cell: &Cell| match cell {
        Cell::Missing { paper, .. } => *paper,
        Cell::Measured(measured) => measured.paper.map(|(paper, _)| paper),
        Cell::Difference { .. } | Cell::Text { .. } => None,
    };
    assert_eq!(paper(cell(table, "DER++", "CIFAR100, Fgt.")), Some(41.08));
    assert_eq!(paper(cell(table, "fine-tune", "CIFAR100, Acc.")), None);
    assert!(matches!(cell(table, "PCR", "Core50, Acc."), Cell::Missing { unfinished: 1, paper: Some(65.55) }));
    assert!(matches!(cell(table, "ER", "Places100, Acc."), Cell::Missing { unfinished: 0, paper: Some(21.54) }));
    // The last "+ balanced" builds on PCR, and is the best made-up one.
    let ours = table.rows.last().unwrap().cells[0].measured().unwrap();
    let base = cell(table, "PCR", "CIFAR100, Acc.").measured().unwrap();
    assert!((ours.change.unwrap() - (ours.value.mean - base.value.mean)).abs() < 1e-12);
    assert!(ours.best && !base.best);
}

#[test]
fn a_verdict_is_given_only_in_the_papers_setting() {
    let verdict = |changes: serde_json::Value| {
        let (_directory, report) = report((0..3).map(|seed| Made::paper().seed(seed).with(changes.clone())));
        let table = table(&report, "table1-methods");
        let row = table.rows.iter().find(|row| row.label == "PCR").unwrap();
        (row.cells[0].measured().unwrap().paper.unwrap().1, table.notes.join(" "))
    };
    let (same, notes) = verdict(json!({}));
    assert!(matches!(same, Verdict::Reproduced | Verdict::Above | Verdict::Below), "{same:?}");
    assert!(!notes.contains("Different setting"), "{notes}");
    for (changes, said) in [
        (json!({ "epochs": 1 }), "epochs 1 (paper 50)"),
        (json!({ "width": 20 }), "width 20 (paper 64)"),
        (json!({ "memory": 500 }), "memory 500 (paper 10000)"),
        (json!({ "classes": 20, "tasks": 4 }), "CIFAR100 20 classes in 4 tasks (paper 100 in 20)"),
        (json!({ "train-per-class": 300 }), "train-per-class 300 (paper all)"),
        (json!({ "stream": "blurry", "blur": 0.1 }), "stream blurry (paper as usual)"),
        (json!({ "lr": 0.05 }), "lr 0.05 (paper 0.1)"),
        (json!({ "backbone": "tiny" }), "backbone tiny (paper resnet18)"),
        (json!({ "momentum": 0.9 }), "momentum 0.9 (paper 0.0)"),
        (json!({ "schedule": "cosine" }), "schedule cosine (paper constant)"),
        (json!({ "class-order": "natural" }), "class-order natural (paper seeded)"),
        (json!({ "denominator": "set" }), "denominator set (paper multiset) in PCR + random"),
        (json!({ "brand-new": 1 }), "brand-new 1 (not known to be the paper's) in PCR + random"),
    ] {
        let (different, notes) = verdict(changes);
        assert_eq!(different, Verdict::DifferentSetting, "{said}");
        assert!(notes.contains(said), "{said} in {notes}");
    }
}

#[test]
fn options_that_differ_make_rows_of_their_own() {
    let set = Made::paper().with(json!({ "denominator": "set" })).quality(0.3);
    let (_directory, report) = report([Made::paper().with(json!({ "denominator": "multiset" })), set]);
    let table = table(&report, "table1-methods");
    let pcr: Vec<&str> = rows(table).into_iter().filter(|label| label.starts_with("PCR")).collect();
    assert_eq!(pcr, ["PCR (denominator multiset)", "PCR (denominator set)"]);
    let of = |row: &str| cell(table, row, "CIFAR100, Acc.").measured().unwrap().value;
    assert!(of(pcr[0]).n == 1 && of(pcr[0]).mean > of(pcr[1]).mean);
}

#[test]
fn memory_sizes_and_ratios_have_their_tables() {
    let sized = |memory: usize| {
        (0..2).flat_map(move |seed| {
            [Made::paper(), balanced()].map(|made| made.seed(seed).with(json!({ "memory": memory })))
        })
    };
    let mir = Made::paper().with(json!({ "retrieval": "mir" }));
    let seven = Made::paper().with(json!({ "retrieval": "balanced", "ratio": "7:3" })).quality(0.9);
    let (_directory, report) = report(sized(1000).chain(sized(10000)).chain([mir, seven]));
    let buffers = table(&report, "table2-buffers");
    assert_eq!(rows(buffers), ["ER-ACE", "+ balanced", "CLS-ER", "+ balanced", "PCR", "+ balanced"]);
    let small = cell(buffers, "PCR", "CIFAR100, memory 1,000, Fgt.").measured().unwrap();
    assert_eq!((small.value.n, small.paper.map(|(paper, _)| paper)), (2, Some(24.66)));
    let ratios = table(&report, "table3-ratios");
    assert_eq!(ratios.column_names().len(), 12);
    let shown = |column: &str| cell(ratios, "CIFAR100", column).measured().map(|measured| measured.best);
    assert_eq!([shown("10:0"), shown("7:3"), shown("5:5"), shown("random")], [false, true, false, false].map(Some));
    assert!(matches!(cell(ratios, "CIFAR100", "0:10"), Cell::Missing { paper: Some(49.09), .. }));
    let selections = table(&report, "selections");
    let mir = cell(selections, "PCR + MIR", "CIFAR100, Acc.").measured().unwrap();
    assert_eq!(mir.paper.map(|(paper, _)| paper), Some(49.08));
    let (_directory, report) = self::report([Made::paper()]);
    assert!(!report.parts.iter().flat_map(|part| &part.tables).any(|table| table.id.contains("ratios")));
    assert!(
        report.parts[0].notes.iter().any(|note| note.starts_with("No table of ratios")),
        "{:?}",
        report.parts[0].notes
    );
}

#[test]
fn the_tests_are_over_pairs_of_data_and_seed() {
    let datasets = ["cifar100", "mini-imagenet", "food100"];
    let better = |seed: u64| balanced().seed(seed).quality(0.66 + 0.2 * seed as f64);
    let made = move || {
        datasets.into_iter().flat_map(move |dataset| {
            (0..2_u64).flat_map(move |seed| {
                [Made::paper().seed(seed), better(seed)].map(|made| made.with(json!({ "dataset": dataset })))
            })
        })
    };
    let unpaired = balanced().seed(9);
    let (_directory, report) = report(made().chain([unpaired]));
    let (row, by_accuracy) = ("PCR + balanced vs. PCR + random", "accuracy: PCR + balanced vs. PCR + random");
    let of = |made: Made| (0..20).map(|task| made.accuracy(19, task)).sum::<f64>() / 20.0;
    let gain = |seed: u64| ((of(better(seed)) - of(Made::paper().seed(seed))) * 1e10).round() / 1e10;
    let gains = [gain(0), gain(1), gain(0), gain(1), gain(0), gain(1)];
    let (expected, paired) = (wilcoxon(&gains), Paired::from_differences(&gains).unwrap());
    let tests = table(&report, "tests");
    let told = |column: &str| text(cell(tests, by_accuracy, column));
    assert_eq!(told("pairs"), "6", "the seed without a partner is left out");
    assert_eq!(told("p"), format!("{:.4}", expected.p));
    assert_eq!(told("paper's p"), "0.0000");
    assert_eq!(told("difference"), format!("{:+.2}", 100.0 * paired.mean));
    let interval = |[low, high]: [f64; 2]| format!("[{:+.2}, {:+.2}]", 100.0 * low, 100.0 * high).replace('-', "−");
    assert_eq!(told("95 % by t"), interval(paired.interval.unwrap()));
    assert_eq!(told("95 % by bootstrap"), interval(paired.bootstrap.unwrap()));
    assert_eq!(told("effect d"), format!("{:+.2}", paired.effect.unwrap()));
    assert_eq!(told("detectable"), format!("{:.2}", 100.0 * paired.detectable.unwrap()));

    let runs = &report.study.groups;
    let find =
        |name: &str| runs.iter().find(|group| group.arm.label() == name && group.data.name() == "CIFAR100").unwrap();
    let correct = |name: &str, seed: u64| find(name).with_seed(seed).unwrap().correct.clone().unwrap();
    let expected = mcnemar_of(&correct("PCR + balanced", 1), &correct("PCR + random", 1));
    let mcnemar = table(&report, "mcnemar-cifar100");
    assert_eq!(rows(mcnemar), [row, "seed 0", "seed 1"]);
    assert_eq!(text(cell(mcnemar, "seed 1", "only the first right")), expected.only_first.to_string());
    assert_eq!(text(cell(mcnemar, "seed 1", "only the second right")), expected.only_second.to_string());
    let count = |row: &str| text(cell(mcnemar, row, "only the first right")).parse::<u64>().unwrap();
    assert_eq!(count(row), count("seed 0") + count("seed 1"), "pooled");
    assert_eq!(text(cell(mcnemar, row, "paper's p")), "0.0197");
    assert!(accuracy(&find("PCR + balanced").runs[0].matrix).is_some());
}

#[test]
fn what_is_damaged_or_missing_is_named() {
    let write = |file: &str, text: &str| {
        let directory = tempfile::tempdir().unwrap();
        let run = Made::paper().write(&directory.path().join("run"));
        std::fs::write(run.join(file), text).unwrap();
        Study::read(&[directory.path().into()]).unwrap_err().to_string()
    };
    for (file, text, why) in [
        ("result.json", "{", "EOF"),
        ("result.json", r#"{"matrix": [[0.5]]}"#, "missing field `config`"),
        ("result.json", r#"{"config": {"seed": 0}}"#, "missing field `matrix`"),
        ("result.json", r#"{"config": {}, "matrix": [[0.5]]}"#, "no seed"),
        ("result.json", r#"{"config": {"seed": 0}, "matrix": [[1.5]]}"#, "between 0 and 1"),
        ("result.json", r#"{"config": {"seed": 0}, "matrix": []}"#, "empty"),
        ("predictions.bin", "\u{1}\u{1}", "2 bytes for 2000 test images"),
        ("diagnostics.jsonl", "{\"task\":0}\n{\"task\":", "line 2"),
    ] {
        let error = write(file, text);
        assert!(error.contains(file) && error.contains(why), "{file}: {error}");
    }
    let nowhere = Study::read(&["nowhere".into()]).unwrap_err().to_string();
    assert!(nowhere.contains("nowhere cannot be read"), "{nowhere}");
}

#[test]
fn by_default_a_report_shows_what_was_run_and_nothing_else() {
    let made = || (0..4).flat_map(|seed| [Made::paper(), balanced()].map(|made| made.seed(seed)));
    let (_directory, study) = study(made());
    let report = Report::new(study, Options::default());
    let ids: Vec<&str> = report.parts.iter().flat_map(|part| &part.tables).map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["results", "differences", "tests", "mcnemar-cifar100", "first-and-last-cifar100", "costs"]);
    let cells = |table: &Table| table.rows.iter().flat_map(|row| &row.cells).cloned().collect::<Vec<_>>();
    for table in report.parts.iter().flat_map(|part| &part.tables) {
        for cell in cells(table) {
            assert!(!matches!(cell, Cell::Missing { .. }), "{}: a cell that nobody asked for", table.id);
            assert!(
                cell.measured().is_none_or(|measured| measured.paper.is_none()),
                "{}: the paper's number",
                table.id
            );
        }
    }
}

#[test]
fn results_hold_every_measure_and_its_difference_from_the_reference() {
    let made = (0..4).flat_map(|seed| [Made::paper(), balanced()].map(|made| made.seed(seed)));
    let (_directory, study) = study(made);
    let report = Report::new(study, Options::default());
    let results = table(&report, "results");
    assert_eq!(rows(results), ["PCR + random", "PCR + balanced"]);
    assert_eq!(results.columns(), 1 + rehearsal_measure::METRICS.len());
    let of = |row: &str| cell(results, row, "accuracy").measured().unwrap().clone();
    let (random, ours) = (of("PCR + random"), of("PCR + balanced"));
    let differences = table(&report, "differences");
    assert_eq!(rows(differences), ["PCR + balanced vs. PCR + random"], "random is the reference");
    assert_eq!((differences.columns(), text(&differences.rows[0].cells[0])), (results.columns(), "4"));
    let Cell::Difference { against, runs } = cell(differences, "PCR + balanced vs. PCR + random", "accuracy") else {
        panic!("no difference");
    };
    assert!((against.mean - (ours.value.mean - random.value.mean)).abs() < 1e-9 && runs.len() == 8);
    let [low, high] = against.interval.unwrap();
    assert!(low < against.mean && against.mean < high && against.effect.unwrap() > 0.0);
    assert_eq!((against.p, against.holm), (0.125, 0.125), "four of four");
    let words = against.text();
    assert!(words[0].starts_with('+') && words[1].ends_with(']') && words[2].ends_with(", p 0.1250"), "{words:?}");
    assert_eq!(words.len(), 3, "of one comparison Holm says nothing new");
}

#[test]
fn an_arm_whose_options_nobody_ran_at_random_is_still_measured_against_its_method() {
    let fewer = balanced().with(json!({ "candidates": 20 }));
    let er = Made::paper().with(json!({ "method": "er" })).quality(0.2);
    let made = [er, Made::paper(), fewer].into_iter().flat_map(|made| [made.seed(0)]);
    let (_directory, study) = study(made);
    let report = Report::new(study, Options::default());
    assert_eq!(
        rows(table(&report, "differences")),
        ["PCR + random vs. ER + random", "PCR + balanced vs. PCR + random"]
    );
}

#[test]
fn several_data_sets_stand_in_one_table_each_with_its_own_best() {
    let made = ["cifar100", "food100"]
        .map(|dataset| [Made::paper(), balanced()].map(|made| made.with(json!({ "dataset": dataset }))).into_iter());
    let (_directory, report) = report(made.into_iter().flatten());
    let results = table(&report, "results");
    assert_eq!(rows(results), ["PCR + random", "PCR + balanced", "PCR + random", "PCR + balanced"]);
    let accuracy = results.column_names().iter().position(|name| name == "accuracy").unwrap();
    let best: Vec<bool> = results.rows.iter().map(|row| row.cells[accuracy].measured().unwrap().best).collect();
    assert_eq!(best, [false, true, false, true]);
}

#[test]
fn first_and_last_accuracies_stand_task_by_task() {
    let (_directory, report) = report(seeds(Made::paper, 2));
    let table = table(&report, "first-and-last-cifar100");
    assert_eq!((table.rows.len(), table.columns()), (20 + 3, 2));
    let value = |row: &str, column: &str| cell(table, row, column).measured().unwrap().value.mean;
    let of = |after: usize, task: usize| {
        (0..2).map(|seed| Made::paper().seed(seed).accuracy(after, task)).sum::<f64>() * 50.0
    };
    assert!((value("task 3", "PCR + random, first") - of(2, 2)).abs() < 1e-9);
    assert!((value("task 3", "PCR + random, last") - of(19, 2)).abs() < 1e-9);
    let retention = |seed: u64| {
        let sum = |of: fn(usize) -> usize| (0..19).map(|t| Made::paper().seed(seed).accuracy(of(t), t)).sum::<f64>();
        sum(|_| 19) / sum(|task| task)
    };
    let expected = 50.0 * (retention(0) + retention(1));
    assert!((value("retention", "PCR + random, last") - expected).abs() < 1e-9);
    assert!(rows(table).contains(&"average retention rate"), "the paper's, in the paper's report");
}

#[test]
fn folders_with_other_contents_have_other_labels() {
    let directory = tempfile::tempdir().unwrap();
    for (i, sha) in ["11112222333", "4444555566"].iter().enumerate() {
        let made = Made::paper().with(json!({ "dataset": "folder", "classes": 10, "tasks": 5 }));
        let run = made.write(&directory.path().join(i.to_string()));
        let text = std::fs::read_to_string(run.join("result.json")).unwrap();
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        result["data_sha256"] = json!(sha);
        std::fs::write(run.join("result.json"), result.to_string()).unwrap();
    }
    let study = Study::read(&[directory.path().into()]).unwrap();
    let labels: Vec<String> = study.groups.iter().map(|group| group.data.label()).collect();
    assert!(labels[0].contains("contents 11112222") && labels[1].contains("contents 44445555"), "{labels:?}");
}

/// PCR at random on Split CIFAR-100 as the online papers have it.
fn online(changes: serde_json::Value) -> Made {
    let setting = json!({"tasks": 10, "epochs": 1, "width": 20, "memory": 5000, "views": "both", "reduction": "mean"});
    Made::paper().with(setting).with(changes)
}

#[test]
fn online_results_stand_beside_published_ones_only_in_their_setting() {
    let tables_of = |changes: serde_json::Value| {
        let (_directory, report) = report((0..3).map(|seed| online(changes.clone()).seed(seed)));
        report.parts.into_iter().flat_map(|part| part.tables).filter(|table| table.id == "online").collect::<Vec<_>>()
    };
    // The accuracy is a measure, not a text.
    let texts = |tables: &[Table]| -> Vec<String> {
        let cells = tables[0].rows[0].cells.iter();
        cells.map(|cell| cell.measured().map_or_else(|| text(cell).to_owned(), Measured::text)).collect()
    };
    let published = texts(&tables_of(json!({})));
    assert_eq!((&*published[0], &*published[3]), ("3", "30.1"));
    assert!(["reproduced", "above", "below"].contains(&&*published[4]), "{published:?}");
    assert!(published[5].contains("2304.04408"), "{published:?}");
    assert_eq!(texts(&tables_of(json!({ "memory": 4000 })))[3..], ["–"; 3], "nothing is published for this memory");
    let others =
        [("width", json!(64)), ("tasks", json!(20)), ("recalibrate", json!("memory")), ("train-per-class", json!(100))];
    for (name, value) in others {
        assert!(tables_of(json!({ name: value })).is_empty(), "{name}");
    }
}

#[test]
fn other_ways_of_testing_have_a_table_if_a_run_was_tested_so() {
    let (directory, _) = study([Made::paper().with(json!({ "recalibrate": "both" }))]);
    let path = directory.path().join("run000/result.json");
    let read = || Report::new(Study::read(&[directory.path().into()]).unwrap(), PAPER);
    let ids = |report: &Report| {
        report.parts.iter().flat_map(|part| &part.tables).map(|table| table.id.clone()).collect::<Vec<_>>()
    };
    assert!(!ids(&read()).iter().any(|id| id.contains("further")));
    let mut result: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    result["task_incremental"] = json!({ "matrix": [[0.9, null], [0.7, 0.8]] });
    result["anytime"] = json!({ "average_accuracy": 0.5, "worst_case_accuracy": 0.25, "inside": [] });
    std::fs::write(&path, result.to_string()).unwrap();
    let report = read();
    let further = table(&report, "further");
    let measured: Vec<String> = further.rows[0].cells.iter().filter_map(Cell::measured).map(Measured::text).collect();
    assert_eq!(measured, ["75.00", "20.00", "50.00", "25.00"]);
    assert_eq!(ids(&report).iter().filter(|id| id.contains("further")).count(), 1, "not of the second reading");
}
