//! One run of a grid, by hand, by a cluster's scheduler, or as a worker of `rehearsal grid`.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use rehearsal::{
    config::Said,
    experiment::{Experiment, ExperimentError, Outcome},
    observer::{Observer, StepEvent},
    record::Record,
    run_directory::{DirectoryError, RunDirectory},
};

use super::{
    plan::{Job, Plan},
    pool::Told,
    refuse,
    state::State,
};
use crate::{
    args::grid::Place,
    interrupt::Interrupt,
    printer::{Progress, print, summary, talk},
};

/// How long to wait for a process that holds the run, such as a worker whose grid was killed and who is about to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a worker tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Does, or goes on with, the run at `index`.
pub fn run_one(file: &Path, index: usize, place: &Place, threads: Option<usize>, worker: bool) -> Result<ExitCode> {
    let job = match Plan::read(file, place).and_then(|plan| find(plan, index)) {
        Ok(job) => job,
        Err(error) => return refuse(error),
    };
    if let Some(result) = RunDirectory::read_result(&job.directory)? {
        let record = Record::parse(&result).map_err(|why| anyhow!("{}: {why}", job.directory.display()))?;
        return show(&record, &job, worker);
    }
    let experiment = match open(&job, threads) {
        Ok(experiment) => experiment,
        Err(error) => return refuse(error),
    };
    let outcome = if worker {
        let teller = Teller { total: experiment.total_steps(), last: None };
        experiment.run(&mut Interrupt::catch(teller, || {})?.or_when_input_ends())?
    } else {
        let progress = Progress::of(&experiment);
        let stopping = || talk("\nstopping after this step; press Ctrl-C again to stop at once");
        experiment.run(&mut Interrupt::catch(progress, stopping)?)?
    };
    match outcome {
        Outcome::Finished(record) => show(&record, &job, worker),
        Outcome::Stopped => Ok(ExitCode::from(130)),
    }
}

fn find(plan: Plan, index: usize) -> Result<Job> {
    let count = plan.jobs.len();
    let job = plan.jobs.into_iter().find(|job| job.planned.index == index);
    let job = job.ok_or_else(|| anyhow!("there is no run {index}: the grid has {count}, from 0 to {}", count - 1))?;
    State::of(&job)?;
    Ok(job)
}

fn show(record: &Record, job: &Job, worker: bool) -> Result<ExitCode> {
    if !worker {
        print(&summary(record, &job.directory))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Begins, or goes on from the last checkpoint, as soon as no other process holds the run.
fn open(job: &Job, threads: Option<usize>) -> Result<Experiment> {
    let adjusted = Said { threads, data: job.said.data.clone(), ..Said::default() };
    let start = Instant::now();
    loop {
        let opened = if job.directory.join("config.toml").exists() {
            Experiment::resume(&job.directory, |saved| *saved = saved.overridden_by(&adjusted))
        } else {
            Experiment::new(&job.said.overridden_by(&adjusted), Some(&job.directory))
        };
        match opened {
            Err(ExperimentError::Directory(DirectoryError::Busy(_) | DirectoryError::Taken(_)))
                if start.elapsed() < PATIENCE =>
            {
                std::thread::sleep(TELL_EVERY);
            }
            opened => return opened.with_context(|| job.planned.name.clone()),
        }
    }
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
            // If nobody listens any more, standard input ends as well, and that is what stops the run.
            let _ = writeln!(io::stdout(), "{}", told.line());
        }
        ControlFlow::Continue(())
    }

    fn task(&mut self, _: usize, _: &[f64]) {}
}
