//! How far a run of a grid is, from what lies in its directory.

use std::{io::BufRead, path::Path};

use rehearsal_files::regular;
use rehearsal_runs::{RunDirectory, Settings, files};
use serde_json::Value;

use crate::{Job, log};

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a result.
    Done,
    /// A process is writing it, on this machine if none is named.
    Running(Option<String>),
    /// It waits in this task of Slurm.
    Queued(String),
    /// The same, and the task was running before.
    Requeued(String),
    /// It failed, for this reason.
    Failed(String),
    /// It was stopped after about this number of steps.
    Stopped(u64),
    /// It was not begun.
    Left,
    /// Its directory holds something else, which is why it is left alone.
    Foreign(String),
}

impl State {
    /// Of a run, by its files.
    pub fn read(job: &Job) -> Self {
        Self::read_with(job, RunDirectory::is_busy)
    }

    /// Of a run, by its files and by a function that knows whether a process writes a directory.
    pub(crate) fn read_with(job: &Job, is_busy: impl FnOnce(&Path) -> bool) -> Self {
        let has = |name: &str| job.directory.join(name).exists();
        let (begun, finished) = (has(files::CONFIG), has(files::RESULT));
        if (begun || finished)
            && let Err(why) = check_same(job)
        {
            return Self::Foreign(why);
        }
        if finished {
            return RunDirectory::read_record(&job.directory)
                .map_or_else(|error| Self::Foreign(error.to_string()), |_| Self::Done);
        }
        let why = log::read(&job.log);
        if is_busy(&job.directory) {
            return Self::Running(RunDirectory::holder(&job.directory).map(|holder| holder.host));
        }
        match why {
            Some(why) => Self::Failed(why),
            None if begun => Self::Stopped(steps(job)),
            None => Self::Left,
        }
    }

    /// In one word.
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

    /// Details, in brackets; empty if there are none.
    pub fn details(&self) -> String {
        match self {
            Self::Failed(why) | Self::Foreign(why) => format!(" ({why})"),
            Self::Stopped(steps) => format!(" (after {steps} steps)"),
            Self::Running(Some(host)) => format!(" (on {host})"),
            Self::Queued(task) | Self::Requeued(task) => format!(" (job {task})"),
            Self::Done | Self::Running(None) | Self::Left => String::new(),
        }
    }

    /// Whether a process runs it, or a task of Slurm will.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Running(_) | Self::Queued(_) | Self::Requeued(_))
    }

    /// How many runs there are in each state: `3 runs: 1 done, 2 left`.
    pub fn count<'a>(states: impl IntoIterator<Item = &'a Self>) -> String {
        let states: Vec<&str> = states.into_iter().map(Self::name).collect();
        let of = |name: &str| states.iter().filter(|state| **state == name).count();
        let names = ["done", "running", "queued", "requeued", "failed", "stopped", "left", "foreign"];
        let parts = names.into_iter().filter(|name| of(name) > 0).map(|name| format!("{} {name}", of(name)));
        let parts: Vec<String> = parts.collect();
        format!("{} run{}: {}", states.len(), if states.len() == 1 { "" } else { "s" }, parts.join(", "))
    }
}

/// The steps in its log: the checkpoint may be some steps behind.
fn steps(job: &Job) -> u64 {
    let Ok(file) = regular::open(&job.directory.join(files::STEPS), u64::MAX) else { return 0 };
    let lines = std::io::BufReader::new(file).lines().map_while(Result::ok);
    lines.filter(|line| line.contains("\"step\":")).count() as u64
}

/// Refuses a directory that holds a run with other settings, so that nothing is overwritten or taken for another run.
fn check_same(job: &Job) -> Result<(), String> {
    let place = job.directory.display();
    let text = RunDirectory::read_config(&job.directory).map_err(|error| error.to_string())?;
    let held = job
        .parse_settings(&text)
        .map_err(|error| format!("{place} holds a run that this program cannot read: {error}"))?;
    let wanted = job.settings().map_err(|error| error.to_string())?;
    let Some(name) = held.difference(&wanted) else { return Ok(()) };
    let value = |of: &Settings| of.get(name).cloned().unwrap_or(Value::Null);
    let (there, here) = (value(&held), value(&wanted));
    Err(format!("{place} holds a run with other settings: {name} is {there} there and {here} here"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn files_say_how_far_a_run_is() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan(place.path(), "[fixed]\nlr = 0.1\n[axes]\nseed = [0]\n");
        let job = &plan.jobs[0];
        assert_eq!(State::read(job), State::Left);
        let mut directory = RunDirectory::create(&job.directory, "seed = 0\nlr = 0.1\nthreads = 2\n").unwrap();
        directory.log(&serde_json::json!({ "step": 1 })).unwrap();
        directory.log(&serde_json::json!({ "task": 0 })).unwrap();
        directory.sync_log().unwrap();
        assert_eq!(State::read(job), State::Running(None));
        drop(directory);
        assert_eq!(State::read(job), State::Stopped(1));
        fs::create_dir_all(job.log.parent().unwrap()).unwrap();
        fs::write(&job.log, "error: no luck\n").unwrap();
        assert_eq!(State::read(job), State::Failed("no luck".into()));
        let config = job.directory.join(files::CONFIG);
        for (text, why) in
            [("seed = 0\nlr = 0.2\n", "lr is 0.2 there and 0.1 here"), ("lr = -1.0", "cannot read: `lr`")]
        {
            fs::write(&config, text).unwrap();
            let state = State::read(job);
            assert!(matches!(&state, State::Foreign(said) if said.contains(why)), "{state:?}");
        }
    }

    #[test]
    fn states_are_counted() {
        assert_eq!(State::count(&[State::Left, State::Done, State::Left]), "3 runs: 1 done, 2 left");
        assert_eq!(State::count([&State::Failed("x".into())]), "1 run: 1 failed");
    }
}
