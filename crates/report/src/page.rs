//! The page that holds everything: one HTML file, no network.

mod runs;

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use crate::{
    drawing::escaped,
    figures::{Figure, Source},
    formats::html,
    report::{Part, Report},
    table::Table,
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
        let tables = part.tables.iter().map(|table| (&table.id, &table.title));
        let figures = part.figures.iter().map(|figure| (&figure.id, &figure.title));
        let inside: String = tables
            .chain(figures)
            .map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a> <small>{id}</small></li>\n", escaped(title)))
            .collect();
        let (count, id, title) = (part.tables.len() + part.figures.len(), &part.id, escaped(&part.title));
        write!(
            text,
            "<li><a href=\"#{id}\">{title}</a>\n<details><summary>{count} tables and figures</summary><ul>\n{inside}</ul></details></li>\n"
        )
        .expect("a string takes all");
    }
    text.push_str("<li><a href=\"#runs\">Runs</a></li>\n</ol></nav>\n");
    text
}

fn part(part: &Part, places: &Places, bare: bool) -> String {
    let mut text = format!("<section>\n<h2 id=\"{}\">{}</h2>\n", part.id, escaped(&part.title));
    text.extend(part.tables.iter().map(|table| self::table(table, places)));
    text.extend(part.figures.iter().map(|figure| self::figure(figure, places, bare)));
    if !part.notes.is_empty() {
        let notes: String = part.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
        write!(text, "<h3>What is missing</h3>\n<ul class=\"note missing-parts\">\n{notes}</ul>\n")
            .expect("a string takes all");
    }
    text.push_str("</section>\n");
    text
}

fn table(table: &Table, places: &Places) -> String {
    let notes: String =
        table.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", emphasised(note))).collect();
    let body = html::table(table, &|runs| places.anchor(runs));
    let (id, title) = (&table.id, escaped(&table.title));
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

fn figure(figure: &Figure, places: &Places, bare: bool) -> String {
    // Unless it is bare the drawing carries its title.
    let title = if bare { format!("<h3>{}</h3>\n", escaped(&figure.title)) } else { String::new() };
    let (id, note) = (&figure.id, escaped(&figure.note));
    format!(
        "<figure id=\"{id}\">\n{title}<div class=\"scroll\">{}</div>\n<figcaption class=\"note\">{note} {}</figcaption>\n\
         <p class=\"files\">{}</p>\n</figure>\n",
        figure.svg,
        sources(&figure.sources, places),
        links("figures", id, if bare { &["svg", "png", "pdf"] } else { &["svg", "png"] })
    )
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
