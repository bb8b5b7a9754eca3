//! The page that holds everything: one HTML file, no network.

mod runs;

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use crate::{
    figures::{Figure, Source},
    formats::html,
    report::{Part, Report},
    table::Table,
    text::{counted, escaped},
};

pub use runs::Places;

const CSS: &str = include_str!("page/page.css");
const JS: &str = include_str!("page/page.js");

/// What marks a page as ours, so that a report may be written over an older one.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"rehearsal report\">";

/// The page of a report. `places` says where its runs are, seen from it.
pub fn page(report: &Report, places: &Places) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{GENERATOR}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Rehearsal report</title>\n\
         <style>\n{CSS}</style>\n</head>\n<body>\n<header><h1>Rehearsal report</h1>\
         <button id=\"theme\" type=\"button\">light / dark</button></header>\n"
    );
    let mut add = |part: &str| text.push_str(part);
    add(&contents(report));
    add("<main>\n");
    add(&format!("<p>{}</p>\n", escaped(&report.summary())));
    add(
        "<p class=\"note\">Every number is a link to the runs behind it. The paper is Xu, Wasilewski and Krawczyk, CVPR 2025; its numbers are \
         marked as such and are never mixed with ours. Point at a mark of a figure for its value; click a legend entry to hide or show its \
         series.</p>\n",
    );
    for part in &report.parts {
        add(&self::part(part, places, report.options.bare));
    }
    add(&runs::section(report, places));
    add("</main>\n<div id=\"tip\" role=\"status\"></div>\n");
    add(&format!("<script>\n{JS}</script>\n</body>\n</html>\n"));
    text
}

fn contents(report: &Report) -> String {
    let mut text = String::from("<nav aria-label=\"Contents\"><ol>\n");
    for part in &report.parts {
        let figures = part.figures.iter().map(|figure| (&figure.id, figure.title.as_str()));
        let tables = part.tables.iter().map(|table| (&table.id, short(&table.title, part)));
        let inside: String = figures
            .chain(tables)
            .map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a> <small>{id}</small></li>\n", escaped(title)))
            .collect();
        let (id, title) = (&part.id, escaped(&part.title));
        let counts = [(part.figures.len(), "figure"), (part.tables.len(), "table")];
        let counts: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what)).collect();
        write!(
            text,
            "<li><a href=\"#{id}\">{title}</a>\n<details><summary>{}</summary><ul>\n{inside}</ul></details></li>\n",
            counts.join(", ")
        )
        .expect("a string takes all");
    }
    text.push_str("<li><a href=\"#runs\">Runs</a></li>\n</ol></nav>\n");
    text
}

/// The title of a table without the conditions, which the heading of its part says.
fn short<'a>(title: &'a str, part: &Part) -> &'a str {
    title.strip_suffix(part.title.as_str()).and_then(|title| title.strip_suffix(": ")).unwrap_or(title)
}

fn part(part: &Part, places: &Places, bare: bool) -> String {
    let mut text = format!("<section>\n<h2 id=\"{}\">{}</h2>\n", part.id, escaped(&part.title));
    if !part.figures.is_empty() {
        // The data is said once if it is the same in all.
        let same = part.figures.windows(2).all(|pair| pair[0].data == pair[1].data);
        if let Some(figure) = part.figures.first().filter(|_| same) {
            writeln!(text, "<p class=\"note\">{}</p>", escaped(&figure.data)).expect("a string takes all");
        }
        text.push_str("<div class=\"figures\">\n");
        text.extend(part.figures.iter().map(|figure| self::figure(figure, places, !same, bare)));
        text.push_str("</div>\n");
    }
    text.extend(part.tables.iter().map(|table| self::table(table, short(&table.title, part), places)));
    if !part.notes.is_empty() {
        let notes: String = part.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
        write!(text, "<h3>What is missing</h3>\n<ul class=\"note missing-parts\">\n{notes}</ul>\n")
            .expect("a string takes all");
    }
    text.push_str("</section>\n");
    text
}

fn table(table: &Table, title: &str, places: &Places) -> String {
    let notes: String =
        table.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", emphasised(note))).collect();
    let body = html::table(table, &|runs| places.anchor(runs));
    let (id, title) = (&table.id, escaped(title));
    format!(
        "<section class=\"table\" id=\"{id}\">\n<h3>{title}</h3>\n<div class=\"scroll\">\n{body}</div>\n{notes}\
         <p class=\"files\">{}</p>\n</section>\n",
        links("tables", id, &["md", "tex", "csv"])
    )
}

/// With what stands between stars set apart.
fn emphasised(note: &str) -> String {
    let piece = |(i, piece): (usize, &str)| if i % 2 == 1 { format!("<em>{piece}</em>") } else { piece.to_owned() };
    escaped(note).split('*').enumerate().map(piece).collect()
}

/// Figures wider than this take both columns of the page, in pixels.
const BROAD: f64 = 820.0;

fn figure(figure: &Figure, places: &Places, says_data: bool, bare: bool) -> String {
    let data = if says_data { format!("<p class=\"note\">{}</p>\n", escaped(&figure.data)) } else { String::new() };
    let (id, title, note) = (&figure.id, escaped(&figure.title), escaped(&figure.note));
    let class = if width(&figure.wide) > BROAD { " class=\"broad\"" } else { "" };
    format!(
        "<figure id=\"{id}\"{class}>\n<h3>{title}</h3>\n{data}<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n\
         <figcaption class=\"note\">{note} {}</figcaption>\n<p class=\"files\">{}</p>\n</figure>\n",
        figure.wide,
        figure.narrow,
        sources(&figure.sources, places),
        links("figures", id, if bare { &["svg", "png", "pdf"] } else { &["svg", "png"] })
    )
}

/// The width that a drawing says it has.
fn width(svg: &str) -> f64 {
    let said = svg.split_once(" width=\"").and_then(|(_, rest)| rest.split_once('"'));
    said.and_then(|(width, _)| width.parse().ok()).unwrap_or(0.0)
}

/// The runs behind each series, one link per series.
fn sources(sources: &[Source], places: &Places) -> String {
    let mut by_name: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for source in sources {
        by_name.entry(&source.name).or_default().extend(source.runs.iter().cloned());
    }
    let link = |(name, runs): (&str, Vec<PathBuf>)| {
        format!("<a href=\"#{}\">{} ({})</a>", places.anchor(&runs), escaped(name), runs.len())
    };
    let links: Vec<String> = by_name.into_iter().map(link).collect();
    format!("Runs: {}.", links.join(", "))
}

fn links(directory: &str, id: &str, endings: &[&str]) -> String {
    let link = |ending: &&str| format!("<a href=\"{directory}/{id}.{ending}\">{ending}</a>");
    endings.iter().map(link).collect::<Vec<_>>().join(" · ")
}
