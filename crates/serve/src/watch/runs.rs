//! The runs at or below a directory, and how far each is, by what they write.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rehearsal_files::regular;
use rehearsal_grid::read_manifest;
use rehearsal_measure::{AccuracyMatrix, accuracy, forgetting};
use rehearsal_runs::{GridDirectory, Record, RunDirectory, Settings, TaskDiagnostics, files};
use serde::Serialize;
use serde_json::Value;

use super::{curve::Drawn, live::Live, log::Log};

/// The most runs that are shown.
const MOST: usize = 2000;
/// How many directories deep they are looked for.
const DEPTH: usize = 3;
/// The largest list of a grid's runs, and the largest diagnostics, in bytes.
const LARGEST: u64 = 64 << 20;
/// The settings that name a run.
const NAMING: [&str; 6] = ["method", "retrieval", "dataset", "memory", "epochs", "seed"];

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It is in the list of a grid and was not begun.
    Waiting,
    /// A process writes it.
    Running,
    /// It was stopped, and can be continued.
    Stopped,
    /// It has a result.
    Finished,
    /// `why` says what happened.
    Failed,
}

/// A run in a few words.
#[derive(Debug, Serialize)]
pub(super) struct Brief {
    pub name: String,
    pub state: State,
    /// Why it failed.
    pub why: Option<String>,
    /// Tasks that were learned.
    pub tasks: usize,
    /// Steps taken.
    pub steps: u64,
    /// The mean of the last accuracies on all tasks so far.
    pub accuracy: Option<f64>,
}

/// All of a run that is shown.
#[derive(Debug, Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    pub brief: Brief,
    /// The settings that name it.
    pub settings: BTreeMap<&'static str, Value>,
    /// The classes in order of appearance; empty if they are not known yet.
    pub classes: Vec<String>,
    /// The task that is learned, from 0.
    pub task: usize,
    /// How many samples the memory holds.
    pub memory: usize,
    /// Mean loss from each task's best accuracy to its last.
    pub forgetting: Option<f64>,
    /// After each task, the accuracies on all tasks so far.
    pub matrix: Vec<Vec<Option<f64>>>,
    /// The loss.
    pub loss: Drawn,
    /// What replay does, task by task, if the run writes it.
    pub diagnostics: Vec<TaskDiagnostics>,
    /// Reasons to doubt the result.
    pub warnings: Vec<String>,
}

/// The runs at or below a directory.
pub(super) struct Runs {
    root: PathBuf,
    live: Option<Live>,
    known: BTreeMap<String, Known>,
}

/// What is known of a run.
#[derive(Default)]
struct Known {
    directory: PathBuf,
    /// What it said when it failed, if a grid runs it.
    said: Option<PathBuf>,
    log: Log,
    record: Option<Record>,
}

impl Runs {
    pub fn new(root: PathBuf, live: Option<Live>) -> Self {
        Self { root, live, known: BTreeMap::new() }
    }

    /// Every run, in order of names.
    pub fn all(&mut self) -> Vec<Brief> {
        self.find();
        let live = self.live.as_ref();
        self.known.iter_mut().map(|(name, known)| known.brief(name, live)).collect()
    }

    /// A run that was found.
    pub fn one(&mut self, name: &str) -> Option<Detail> {
        self.find();
        let live = self.live.as_ref();
        self.known.get_mut(name).map(|known| known.detail(name, live))
    }

    /// Notes the runs that are there. What is known of them stays.
    fn find(&mut self) {
        let mut found = BTreeMap::new();
        if is_run(&self.root) {
            let name = self.root.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
            found.insert(name, (self.root.clone(), None));
        } else {
            search(&self.root, "", DEPTH, &mut found);
            let grid = GridDirectory::new(self.root.clone());
            let manifest = regular::read_to_string(&grid.manifest(), LARGEST).unwrap_or_default();
            for run in read_manifest(&manifest).unwrap_or_default() {
                found.insert(run.name.to_string(), (grid.run(&run.name), Some(grid.log(&run.name))));
            }
        }
        self.known.retain(|name, _| found.contains_key(name));
        for (name, (directory, said)) in found.into_iter().take(MOST) {
            let known = self.known.entry(name).or_default();
            (known.directory, known.said) = (directory, said);
        }
    }
}

