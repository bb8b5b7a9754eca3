//! The whole report: its parts, tables and figures, and its files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::{atomic, lock, regular};
use thiserror::Error;

use crate::{
    arm::Arm,
    drawing::{RenderError, pdf, png},
    figures::{self, Figure},
    formats::{
        csv, latex,
        markdown::{self, escaped},
    },
    page::{self, Places},
    protocol::Protocol,
    readings::is_recalibrated,
    study::{Group, Study},
    table::Table,
    tables::{self, Conditions},
    text::counted,
};

/// Exists in the directory of a report while it is written: an interrupted report may be replaced.
const UNFINISHED: &str = "report.unfinished";

/// The largest page that is read, in bytes.
const LARGEST_PAGE: u64 = 1 << 30;

/// A report of some runs.
pub struct Report {
    /// The runs.
    pub study: Study,
    /// One part per set of conditions, and one that compares them.
    pub parts: Vec<Part>,
    /// What was asked for.
    pub options: Options,
}

/// What a report holds, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The paper's tables too, each cell beside the paper's number, including missing rows.
    pub paper: bool,
    /// Figures without titles and also as PDF, for papers.
    pub bare: bool,
}

/// The results of one set of conditions.
pub struct Part {
    /// Its name in links.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// What could not be made and why, and doubts about runs.
    pub notes: Vec<String>,
}

/// Why a report cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The directory holds something else.
    #[error("{0} is not empty and does not hold a report")]
    Taken(PathBuf),
    /// Another process writes a report there.
    #[error("another process is writing a report into {0}")]
    Busy(PathBuf),
    /// A file cannot be written.
    #[error("{path} cannot be written: {error}")]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A figure cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl WriteError {
    /// Whether the user named a wrong place, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Taken(_) | Self::Busy(_) => true,
            Self::Unwritable { error, .. } => regular::is_wrong_place(error),
            Self::Render(_) => false,
        }
    }
}

impl Report {
    /// Makes tables and figures of all that was found.
    pub fn new(study: Study, options: Options) -> Self {
        let protocols = study.protocols();
        let arms: Vec<&Arm> =
            study.groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect();
        let mut parts: Vec<Part> = (0..protocols.len()).map(|i| part(&study, &protocols, i, &arms, options)).collect();
        let statistics = tables::recalibration(&study);
        let (by_time, times) = (tables::by_time(&study), figures::by_time(&study, &arms, options.bare));
        let sizes = if options.paper { tables::by_memory(&study) } else { Vec::new() };
        let figures_of_sizes = figures::by_memory(&study, &arms, options.bare);
        if let Some(first) = parts.first_mut().filter(|_| options.paper && sizes.is_empty()) {
            first
                .notes
                .push("No table of memory sizes (Table 2): it needs runs with different sizes of the memory.".into());
        }
        let across = [
            ("statistics", "Across conditions: BatchNorm statistics", statistics, Vec::new()),
            ("time", "Across conditions: accuracy for the time", by_time, times),
            ("across", "Across conditions: the size of the memory", sizes, figures_of_sizes),
        ];
        for (id, title, tables, figures) in across {
            if !tables.is_empty() || !figures.is_empty() {
                parts.push(Part { id: id.into(), title: title.into(), tables, figures, notes: Vec::new() });
            }
        }
        Self { study, parts, options }
    }

    /// The numbers of runs and groups, in a sentence or two.
    pub fn summary(&self) -> String {
        let (runs, twice) = self.study.runs();
        let groups = self.study.groups.iter().map(|group| (&group.data, group.protocol.but_statistics(), &group.arm));
        let groups = groups.collect::<BTreeSet<_>>().len();
        let mut text = format!("{} in {}.", counted(runs, "run"), counted(groups, "group"));
        if twice > 0 {
            let runs = if twice == runs { "All".to_owned() } else { counted(twice, "run") };
            text =
                format!("{text} {runs} tested with BatchNorm statistics as trained and recalibrated from the memory.");
        }
        for (count, what) in [
            (self.study.unfinished.len(), "without a result"),
            (self.study.repeated.len(), "not counted because another has the same settings and seed"),
        ] {
            if count > 0 {
                text = format!("{text} {}, {what}.", counted(count, "more run"));
            }
        }
        text
    }

