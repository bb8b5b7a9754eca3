//! `rehearsal grid`: many runs, in processes of their own, resumable at any moment.

mod cancel;
mod estimate;
mod log;
mod logs;
mod plan;
mod pool;
mod queue;
mod state;
mod status;
mod submit;
mod wait;
mod worker;

use std::{
    collections::VecDeque,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use rehearsal_data::printable;
use rehearsal_files::threads::cores;
use rehearsal_runs::{DirectoryError, GridLock, RunDirectory};

use crate::{
    args::grid::{Grid, Known, Part},
    interrupt::Asked,
    printer::{Overview, clock, message, percent, print},
};
use estimate::Estimate;
use plan::{Job, Plan};
use pool::{Ending, Event, Pool};
use state::State;

/// Runs a grid, or says how far it is.
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

fn refuse(error: &anyhow::Error) -> ExitCode {
    message(&format!("error: {error:#}"));
    ExitCode::from(2)
}

/// How many there are of each state, in words.
fn counted(states: &[State]) -> String {
    let of = |wanted: &str| states.iter().filter(|state| state.name() == wanted).count();
    let names = ["done", "running", "queued", "requeued", "failed", "stopped", "left", "foreign"];
    let parts = names.map(|name| (of(name), name));
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    format!("{} run{}: {}", states.len(), if states.len() == 1 { "" } else { "s" }, parts.join(", "))
}

/// What a session is about: the runs that were chosen, and those of them that are not done.
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
    let session = match prepare(args, file) {
        Ok(session) => session,
        Err(error) => return Ok(refuse(&error)),
    };
    let Session { plan, states, chosen, waiting, .. } = &session;
    let of: Vec<State> = chosen.iter().map(|&index| states[index].clone()).collect();
    message(&format!("{} in {}", counted(&of), plan.directory.path().display()));
    if !args.dry_run {
        let done = chosen.iter().filter(|&&index| states[index] == State::Done);
        done.for_each(|&index| log::remove(&plan.jobs[index].log));
    }
    if waiting.is_empty() {
        message(&format!("nothing is left to do; make a report: rehearsal report {}", plan.directory.path().display()));
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        print(&waiting.iter().map(|&index| would(&plan.jobs[index], &states[index])).collect::<String>())?;
    }
    match estimate(&session) {
        Ok(line) => message(&line),
        Err(error) if args.continue_on_error => message(&format!("no estimate: {error:#}")),
        Err(error) => return Ok(refuse(&error)),
    }
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    match begin(plan, Duration::ZERO) {
        Ok(_lock) => work(&session, args.continue_on_error),
        Err(error) => Ok(refuse(&error)),
    }
}

fn prepare(args: &Grid, file: &Known) -> Result<Session> {
    let plan = Plan::read(file)?;
    let chosen = plan.chosen(args.only.as_ref())?;
    let states = plan.states();
    for &index in &chosen {
        if let State::Foreign(why) = &states[index] {
            return Err(anyhow!("{why}"));
        }
    }
    let waiting: Vec<usize> = chosen.iter().copied().filter(|&index| states[index] != State::Done).collect();
    let jobs = args.jobs.map_or_else(|| cores().min(8), usize::from).min(waiting.len()).max(1);
    let threads = (args.threads.map_or_else(cores, usize::from) / jobs).max(1);
    Ok(Session { plan, states, chosen, waiting, jobs, threads })
}

/// What would become of a run.
fn would(job: &Job, state: &State) -> String {
    let what = match state {
        State::Left => "would run",
        State::Running(_) => "is running:",
        _ => "would go on:",
    };
    format!("{:>4} {what} {}{}\n", job.planned.index, job.planned.name, printable(&state.more()))
}

/// Opens all data, so that what is missing is told at once, and measures a few steps.
fn estimate(Session { plan, states, waiting, jobs, threads, .. }: &Session) -> Result<String> {
    plan.check_data(waiting)?;
    message("measuring a few steps …");
    Ok(Estimate::measure(plan, states, waiting, *threads)?.line(*jobs, *threads))
}

