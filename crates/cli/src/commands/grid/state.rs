//! How far a run of a grid is, from what lies in its directory.

use std::{io::BufRead, path::Path};

use anyhow::{Result, anyhow};
use rehearsal::config::{Config, PartialConfig};
use rehearsal_files::regular;
use rehearsal_runs::{RunDirectory, Settings, files};
use serde_json::Value;

use super::{log, plan::Job};

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a result.
    Done,
    /// A process is writing it, on this machine if none is named.
    Running(Option<String>),
    /// It waits for its turn in this task of Slurm.
    Queued(String),
    /// The same, and it was under way before.
    Requeued(String),
    /// It said why it could not go on.
    Failed(String),
    /// It was stopped after about so many steps.
    Stopped(u64),
    /// It was not begun.
    Left,
    /// Its directory holds something else: for this reason it is left alone.
    Foreign(String),
}

impl State {
    /// Of a run, by its files alone.
    pub fn read(job: &Job) -> Self {
        Self::read_as_told(job, RunDirectory::is_busy)
    }

    /// Of a run, by its files and by one who knows whether a process writes a directory.
    pub fn read_as_told(job: &Job, is_busy: impl FnOnce(&Path) -> bool) -> Self {
        let has = |name: &str| job.directory.join(name).exists();
        let (begun, finished) = (has(files::CONFIG), has(files::RESULT));
        if (begun || finished)
            && let Err(why) = check_same(job)
        {
            return Self::Foreign(why.to_string());
        }
        if finished && let Err(why) = RunDirectory::read_record(&job.directory) {
            return Self::Foreign(why.to_string());
        }
        match log::read(&job.log) {
            _ if finished => Self::Done,
            _ if is_busy(&job.directory) => {
                Self::Running(RunDirectory::holder(&job.directory).map(|holder| holder.host))
            }
            Some(why) => Self::Failed(why),
            None if begun => Self::Stopped(steps(job)),
            None => Self::Left,
        }
    }

    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running(_) => "running",
            Self::Queued(_) => "queued",
            Self::Requeued(_) => "requeued",
            Self::Failed(_) => "failed",
            Self::Stopped(_) => "stopped",
            Self::Left => "left",
            Self::Foreign(_) => "foreign",
        }
    }

    /// What else there is to say.
    pub fn more(&self) -> String {
        match self {
            Self::Failed(why) | Self::Foreign(why) => format!(" ({why})"),
            Self::Stopped(steps) => format!(" (after {steps} steps)"),
            Self::Running(Some(host)) => format!(" (on {host})"),
            Self::Queued(task) | Self::Requeued(task) => format!(" (job {task})"),
            Self::Done | Self::Running(None) | Self::Left => String::new(),
        }
    }

    /// Whether somebody does it, or will.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Running(_) | Self::Queued(_) | Self::Requeued(_))
    }
}

/// The steps in its log: the checkpoint may be some steps behind.
fn steps(job: &Job) -> u64 {
    let Ok(file) = regular::open(&job.directory.join(files::STEPS), u64::MAX) else { return 0 };
    let lines = std::io::BufReader::new(file).lines().map_while(Result::ok);
    lines.filter(|line| line.contains("\"step\":")).count() as u64
}

/// Refuses a directory that holds a run with other settings, so that nothing is lost and nothing
/// taken for what it is not.
fn check_same(job: &Job) -> Result<()> {
    let held =
        PartialConfig::parse(&RunDirectory::read_config(&job.directory)?).and_then(|settings| settings.resolve());
    let place = job.directory.display();
    let held = held.map_err(|error| anyhow!("{place} holds a run that this program cannot read: {error}"))?;
    let settings = |config: &Config| Settings::new(config).expect("settings are plain data");
    let (held, wanted) = (settings(&held), settings(&job.config));
    let Some(name) = held.difference(&wanted) else { return Ok(()) };
    let value = |of: &Settings| of.get(name).cloned().unwrap_or(Value::Null);
    let (there, here) = (value(&held), value(&wanted));
    Err(anyhow!(
        "{place} holds a run with other settings: {name} is {there} there and {here} here; choose another `--out`"
    ))
}
