//! `rehearsal grid`: many runs, each in its own process, resumable at any moment.

mod cancel;
mod experiments;
mod logs;
mod status;
mod submit;
mod wait;
mod worker;

use std::{
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context, Result};
use rehearsal_data::printable;
use rehearsal_files::path_text::quoted;
use rehearsal_files::threads::cores;
use rehearsal_grid::{Ending, Estimate, Event, Job, Outcome, Plan, PlanError, Schedule, State, log};
use rehearsal_runs::RunDirectory;

use crate::{
    args::grid::{Grid, Known, Part},
    exit_code,
    interrupt::Asked,
    printer::{Overview, clock, message, percent, plural, print},
};

/// Runs a grid, or does what the subcommand says.
pub fn grid(args: &Grid) -> Result<ExitCode> {
    match (&args.what, &args.file) {
        (Some(Part::Status { grid, json }), _) => status::status(grid, *json),
        (Some(Part::Submit(submit)), _) => submit::submit(submit),
        (Some(Part::Wait { grid, every }), _) => wait::wait(grid, Duration::from_secs(*every)),
        (Some(Part::Logs { grid, name }), _) => logs::logs(grid, name),
        (Some(Part::Cancel { grid }), _) => cancel::cancel(grid),
        (Some(Part::RunOne { grid, index, threads, worker: true, .. }), _) => {
            worker::work(grid, *index, threads.map(usize::from))
        }
        (Some(Part::RunOne { grid, index, threads, batch, .. }), _) => {
            worker::run_one(grid, *index, threads.map(usize::from), *batch)
        }
        (None, file) => run(args, &Known { file: file.clone().unwrap_or_default(), place: args.place.clone() }),
    }
}

/// The runs that were chosen, and those of them that are not done.
struct Session {
    plan: Plan,
    states: Vec<State>,
    chosen: Vec<usize>,
    waiting: Vec<usize>,
    jobs: usize,
    /// Threads of each job.
    threads: usize,
}

fn run(args: &Grid, file: &Known) -> Result<ExitCode> {
    let session = prepare(args, file)?;
    let Session { plan, states, chosen, waiting, .. } = &session;
    say_counts(plan, chosen.iter().map(|&index| &states[index]));
    if !args.dry_run {
        let done = chosen.iter().filter(|&&index| states[index] == State::Done);
        done.for_each(|&index| log::remove(&plan.jobs[index].log));
    }
    if waiting.is_empty() {
        message(&format!("all runs are done; make a report: rehearsal report {}", quoted(plan.directory.path())));
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        print(&waiting.iter().map(|&index| would(&plan.jobs[index], &states[index])).collect::<String>())?;
    }
    match estimate(&session) {
        Ok(line) => message(&line),
        Err(error) if args.continue_on_error => message(&format!("no estimate: {error:#}")),
        Err(error) => return Err(error),
    }
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let _lock = plan.hold(Duration::ZERO, || ())?;
    work(&session, args.continue_on_error)
}

fn prepare(args: &Grid, file: &Known) -> Result<Session> {
    let plan = experiments::read(file)?;
    let chosen = plan.chosen(args.only.as_ref())?;
    let states = plan.states();
    for &index in &chosen {
        if let State::Foreign(why) = &states[index] {
            return Err(PlanError::Foreign(why.clone()).into());
        }
    }
    let waiting: Vec<usize> = chosen.iter().copied().filter(|&index| states[index] != State::Done).collect();
    let jobs = args.jobs.map_or_else(|| cores().min(8), usize::from).min(waiting.len()).max(1);
    let threads = (args.threads.map_or_else(cores, usize::from) / jobs).max(1);
    Ok(Session { plan, states, chosen, waiting, jobs, threads })
}

fn say_counts<'a>(plan: &Plan, states: impl IntoIterator<Item = &'a State>) {
    message(&format!("{} in {}", State::count(states), plan.directory.path().display()));
}

/// What a dry run says about a run.
fn would(job: &Job, state: &State) -> String {
    let what = match state {
        State::Left => "would run",
        State::Running(_) => "is running:",
        _ => "would continue:",
    };
    format!("{:>4} {what} {}{}\n", job.planned.index, job.planned.name, printable(&state.details()))
}

