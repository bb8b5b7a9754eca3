//! What figures show, and whose.

use crate::support::{Made, report_with};
use rehearsal_report::{
    figures::Figure,
    report::{Options, Report},
    study::Study,
};
use serde_json::json;
use tempfile::TempDir;

fn report(made: impl IntoIterator<Item = Made>) -> (TempDir, Report) {
    report_with(made, Options::default())
}

fn figure<'a>(report: &'a Report, id: &str) -> &'a Figure {
    let figures = || report.parts.iter().flat_map(|part| &part.figures);
    figures().find(|figure| figure.id == id).unwrap_or_else(|| {
        panic!("no {id} in {:?}", figures().map(|figure| &figure.id).collect::<Vec<_>>());
    })
}

/// The texts of a legend, series by series.
fn legend(figure: &Figure) -> Vec<String> {
    let entries = figure.svg.split("<g class=\"legend\"").skip(1).map(|rest| rest.split("</g>").next().unwrap());
    let texts = |entry: &str| {
        let lines = entry.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1).map(str::to_owned));
        lines.collect::<Vec<_>>().join(" ")
    };
    entries.map(texts).collect()
}

#[test]
fn joint_training_is_not_a_series_over_tasks() {
    let joint = Made::paper().with(json!({ "method": "joint", "retrieval": null, "ratio": null, "memory": 0 }));
    let (_directory, report) = report([Made::paper(), joint]);
    for id in ["so-far-cifar100", "forgetting-cifar100", "after-cifar100", "retention-cifar100", "tasks-cifar100"] {
        assert_eq!(legend(figure(&report, id)), ["PCR + random"], "{id}");
    }
    assert_eq!(figure(&report, "matrices-cifar100").sources.len(), 1);
    assert_eq!(legend(figure(&report, "time-cifar100")), ["PCR + random", "joint"]);
    assert!(report.parts[0].notes.iter().any(|note| note.starts_with("Joint training")), "{:?}", report.parts[0].notes);
}

#[test]
fn many_long_names_are_whole_in_the_legend_and_differ() {
    let made = |i: u32| {
        let options: serde_json::Map<_, _> =
            (0..9).map(|option| (format!("some-long-option-{option}"), json!(i + option))).collect();
        Made::paper().with(json!(options)).with(json!({ "retrieval": "random", "memory-policy": "gss" }))
    };
    let (_directory, report) = report((0..14).map(made));
    let mut names = legend(figure(&report, "after-cifar100"));
    assert_eq!(
        names[0],
        "PCR + random, gss memory (some-long-option-0 0, some-long-option-1 1, some-long-option-2 2 and 6 more)"
    );
    names.dedup();
    assert_eq!(names.len(), 14);
}

#[test]
fn drift_begins_after_the_task_of_the_class_and_alignment_has_an_overview() {
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5 });
    let (_directory, report) = report([Made::paper().with(small).diagnosed()]);
    let drift = &figure(&report, "drift-tasks-raw-embedded").svg;
    assert!(
        drift.contains("proxies of task 4") && !drift.contains("proxies of task 5"),
        "the last is never left behind"
    );
    assert!(drift.contains("while learning task 2:") && !drift.contains("while learning task 1:"));
    let overview = figure(&report, "alignment-embedded");
    assert_eq!(legend(overview), ["highest change of loss (conflicting)", "lowest change of loss (aligned)"]);
    assert!(overview.svg.contains("all tasks"));
    assert!(figure(&report, "alignment-1-embedded").svg.contains("task 5"));
}

#[test]
fn a_histogram_notes_what_it_does_not_show() {
    let made = Made::paper().with(json!({ "dataset": "embedded", "classes": 10, "tasks": 5 })).diagnosed();
    let directory = tempfile::tempdir().unwrap();
    let run = made.write(&directory.path().join("run"));
    let line = r#"{"task":0,"loss_change":{"from":-1.0,"to":1.0,"counts":[1,9000,0,9],"below":0,"above":990}}"#;
    std::fs::write(run.join("diagnostics.jsonl"), line).unwrap();
    let report = Report::new(Study::read(&[directory.path().into()]).unwrap(), Options::default());
    let figure = figure(&report, "loss-change-embedded");
    assert!(figure.svg.contains("task 1, n = 10,000</text>") && figure.svg.contains("% of 10,000"));
    let note = &figure.note;
    assert!(note.contains("Up to 10.0 % of a histogram are beyond the ends of the axis"), "{note}");
}