    /// Writes the report into a directory and returns the path of its page. An older report there,
    /// or one that was interrupted, is replaced.
    ///
    /// # Errors
    /// The directory holds something else, or cannot be written.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, WriteError> {
        may_write(directory)?;
        let base =
            std::path::absolute(directory).map_err(|error| WriteError::Unwritable { path: directory.into(), error })?;
        let unfinished = directory.join(UNFINISHED);
        fs::create_dir_all(directory).map_err(|error| WriteError::Unwritable { path: directory.into(), error })?;
        // The files of two reports would stand side by side.
        let _held = lock::directory(directory).map_err(|_| WriteError::Busy(directory.into()))?;
        write(&unfinished, b"This report was interrupted: run the same command again.\n")?;
        for below in ["tables", "figures"] {
            // Files of an older report would look like parts of this one.
            let path = directory.join(below);
            let removed = fs::remove_dir_all(&path);
            if let Err(error) = removed.or_else(|error| if path.exists() { Err(error) } else { Ok(()) }) {
                return Err(WriteError::Unwritable { path, error });
            }
            fs::create_dir_all(&path).map_err(|error| WriteError::Unwritable { path, error })?;
        }
        for part in &self.parts {
            for table in &part.tables {
                let file = |ending: &str| directory.join("tables").join(format!("{}.{ending}", table.id));
                write(&file("md"), markdown::table(table).as_bytes())?;
                write(&file("tex"), latex::table(table).as_bytes())?;
                write(&file("csv"), csv::table(table).as_bytes())?;
            }
            for figure in &part.figures {
                let file = |ending: &str| directory.join("figures").join(format!("{}.{ending}", figure.id));
                write(&file("svg"), figure.svg.as_bytes())?;
                write(&file("png"), &png(&figure.svg)?)?;
                if self.options.bare {
                    write(&file("pdf"), &pdf(&figure.svg)?)?;
                }
            }
        }
        write(&directory.join("index.md"), self.markdown().as_bytes())?;
        let page = directory.join("index.html");
        write(&page, page::page(self, &Places::new(&self.study, &base)).as_bytes())?;
        fs::remove_file(&unfinished).map_err(|error| WriteError::Unwritable { path: unfinished, error })?;
        Ok(page)
    }

    /// Everything but the list of runs as one Markdown file, which embeds the figures.
    fn markdown(&self) -> String {
        let mut text = format!("# Rehearsal report\n\n{}\n", self.summary());
        for part in &self.parts {
            writeln!(text, "\n## {}", escaped(&part.title)).expect("a string takes all");
            text.extend(part.tables.iter().map(|table| format!("\n{}", markdown::table(table))));
            let figure = |figure: &Figure| {
                let (title, note) = (escaped(&figure.title), escaped(&figure.note));
                format!("\n### {title}\n\n![{title}](figures/{}.svg)\n\n{note}\n", figure.id)
            };
            text.extend(part.figures.iter().map(figure));
            if !part.notes.is_empty() {
                let notes: String = part.notes.iter().map(|note| format!("- {}\n", escaped(note))).collect();
                write!(text, "\n### What is missing\n\n{notes}").expect("a string takes all");
            }
        }
        text
    }
}

fn part(study: &Study, protocols: &[Protocol], i: usize, arms: &[&Arm], options: Options) -> Part {
    let protocol = &protocols[i];
    let prefix = prefix(protocols, i);
    let label = protocol.label(protocols);
    let Options { paper, bare } = options;
    let conditions = Conditions { study, protocol, groups: study.of_protocol(protocol), prefix, label, paper, bare };
    let (tables, mut notes) = tables::all(&conditions);
    let (figures, missing) = figures::all(&conditions, arms);
    notes.extend(missing);
    notes.extend(doubts(&conditions.groups));
    Part { id: format!("conditions-{}", i + 1), title: conditions.label.clone(), tables, figures, notes }
}

/// The beginning of the names of tables and figures: empty for the first conditions, else their number;
/// and a mark for the same conditions with recalibrated statistics.
fn prefix(protocols: &[Protocol], i: usize) -> String {
    let number = |i: usize| if i == 0 { String::new() } else { format!("p{}-", i + 1) };
    let (recalibrated, rest) = (protocols[i].is_recalibrated(), protocols[i].but_statistics());
    let as_trained = |other: &Protocol| !other.is_recalibrated() && other.but_statistics() == rest;
    match protocols.iter().position(as_trained) {
        Some(twin) if recalibrated => format!("{}{}", protocols[i].prefix(), number(twin)),
        _ => number(i),
    }
}

/// What the data lacked, and doubts about runs: each once, with the number of runs.
fn doubts(groups: &[&Group]) -> Vec<String> {
    let runs = || groups.iter().flat_map(|group| &group.runs);
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    for part in runs().flat_map(|run| &run.incomplete_data) {
        *said.entry(format!("Only a part of the data was available: {part}")).or_default() += 1;
    }
    for why_not in runs().filter(|run| is_recalibrated(run)).filter_map(|run| run.why_not_recalibrated.as_ref()) {
        *said
            .entry(format!("BatchNorm statistics were not recalibrated before the last test: {why_not}"))
            .or_default() += 1;
    }
    for run in runs() {
        for warning in &run.warnings {
            *said.entry(format!("Warning of {}: {warning}", run.path.display())).or_default() += 1;
        }
    }
    said.into_iter().map(|(note, count)| format!("{note} ({}).", counted(count, "run"))).collect()
}

/// Whether a report may be written into a directory: it is empty, holds an older report or one that
/// was interrupted, or does not exist yet.
///
/// # Errors
/// It holds something else.
pub fn may_write(directory: &Path) -> Result<(), WriteError> {
    let is_empty = fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none());
    let page = regular::read_to_string(&directory.join("index.html"), LARGEST_PAGE);
    let is_report = page.is_ok_and(|page| page.contains(page::GENERATOR));
    let is_ours = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name() == UNFINISHED || atomic::is_partial(&entry.file_name()))
    };
    let is_unfinished = fs::read_dir(directory).is_ok_and(|mut entries| entries.any(is_ours));
    if is_empty || is_report || is_unfinished { Ok(()) } else { Err(WriteError::Taken(directory.into())) }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    atomic::write(path, bytes).map_err(|error| WriteError::Unwritable { path: path.into(), error })
}