/// Opens all data sets, so that a missing one is an error before the first run, and measures a few steps.
fn estimate(Session { plan, states, waiting, jobs, threads, .. }: &Session) -> Result<String> {
    experiments::check_data(plan, waiting)?;
    message("measuring a few steps …");
    let estimate = Estimate::measure(plan, states, waiting, |job| experiments::measure(job, *threads))?;
    Ok(estimate_line(&estimate, *jobs, *threads))
}

fn estimate_line(estimate: &Estimate, jobs: usize, threads: usize) -> String {
    let from = match (estimate.measured, estimate.kinds) {
        (measured, kinds) if measured == kinds => String::new(),
        (measured, kinds) => format!(" ({measured} of {kinds} kinds of run were measured)"),
    };
    format!(
        "{} at a time on {} each: about {} by a few measured steps{from}, tests not counted",
        plural(jobs, "run"),
        plural(threads, "thread"),
        clock(estimate.duration(jobs))
    )
}

/// This program, to start workers with.
fn program() -> Result<std::path::PathBuf> {
    crate::program().context("this program cannot find itself")
}

/// Does the runs that are waiting, and shows their progress.
fn work(session: &Session, continue_on_error: bool) -> Result<ExitCode> {
    let Session { plan, chosen, waiting, jobs, threads, .. } = session;
    let mut overview = Overview::new(chosen.len() - waiting.len(), chosen.len());
    let (asked, program) = (Asked::listen(|_| {})?, program()?);
    let command = |job: &Job| {
        let mut command = Command::new(&program);
        command.args(["grid", "run-one", "--worker", "--index", &job.planned.index.to_string()]);
        command.args(["--threads", &threads.to_string()]).arg(plan.directory.manifest());
        command
    };
    let stop_requests = || asked.times();
    let schedule = Schedule { jobs: *jobs, continue_on_error, command: &command, stop_requests: &stop_requests };
    let outcome = schedule.run(plan, waiting, |event| match event {
        Event::Started(job) => overview.start(job.planned.index, job.planned.name.as_str()),
        Event::Progress(index, progress) => overview.progress(index, &progress),
        Event::Ended(job, ending) => {
            overview.end(job.planned.index, &ended(job, &ending), matches!(ending, Ending::Done));
        }
        Event::OthersHoldTheRest => overview.say("other processes hold all runs that are left: waiting for them"),
        Event::Stopping => overview.say("stopping at checkpoints; press Ctrl-C again to stop at once"),
        Event::Nothing => overview.tick(),
    });
    overview.finish();
    Ok(finish(session, &outcome, asked.times() > 0))
}

/// One line about a run that has ended.
fn ended(job: &Job, ending: &Ending) -> String {
    let result = match (ending, RunDirectory::read_record(&job.directory).ok().flatten()) {
        (Ending::Done, Some(record)) => {
            format!(
                "accuracy {} %, forgetting {} %, {}",
                percent(record.accuracy),
                percent(record.forgetting),
                clock(Duration::try_from_secs_f64(record.seconds.total).unwrap_or_default())
            ) + &record.warnings.iter().map(|warning| format!("; warning: {warning}")).collect::<String>()
        }
        (Ending::Done, None) => "done".into(),
        (Ending::Stopped, _) => "stopped at a checkpoint".into(),
        (Ending::Failed(why), _) => format!("failed: {why}"),
    };
    format!("{}: {result}", job.planned.name)
}

/// Prints the state of the grid, which is done if every chosen run is.
fn finish(Session { plan, chosen, .. }: &Session, outcome: &Outcome, asked: bool) -> ExitCode {
    if outcome.killed {
        return exit_code::STOPPED.into();
    }
    let states: Vec<State> = chosen.iter().map(|&index| State::read(&plan.jobs[index])).collect();
    say_counts(plan, &states);
    for (index, why) in &outcome.failed {
        let job = &plan.jobs[*index];
        message(&format!("failed: {}: {why} (whole log: {})", job.planned.name, job.log.display()));
    }
    if states.iter().all(|state| *state == State::Done) {
        message(&format!("make a report: rehearsal report {}", quoted(plan.directory.path())));
        return ExitCode::SUCCESS;
    }
    if outcome.failed.is_empty() {
        message("continue with the same command");
    }
    let stopped = asked && outcome.failed.is_empty();
    if stopped { exit_code::STOPPED } else { exit_code::FAILED }.into()
}