/// Whether a directory holds a run.
fn is_run(directory: &Path) -> bool {
    [files::CONFIG, files::STEPS, files::RESULT].iter().any(|file| directory.join(file).is_file())
}

/// Links are not followed: they may lead in circles.
fn search(directory: &Path, before: &str, depth: usize, found: &mut BTreeMap<String, (PathBuf, Option<PathBuf>)>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if found.len() >= MOST || name.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (path, name) = (entry.path(), format!("{before}{name}"));
        if is_run(&path) {
            found.insert(name, (path, None));
        } else if depth > 1 {
            search(&path, &format!("{name}/"), depth - 1, found);
        }
    }
}

impl Known {
    fn brief(&mut self, name: &str, live: Option<&Live>) -> Brief {
        let (state, why) = self.state(live);
        // A run that was not begun has no log.
        let _ = self.log.read_on(&self.directory.join(files::STEPS));
        let matrix = self.matrix();
        Brief {
            name: name.to_owned(),
            state,
            why,
            tasks: self.log.matrix().len(),
            steps: self.log.steps,
            accuracy: self.record.as_ref().map_or_else(|| accuracy(&matrix), |record| record.accuracy),
        }
    }

    fn detail(&mut self, name: &str, live: Option<&Live>) -> Detail {
        let brief = self.brief(name, live);
        let matrix = self.matrix();
        let classes = live.map(|live| live.classes.to_vec());
        let record = self.record.as_ref();
        Detail {
            brief,
            settings: self.settings(),
            classes: record.map(|record| record.class_names.clone()).or(classes).unwrap_or_default(),
            task: self.log.task,
            memory: self.log.memory,
            forgetting: record.map_or_else(|| forgetting(&matrix), |record| record.forgetting),
            matrix: self.log.matrix(),
            loss: self.log.loss.drawn(),
            diagnostics: self.diagnostics(),
            warnings: record.map(|record| record.warnings.clone()).unwrap_or_default(),
        }
    }

    fn state(&mut self, live: Option<&Live>) -> (State, Option<String>) {
        let has = |file: &str| self.directory.join(file).is_file();
        if !has(files::RESULT) {
            self.record = None;
        } else if self.record.is_none() {
            match RunDirectory::read_record(&self.directory) {
                Ok(record) => self.record = record,
                Err(error) => return (State::Failed, Some(error.to_string())),
            }
        }
        if self.record.is_some() {
            return (State::Finished, None);
        }
        if live.is_some() || RunDirectory::is_busy(&self.directory) {
            return (State::Running, None);
        }
        let said = self.said.as_deref().and_then(rehearsal_grid::log::read);
        match said {
            Some(why) => (State::Failed, Some(why)),
            None if has(files::CONFIG) || has(files::STEPS) => (State::Stopped, None),
            None => (State::Waiting, None),
        }
    }

    fn matrix(&self) -> AccuracyMatrix {
        let mut matrix = AccuracyMatrix::new();
        for row in self.log.matrix() {
            let row: Option<Vec<f64>> = row.into_iter().collect();
            // Accuracies after some task that are no row say nothing about those before.
            if row.is_none_or(|row| matrix.push_row(row).is_err()) {
                break;
            }
        }
        matrix
    }

    fn settings(&self) -> BTreeMap<&'static str, Value> {
        let text = RunDirectory::read_config(&self.directory).unwrap_or_default();
        let settings: Settings = toml::from_str(&text).unwrap_or_default();
        NAMING.into_iter().filter_map(|name| Some((name, settings.get(name)?.clone()))).collect()
    }

    fn diagnostics(&self) -> Vec<TaskDiagnostics> {
        let text = regular::read_to_string(&self.directory.join(files::DIAGNOSTICS), LARGEST).unwrap_or_default();
        TaskDiagnostics::parse(&text).unwrap_or_default()
    }
}
