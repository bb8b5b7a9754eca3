//! What figures show, and whose.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use report::{figures::Figure, report::Report, study::Study};
use serde_json::json;
use support::Made;
use tempfile::TempDir;

fn report(made: impl IntoIterator<Item = Made>) -> (TempDir, Report) {
    let directory = tempfile::tempdir().unwrap();
    for (i, made) in made.into_iter().enumerate() {
        made.write(&directory.path().join(format!("run{i:03}")));
    }
    let study = Study::read(&[directory.path().into()]).unwrap();
    (directory, Report::new(study))
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
fn joint_training_is_no_series_over_tasks() {
    let joint = Made::paper().with(json!({ "method": "joint", "retrieval": null, "ratio": null, "memory": 0 }));
    let (_directory, report) = report([Made::paper(), joint]);
    for id in ["after-cifar100", "retention-cifar100", "tasks-cifar100"] {
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
