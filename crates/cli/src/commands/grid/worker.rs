//! `rehearsal grid run-one`: one run of a grid, by hand, in a Slurm task, or as a worker of `rehearsal grid`.

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
use rehearsal_grid::{Job, WorkerProgress, log};
use rehearsal_runs::{DirectoryError, Record, RunDirectory, files};

use super::experiments;
use crate::{
    args::grid::Known,
    exit_code,
    interrupt::{Asked, Interrupt},
    printer::{Progress, message, print, summary},
};

/// How long to wait for a process that holds the run, such as a worker that is about to stop because its grid was killed.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often a worker reports its progress.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Begins or continues the run at `index`, and shows it to a person or, in a `batch`, writes to the scheduler's log.
pub fn run_one(grid: &Known, index: usize, threads: Option<usize>, batch: bool) -> Result<ExitCode> {
    let asked = if batch {
        Asked::listen_for_batch(|| message("stopping after this step"))?
    } else {
        Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?
    };
    let job = experiments::read(grid)?.take(index)?;
    let done = run(&job, threads, &asked, Progress::new);
    // `grid status` reads there why it failed.
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
        message("stopped at a checkpoint; continue with the same command");
        Ok(exit_code::STOPPED.into())
    }
}

/// The same for a grid: reports progress, and stops when the grid closes the pipe or ends.
pub fn work(grid: &Known, index: usize, threads: Option<usize>) -> Result<ExitCode> {
    let asked = Asked::listen_for_run(|| {})?.or_when_input_ends();
    let job = experiments::read(grid)?.take(index)?;
    let tell = |experiment: &Experiment| Teller { total: experiment.total_steps(), last: None };
    let done = run(&job, threads, &asked, tell)?;
    Ok(if done.is_some() { exit_code::DONE } else { exit_code::STOPPED }.into())
}

/// The result, at once if the run is finished; none if it was stopped.
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
    let ended = experiment.run(&mut Interrupt { shown, asked: asked.clone() });
    // Wrong input is found before the first step: an error here is another one.
    match ended.map_err(|error| anyhow!(error.to_string()))? {
        Outcome::Finished(record, _) => Ok(Some(*record)),
        Outcome::Stopped => Ok(None),
    }
}

/// Begins, or continues from the last checkpoint, as soon as no other process holds the run; none if it is finished, or
/// was asked to stop.
fn open(job: &Job, threads: Option<usize>, asked: &Asked) -> Result<Option<Experiment>> {
    let settings = experiments::settings(job)?;
    let adjusted = PartialConfig { threads, data: settings.data.clone(), ..PartialConfig::default() };
    let begun = || job.directory.join(files::CONFIG).exists();
    let start = Instant::now();
    while !asked.to_stop() {
        let opened = if begun() {
            Experiment::resume(&job.directory, |saved| *saved = saved.overridden_by(&adjusted))
        } else {
            Experiment::new(&settings.overridden_by(&adjusted), Some(&job.directory))
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

/// Reports progress to a grid: lines of JSON on standard output.
struct Teller {
    total: u64,
    last: Option<Instant>,
}

impl Observer for Teller {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if self.last.is_none_or(|last| last.elapsed() >= TELL_EVERY) {
            self.last = Some(Instant::now());
            let progress = WorkerProgress { task: event.task, step: event.step, total: self.total };
            // If the grid is gone, standard input ends as well, and that stops the run.
            let _ = writeln!(io::stdout(), "{}", progress.line());
        }
        ControlFlow::Continue(())
    }
}
