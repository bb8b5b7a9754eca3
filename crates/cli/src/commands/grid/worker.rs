//! One run of a grid, by hand, by a cluster's scheduler, or as a worker of `rehearsal grid`.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, ExperimentError, Outcome},
    observer::{Observer, StepEvent},
};
use rehearsal_runs::{DirectoryError, Record, RunDirectory, files};

use super::{
    log,
    plan::{Job, Plan},
    refuse,
    state::State,
};
use crate::{
    args::grid::Known,
    interrupt::{Asked, Interrupt},
    printer::{Progress, Told, message, print, summary},
};

/// How long to wait for a process that holds the run, such as a worker whose grid was killed and
/// who is about to stop.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often a worker tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Does, or goes on with, the run at `index` of a grid, and shows it to a person, or, in a `batch`,
/// to the log of a scheduler.
pub fn run_one(grid: &Known, index: usize, threads: Option<usize>, batch: bool) -> Result<ExitCode> {
    let asked = if batch {
        Asked::listen_for_batch(|| message("stopping after this step"))?
    } else {
        Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?
    };
    let job = match find(grid, index) {
        Ok(job) => job,
        Err(error) => return Ok(refuse(&error)),
    };
    let done = run(&job, threads, &asked, Progress::new);
    // `grid status` looks there for why it failed.
    if let Err(error) = &done {
        let said = format!("error: {error:#}\n");
        let _ = log::reserve(&job.log).and_then(|()| log::keep(&job.log, &said));
    } else {
        log::remove(&job.log);
    }
    if let Some(record) = done? {
        print(&summary(&record, &job.directory))?;
        Ok(ExitCode::SUCCESS)
    } else {
        message("stopped at a checkpoint; go on with the same command");
        Ok(ExitCode::from(130))
    }
}

/// The same for a grid: tells it how far the run is, and stops when the grid closes the pipe or is
/// dead.
pub fn work(grid: &Known, index: usize, threads: Option<usize>) -> Result<ExitCode> {
    let asked = Asked::listen_for_run(|| {})?.or_when_input_ends();
    let job = match find(grid, index) {
        Ok(job) => job,
        Err(error) => return Ok(refuse(&error)),
    };
    let tell = |experiment: &Experiment| Teller { total: experiment.total_steps(), last: None };
    Ok(run(&job, threads, &asked, tell)?.map_or(ExitCode::from(130), |_| ExitCode::SUCCESS))
}

fn find(grid: &Known, index: usize) -> Result<Job> {
    let mut plan = Plan::read(grid)?;
    let count = plan.jobs.len();
    if index >= count {
        return Err(anyhow!("there is no run {index}: the grid has {count}, from 0 to {}", count - 1));
    }
    let job = plan.jobs.swap_remove(index);
    match State::read(&job) {
        State::Foreign(why) => Err(anyhow!(why)),
        _ => Ok(job),
    }
}

/// The result, at once if there is one; none if it was stopped.
fn run<O: Observer + Send>(
    job: &Job,
    threads: Option<usize>,
    asked: &Asked,
    shown: impl FnOnce(&Experiment) -> O,
) -> Result<Option<Record>> {
    let Some(experiment) = open(job, threads, asked)? else {
        return Ok(RunDirectory::read_record(&job.directory)?);
    };
    let shown = shown(&experiment);
    match experiment.run(&mut Interrupt { shown, asked: asked.clone() })? {
        Outcome::Finished(record, _) => Ok(Some(*record)),
        Outcome::Stopped => Ok(None),
    }
}

/// Begins, or goes on from the last checkpoint, as soon as no other process holds the run; none if
/// it is finished, or someone asked to stop.
fn open(job: &Job, threads: Option<usize>, asked: &Asked) -> Result<Option<Experiment>> {
    let adjusted = PartialConfig { threads, data: job.settings.data.clone(), ..PartialConfig::default() };
    let begun = || job.directory.join(files::CONFIG).exists();
    let start = Instant::now();
    while !asked.to_stop() {
        let opened = if begun() {
            Experiment::resume(&job.directory, |saved| *saved = saved.overridden_by(&adjusted))
        } else {
            Experiment::new(&job.settings.overridden_by(&adjusted), Some(&job.directory))
        };
        match opened {
            Ok(experiment) => return Ok(Some(experiment)),
            Err(ExperimentError::Directory(DirectoryError::Finished(_))) => return Ok(None),
            Err(ExperimentError::Directory(DirectoryError::Busy(_))) if start.elapsed() < PATIENCE => {
                std::thread::sleep(TELL_EVERY);
            }
            // Another process began it in between.
            Err(ExperimentError::Directory(DirectoryError::Taken(_))) if begun() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Tells a grid how far the run is: lines of JSON on standard output.
struct Teller {
    total: u64,
    last: Option<Instant>,
}

impl Observer for Teller {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if self.last.is_none_or(|last| last.elapsed() >= TELL_EVERY) {
            self.last = Some(Instant::now());
            let told = Told { task: event.task, step: event.step, total: self.total };
            // If nobody listens any more, standard input ends as well, and that is what stops the
            // run.
            let _ = writeln!(io::stdout(), "{}", told.line());
        }
        ControlFlow::Continue(())
    }
}
