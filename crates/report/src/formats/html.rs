//! Tables as HTML. Every number is a link to the runs behind it.

use std::{fmt::Write, path::PathBuf};

use rehearsal_measure::Better;

use crate::{
    paper::Verdict,
    table::{Against, Cell, Header, Measured, Row, Table},
    text::escaped,
};

/// More columns than this are set closer, so that they fit the page.
const MOST_ROOMY: usize = 9;

/// The table; `anchor` names the place in the page that lists some runs.
pub fn table(table: &Table, anchor: &dyn Fn(&[PathBuf]) -> String) -> String {
    let dense = if table.columns() > MOST_ROOMY { " class=\"dense\"" } else { "" };
    let mut text = format!("<table{dense}>\n<thead>\n");
    for (i, headers) in table.headers.iter().enumerate() {
        text.push_str("<tr>");
        if i == 0 {
            let rows = table.headers.len();
            write!(text, "<th class=\"corner\" rowspan=\"{rows}\" scope=\"col\">{}</th>", escaped(&table.corner))
                .expect("a string takes all");
        }
        text.extend(headers.iter().map(header));
        text.push_str("</tr>\n");
    }
    text.push_str("</thead>\n<tbody>\n");
    text.extend(table.rows.iter().map(|row| self::row(row, anchor)));
    text.push_str("</tbody>\n</table>\n");
    text
}

fn header(header: &Header) -> String {
    let arrow = match header.arrow() {
        "" => String::new(),
        arrow => {
            let meaning = if arrow == "↑" { "higher is better" } else { "lower is better" };
            format!(" <abbr title=\"{meaning}\">{arrow}</abbr>")
        }
    };
    let scope = if header.span > 1 { "colgroup" } else { "col" };
    format!("<th colspan=\"{}\" scope=\"{scope}\">{}{arrow}</th>", header.span, escaped(&header.text))
}

fn row(row: &Row, anchor: &dyn Fn(&[PathBuf]) -> String) -> String {
    let class = if row.begins_part { " class=\"part\"" } else { "" };
    let cells: String = row.cells.iter().map(|cell| self::cell(cell, anchor)).collect();
    let indented = if row.is_dependent() { " class=\"dependent\"" } else { "" };
    format!("<tr{class}><th scope=\"row\"{indented}>{}</th>{cells}</tr>\n", escaped(&row.label))
}

fn cell(cell: &Cell, anchor: &dyn Fn(&[PathBuf]) -> String) -> String {
    match cell {
        Cell::Missing { unfinished, paper } => {
            let begun = if *unfinished > 0 { format!("<br>{unfinished} unfinished") } else { String::new() };
            let paper = paper.map_or(String::new(), |paper| format!("<small class=\"paper\">paper {paper:.2}</small>"));
            format!("<td class=\"missing\">missing{begun}{paper}</td>")
        }
        Cell::Measured(measured) => measure(measured, &anchor(&measured.runs)),
        Cell::Difference { against, runs } => difference(against, &anchor(runs)),
        Cell::Text { text, runs } => {
            let text = if runs.is_empty() {
                escaped(text)
            } else {
                format!("<a href=\"#{}\">{}</a>", anchor(runs), escaped(text))
            };
            format!("<td{}>{text}</td>", if is_words(&text) { " class=\"words\"" } else { "" })
        }
    }
}

/// What is broken into lines.
fn is_words(text: &str) -> bool {
    text.chars().filter(|&c| c == ' ').count() > 3
}

/// The difference and its interval, and below it what its test says.
fn difference(against: &Against, anchor: &str) -> String {
    let mut lines = against.text().into_iter();
    let first = lines.next().unwrap_or_default();
    let rest: String = lines.map(|line| format!("<small class=\"against\">{line}</small>")).collect();
    format!("<td><a href=\"#{anchor}\">{first}</a>{rest}</td>")
}

fn measure(measured: &Measured, anchor: &str) -> String {
    let seeds = if measured.value.n == 1 { "1 seed".to_owned() } else { format!("{} seeds", measured.value.n) };
    // A sign is not parted from its number.
    let number = measured.text().replace("± ", "±\u{a0}");
    let number = if measured.best { format!("<strong>{number}</strong>") } else { number };
    let mut text = format!("<td><a href=\"#{anchor}\" title=\"{seeds}\">{number}</a>");
    if let Some(change) = measured.change {
        let arrow = if change < 0.0 { "↓" } else { "↑" };
        write!(text, " <small class=\"change\">{arrow}{:.2}</small>", change.abs()).expect("a string takes all");
    }
    if let Some((paper, verdict)) = measured.paper {
        let (class, words) = (class(verdict, measured.better), verdict.words());
        write!(text, "<small class=\"paper\">paper {paper:.2} <span class=\"{class}\">{words}</span></small>")
            .expect("a string takes all");
    }
    text.push_str("</td>");
    text
}

/// Better than the paper is marked as good, whichever way that is.
fn class(verdict: Verdict, better: Option<Better>) -> &'static str {
    match (verdict, better) {
        (Verdict::Reproduced, _) => "within",
        (Verdict::Above, Some(Better::Higher)) | (Verdict::Below, Some(Better::Lower)) => "good",
        (Verdict::Above | Verdict::Below, _) => "bad",
        (Verdict::DifferentSetting | Verdict::OneSeed, _) => "no-verdict",
    }
}
