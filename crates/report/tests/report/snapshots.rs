//! Whole files of a small report, so that a change of words is seen and reviewed in one place.

use rehearsal_report::{
    formats::{csv, html, latex, markdown},
    report::{Options, Part},
};
use serde_json::json;

use crate::support::{Made, report_with, table};

/// Two arms of two seeds, tested with both `BatchNorm` statistics, one of them with diagnostics.
fn made() -> impl Iterator<Item = Made> {
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 3, "epochs": 1, "memory": 500, "width": 4, "recalibrate": "both" });
    (0..2).flat_map(move |seed| {
        let balanced = json!({ "retrieval": "balanced", "ratio": "5:5" });
        let plain = Made::paper().with(small.clone()).seed(seed);
        [plain, Made::paper().with(small.clone()).with(balanced).quality(0.8).seed(seed).diagnosed()]
    })
}

/// Titles and notes of every table and figure, and what is missing.
fn words(part: &Part) -> String {
    let tables = part
        .tables
        .iter()
        .map(|table| format!("table {}\n  {}\n  {}\n", table.id, table.title, table.notes.join("\n  ")));
    let figures =
        part.figures.iter().map(|figure| format!("figure {}\n  {}\n  {}\n", figure.id, figure.title, figure.note));
    let missing =
        part.notes.iter().filter(|note| !note.contains("no checksum")).map(|note| format!("missing\n  {note}\n"));
    format!("# {}\n\n{}", part.title, tables.chain(figures).chain(missing).collect::<String>())
}

#[test]
fn words_of_a_report() {
    let (_directory, report) = report_with(made(), Options { paper: true, bare: false });
    let parts: Vec<String> = report.parts.iter().map(words).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", report.summary(), parts.join("\n")));
}

#[test]
fn a_table_in_every_format() {
    let (directory, report) = report_with(made(), Options { paper: true, bare: false });
    let table = table(&report, "table1-methods");
    let texts = [
        markdown::table(table),
        latex::table(table),
        html::table(table, &|runs| format!("{}-runs", runs.len())),
        csv::table(table),
    ];
    let place = directory.path().display().to_string();
    insta::assert_snapshot!(texts.join("\n").replace(&place, "RUNS"));
}

#[test]
fn a_figure_as_svg() {
    let (_directory, report) = report_with(made(), Options::default());
    let figure = report.parts[0].figures.iter().find(|figure| figure.id == "so-far-embedded").unwrap();
    insta::assert_snapshot!(figure.svg);
}
