//! The list of runs at the end of the page: where every link leads.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Component, Path, PathBuf},
};

use rehearsal_runs::files::RESULT;

use crate::{
    report::Report,
    run::Run,
    study::{Group, Study},
    text::escaped,
};

/// Where runs are: in the page, and on disk as seen from it.
pub struct Places {
    /// By the run's directory: the number of its group and its own.
    numbers: BTreeMap<PathBuf, (usize, usize)>,
    /// The directory of the page, from the root.
    base: PathBuf,
}

impl Places {
    /// For a page in a directory, given from the root.
    pub fn new(study: &Study, base: &Path) -> Self {
        let mut numbers = BTreeMap::new();
        let mut number = 0;
        for (place, group) in study.groups.iter().enumerate() {
            for run in first_readings(group) {
                number += 1;
                numbers.insert(run.path.clone(), (place + 1, number));
            }
        }
        Self { numbers, base: base.to_owned() }
    }

    /// Where the page lists some runs: a run, its group, or the whole list if they are of several
    /// groups.
    pub fn anchor(&self, runs: &[PathBuf]) -> String {
        let numbers: Vec<(usize, usize)> = runs.iter().filter_map(|run| self.numbers.get(run).copied()).collect();
        match numbers[..] {
            [(_, run)] => format!("run-{run}"),
            [(group, _), ..] if numbers.iter().all(|(other, _)| *other == group) => format!("group-{group}"),
            _ => "runs".into(),
        }
    }

    /// A run's directory as a link from the page.
    pub fn relative(&self, run: &Path) -> String {
        let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
        let (here, there) = (plain(&self.base), plain(&run));
        let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..".to_owned(), here.len() - shared);
        up.chain(there[shared..].iter().cloned()).collect::<Vec<_>>().join("/")
    }
}

/// The runs of a group that are listed with it: what is read a second time is listed once.
fn first_readings(group: &Group) -> impl Iterator<Item = &Run> {
    group.runs.iter().filter(|run| !run.is_again)
}

/// The parts of a path without `.` and `..`.
fn plain(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts
}

/// Characters that would end a link or begin something else in it.
fn in_link(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.bytes().map(|byte| if kept(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Every group with its runs, then what is not counted.
pub(super) fn section(report: &Report, places: &Places) -> String {
    let mut text = String::from("<section class=\"runs\">\n<h2 id=\"runs\">Runs</h2>\n");
    let mut add = |part: std::fmt::Arguments| text.write_fmt(part).expect("a string takes all");
    for (i, group) in report.study.groups.iter().enumerate() {
        if first_readings(group).next().is_none() {
            continue;
        }
        let title = format!("{} on {}; {}", group.arm.label(), group.data.label(), group.protocol.label(&[]));
        add(format_args!("<div class=\"group\" id=\"group-{}\">\n<h3>{}</h3>\n<ul>\n", i + 1, escaped(&title)));
        for run in first_readings(group) {
            let (_, number) = places.numbers.get(&run.path).copied().unwrap_or_default();
            let path = places.relative(&run.path);
            let (link, seed) = (in_link(&path), run.seed);
            let percent = |matrix| format!("{:.2} %", rehearsal_measure::accuracy(matrix).unwrap_or(0.0) * 100.0);
            let mut accuracy = percent(&run.matrix);
            if let Some(recalibrated) = &run.recalibrated {
                accuracy = format!("{accuracy}, recalibrated {}", percent(&recalibrated.matrix));
            }
            let doubts = run.incomplete_data.iter().map(|part| format!("only {part}")).chain(run.warnings.clone());
            let doubts: String = doubts.map(|doubt| format!("<br><small>{}</small>", escaped(&doubt))).collect();
            add(format_args!(
                "<li id=\"run-{number}\">seed {seed}: accuracy {accuracy}, <a href=\"{link}/\"><code>{}</code></a> \
                 (<a href=\"{link}/{RESULT}\">{RESULT}</a>){doubts}</li>\n",
                escaped(&path),
            ));
        }
        let settings: Vec<String> = first_readings(group).next().map_or(Vec::new(), |run| {
            let names: BTreeSet<&str> = run.settings.names().filter(|name| !["seed", "data"].contains(name)).collect();
            names.iter().map(|name| format!("{name} = {}", run.settings.text(name).unwrap_or_default())).collect()
        });
        add(format_args!(
            "</ul>\n<details><summary>settings</summary><code>{}</code></details>\n</div>\n",
            escaped(&settings.join(", "))
        ));
    }
    let others = [
        ("Not counted: no result", report.study.unfinished.iter().map(|run| &run.path).collect::<Vec<_>>()),
        ("Not counted: another run has the same settings and seed", report.study.repeated.iter().collect()),
    ];
    for (title, paths) in others.iter().filter(|(_, paths)| !paths.is_empty()) {
        let items: String =
            paths.iter().map(|path| format!("<li><code>{}</code></li>\n", escaped(&places.relative(path)))).collect();
        add(format_args!("<h3>{title}</h3>\n<ul>\n{items}</ul>\n"));
    }
    text.push_str("</section>\n");
    text
}