#[test]
fn a_very_high_retention_is_cut_and_noted() {
    let directory = tempfile::tempdir().unwrap();
    let run = Made::paper().with(json!({ "dataset": "embedded", "classes": 10, "tasks": 3 })).write(directory.path());
    let text = std::fs::read_to_string(run.join("result.json")).unwrap();
    let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
    result["matrix"] = json!([[0.01, null, null], [0.5, 0.4, null], [0.5, 0.3, 0.2]]);
    std::fs::write(run.join("result.json"), result.to_string()).unwrap();
    let report = Report::new(Study::read(&[directory.path().into()]).unwrap(), Options::default());
    let retention = figure(&report, "retention-embedded");
    assert!(retention.note.contains("Values above 2 are drawn at 2"), "{}", retention.note);
    assert!(retention.svg.contains(">2.0</text>") && !retention.svg.contains(">50</text>"), "the axis ends at 2");
    assert!(retention.svg.contains("after +2 tasks: 50.000"), "the value is told");
}

#[test]
fn drift_follows_tasks_of_any_size() {
    let directory = tempfile::tempdir().unwrap();
    let made = Made::paper().with(json!({ "dataset": "embedded", "classes": 4, "tasks": 3 })).diagnosed();
    let run = made.write(&directory.path().join("run"));
    let line = |task: usize, drifts: &[f64]| {
        let drift =
            drifts.iter().enumerate().map(|(class, raw)| json!({ "class": class, "raw": raw, "normalised": 0.5 }));
        json!({ "task": task, "proxy_drift": drift.collect::<Vec<_>>() }).to_string()
    };
    let lines = [line(0, &[9.0]), line(1, &[1.25, 9.0, 9.0]), line(2, &[0.25, 1.5, 2.5, 9.0])];
    std::fs::write(run.join("diagnostics.jsonl"), lines.join("\n")).unwrap();
    let report = Report::new(Study::read(&[directory.path().into()]).unwrap(), Options::default());
    let drift = &figure(&report, "drift-tasks-raw-embedded").svg;
    for said in ["task 2: 1.250", "task 3: 0.250", "task 3: 2.000"] {
        assert!(drift.contains(&format!("while learning {said}")), "{said}");
    }
    assert!(
        !drift.contains("9.000") && figure(&report, "drift-classes-raw-embedded").svg.contains("class 1 (thing 0)")
    );
}

#[test]
fn curves_over_stages_show_what_was_known_by_then() {
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5 });
    let made = || Made::paper().with(small.clone());
    let (_directory, report) = report([made()]);
    let mean = [0, 1, 2].map(|task| made().accuracy(2, task)).iter().sum::<f64>() / 3.0;
    let so_far = &figure(&report, "so-far-embedded").svg;
    assert!(so_far.contains(&format!("after task 3: {:.2} %", 100.0 * mean)), "{mean}");
    let best = made().accuracy(0, 0).max(made().accuracy(1, 0));
    let lost = &figure(&report, "forgetting-embedded").svg;
    assert!(lost.contains(&format!("after task 2: {:.2} %", 100.0 * (best - made().accuracy(1, 0)))));
    assert!(!lost.contains("after task 1:"), "one task has nothing to forget");
    // A hundred made-up images per task, and as many right of them as the accuracy says: the first class has the first half.
    let classes = &figure(&report, "classes-embedded").svg;
    assert!(classes.contains(": class 1: ") && classes.contains(": class 10: "));
}

