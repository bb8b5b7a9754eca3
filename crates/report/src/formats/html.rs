//! Tables as HTML. Every number is a link to the runs behind it.

use std::{fmt::Write, path::PathBuf};

use rehearsal_measure::Better;

use crate::{
    drawing::escaped,
    paper::Verdict,
    table::{Against, Cell, Header, Measured, Row, Table},
};

/// The table; `anchor` names the place in the page that lists some runs.
pub fn table(table: &Table, anchor: &dyn Fn(&[PathBuf]) -> String) -> String {
    let mut text = String::from("<table>\n<thead>\n");
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
        Cell::Text { text, runs } if runs.is_empty() => format!("<td>{}</td>", escaped(text)),
        Cell::Text { text, runs } => format!("<td><a href=\"#{}\">{}</a></td>", anchor(runs), escaped(text)),
    }
}

fn measure(measured: &Measured, anchor: &str) -> String {
    let seeds = if measured.value.n == 1 { "1 seed".to_owned() } else { format!("{} seeds", measured.value.n) };
    let number = if measured.best { format!("<strong>{}</strong>", measured.text()) } else { measured.text() };
    let mut text = format!("<td><a href=\"#{anchor}\" title=\"{seeds}\">{number}</a>");
    if let Some(change) = measured.change {
        let arrow = if change < 0.0 { "↓" } else { "↑" };
        write!(text, " <small class=\"change\">{arrow}{:.2}</small>", change.abs()).expect("a string takes all");
    }
    for line in measured.against.iter().flat_map(Against::text) {
        write!(text, "<small class=\"against\">{line}</small>").expect("a string takes all");
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
        (Verdict::Within, _) => "within",
        (Verdict::Above, Some(Better::Higher)) | (Verdict::Below, Some(Better::Lower)) => "good",
        (Verdict::Above | Verdict::Below, _) => "bad",
        (Verdict::DifferentSetting | Verdict::OneSeed, _) => "no-verdict",
    }
}