/// Makes the grid's directory, writes the manifest, and keeps other grids out while the lock lives.
/// One who has it is waited for, but no longer than this.
fn begin(plan: &Plan, patience: Duration) -> Result<GridLock> {
    let start = Instant::now();
    let mut waited = false;
    loop {
        match plan.directory.hold() {
            Ok(lock) => {
                plan.directory.write_manifest(&rehearsal_grid::manifest(&plan.planned()))?;
                return Ok(lock);
            }
            Err(DirectoryError::Busy(_)) if start.elapsed() < patience => {
                if !std::mem::replace(&mut waited, true) {
                    message("another process has the grid: waiting for it");
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            Err(DirectoryError::Busy(path)) => return Err(anyhow!("another grid is running in {}", path.display())),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Does what is waiting, some at a time. A run that another process holds is left for later.
fn work(session: &Session, go_on: bool) -> Result<ExitCode> {
    let Session { plan, chosen, waiting, jobs, threads, .. } = session;
    let mut overview = Overview::new(chosen.len() - waiting.len(), chosen.len());
    let asked = Asked::listen(|_| {})?;
    let mut pool = Pool::new(plan.directory.manifest(), *threads)?;
    let mut queue: VecDeque<usize> = waiting.iter().copied().collect();
    let (mut failed, mut stopping): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    let mut waited = false;
    loop {
        while !stopping && pool.running() < *jobs {
            let Some(index) = next(plan, &mut queue) else { break };
            match pool.start(index, &plan.jobs[index]) {
                Ok(()) => overview.start(index, plan.jobs[index].planned.name.as_str()),
                Err(error) => fail(index, format!("{error:#}"), go_on, &mut failed, &mut stopping),
            }
        }
        if pool.running() == 0 {
            if stopping || queue.is_empty() {
                break;
            }
            if !std::mem::replace(&mut waited, true) {
                overview.say("all that is left is held by other processes: waiting for them");
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        match pool.next_event() {
            None => overview.tick(),
            Some(Event::Progress { index, told }) => overview.progress(index, &told),
            Some(Event::Ended { index, status, said }) => {
                let ending = Ending::new(status, &said, &plan.jobs[index].log, stopping || asked.times() > 0);
                overview.end(index, &ended(&plan.jobs[index], &ending), matches!(ending, Ending::Done));
                if let Ending::Failed(why) = ending {
                    fail(index, why, go_on, &mut failed, &mut stopping);
                }
            }
        }
        if asked.times() > 0 && !stopping {
            overview.say("stopping at checkpoints; press Ctrl-C again to stop at once");
            stopping = true;
        }
        if stopping {
            pool.ask_to_stop();
        }
        if asked.times() > 1 {
            pool.kill();
            overview.finish();
            return Ok(ExitCode::from(130));
        }
    }
    overview.finish();
    Ok(finish(session, &failed, asked.times() > 0))
}

fn fail(index: usize, why: String, go_on: bool, failed: &mut Vec<(usize, String)>, stopping: &mut bool) {
    failed.push((index, why));
    *stopping |= !go_on;
}

/// The next run that no other process holds. If another has finished it in the meantime, its worker
/// has nothing to do.
fn next(plan: &Plan, queue: &mut VecDeque<usize>) -> Option<usize> {
    for _ in 0..queue.len() {
        let index = queue.pop_front()?;
        if RunDirectory::is_busy(&plan.jobs[index].directory) {
            queue.push_back(index);
        } else {
            return Some(index);
        }
    }
    None
}

/// One line about a run that has ended.
fn ended(job: &Job, ending: &Ending) -> String {
    let settings = match (ending, RunDirectory::read_record(&job.directory).ok().flatten()) {
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
    format!("{}: {settings}", job.planned.name)
}

/// Says how far the grid is. It is done only if every chosen run is.
fn finish(Session { plan, chosen, .. }: &Session, failed: &[(usize, String)], asked: bool) -> ExitCode {
    let states: Vec<State> = chosen.iter().map(|&index| State::read(&plan.jobs[index])).collect();
    message(&format!("{} in {}", counted(&states), plan.directory.path().display()));
    for (index, why) in failed {
        let job = &plan.jobs[*index];
        message(&format!("failed: {}: {why} (all of it: {})", job.planned.name, job.log.display()));
    }
    if states.iter().all(|state| *state == State::Done) {
        message(&format!("make a report: rehearsal report {}", plan.directory.path().display()));
        return ExitCode::SUCCESS;
    }
    if failed.is_empty() {
        message("go on with the same command");
    }
    ExitCode::from(if asked && failed.is_empty() { 130 } else { 1 })
}