#[test]
fn the_sides_of_a_retrieval_are_distinguished() {
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5 });
    let balanced = json!({ "retrieval": "balanced", "ratio": "5:5" });
    let (_directory, report) =
        report([Made::paper().with(small.clone()).diagnosed(), Made::paper().with(small).with(balanced).diagnosed()]);
    let (high, low) = ("highest change of loss (conflicting)", "lowest change of loss (aligned)");
    let other = "at random, or for another reason";
    for id in ["task-age-embedded", "replays-embedded"] {
        assert_eq!(legend(figure(&report, id)), [high, low, other], "{id}");
    }
    // In the third task ages 0, 1 and 2 were picked 10, 10 and 10 times by one side, 20, 15 and 10 by the other.
    let age = &figure(&report, "task-age-embedded").svg;
    assert!(age.contains(&format!("{high}: while learning task 3: 1.00 tasks")), "{age}");
    assert!(age.contains(&format!("{low}: while learning task 3: 0.78 tasks")));
    // Of 5 tasks of 100 and 105 slots.
    let replays = &figure(&report, "replays-embedded").svg;
    assert!(replays.contains("PCR + balanced, n = 500 to 525</text>"), "{replays}");
    assert!(replays.contains(&format!("{high}: 0 times: 40.00 % of 500")));
    let order = figure(&report, "first-order-embedded");
    assert_eq!(legend(order), ["both sides", high, low]);
    assert!(order.svg.contains("both sides: while learning task 2: 0.900") && !order.svg.contains("PCR + random"));
    let named = |figure: &Figure| figure.sources.iter().map(|source| source.name.clone()).collect::<Vec<_>>();
    assert_eq!(named(order), ["PCR + balanced"], "a caption names only what is drawn");
    assert_eq!(named(figure(&report, "drift-tasks-raw-embedded")), ["PCR + random", "PCR + balanced"]);
    let mix = &figure(&report, "class-mix-sides-embedded").svg;
    assert!(mix.contains("highest</text>") && mix.contains("lowest</text>"), "{mix}");
}

#[test]
fn distances_are_a_series_within_tasks() {
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5 });
    let (directory, report) = report([Made::paper().with(small).diagnosed()]);
    let inner = figure(&report, "inner-distance-embedded");
    assert!(inner.svg.contains("task 2, steps 5 to 8: ") && inner.note.contains("stretches"), "{}", inner.note);
    // An older run tells one distance for each task.
    let file = directory.path().join("run000/diagnostics.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let older = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("distances");
        line.to_string()
    };
    std::fs::write(&file, lines.lines().map(older).collect::<Vec<_>>().join("\n")).unwrap();
    let report = Report::new(Study::read(&[directory.path().into()]).unwrap(), Options::default());
    let inner = figure(&report, "inner-distance-embedded");
    assert!(inner.svg.contains("task 2, raw: ") && !inner.note.contains("stretches"), "{}", inner.note);
}

#[test]
fn bare_figures_have_no_title() {
    let directory = tempfile::tempdir().unwrap();
    let made = Made::paper().with(json!({ "dataset": "embedded", "classes": 10, "tasks": 5 })).diagnosed();
    made.write(&directory.path().join("run"));
    let study = || Study::read(&[directory.path().into()]).unwrap();
    let (titled, bare) =
        (Report::new(study(), Options::default()), Report::new(study(), Options { paper: false, bare: true }));
    let ids = |report: &Report| {
        report.parts.iter().flat_map(|part| &part.figures).map(|figure| figure.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&titled), ids(&bare));
    for id in ids(&titled) {
        let title = |figure: &Figure| figure.svg.contains("font-size=\"14\"");
        assert!(title(figure(&titled, &id)) && !title(figure(&bare, &id)), "{id}");
    }
    let page = bare.write(&directory.path().join("out")).unwrap();
    let pdf = std::fs::read(directory.path().join("out/figures/so-far-embedded.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.7\n") && pdf.ends_with(b"%%EOF"));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<h3>Average accuracy over the tasks seen so far</h3>"), "the page says it instead");
}
