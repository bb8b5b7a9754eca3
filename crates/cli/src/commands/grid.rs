//! `rehearsal grid`: many runs, in processes of their own, resumable at any moment.

mod estimate;
mod log;
mod plan;
mod pool;
mod state;
mod worker;

use std::{collections::VecDeque, path::Path, process::ExitCode, time::Duration};

use anyhow::{Result, anyhow};
use rehearsal_data::printable;
use rehearsal_runs::{DirectoryError, GridLock, RunDirectory};

use crate::{
    args::grid::{Grid, Part, Place},
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
        (Some(Part::Status { file, place, json }), _) => status(file, place, *json),
        (Some(Part::RunOne { file, index, place, threads, worker }), _) => {
            let one = if *worker { worker::work } else { worker::run_one };
            one(file, *index, place, threads.map(usize::from))
        }
        (None, file) => run(args, file.as_deref().unwrap_or(Path::new(""))),
    }
}

fn refuse(error: &anyhow::Error) -> ExitCode {
    message(&format!("error: {error:#}"));
    ExitCode::from(2)
}

/// How many there are of each state, in words.
fn counted(states: &[State]) -> String {
    let of = |wanted: &str| states.iter().filter(|state| state.name() == wanted).count();
    let parts = ["done", "running", "failed", "stopped", "left", "foreign"].map(|name| (of(name), name));
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    format!("{} run{}: {}", states.len(), if states.len() == 1 { "" } else { "s" }, parts.join(", "))
}

fn status(file: &Path, place: &Place, json: bool) -> Result<ExitCode> {
    let plan = match Plan::read(file, place) {
        Ok(plan) => plan,
        Err(error) => return Ok(refuse(&error)),
    };
    let states = plan.states();
    let mut text = String::new();
    for (job, state) in plan.jobs.iter().zip(&states) {
        let (name, index) = (&job.planned.name, job.planned.index);
        if json {
            let line =
                serde_json::json!({ "index": index, "name": name, "state": state.name(), "directory": job.directory });
            text += &format!("{line}\n");
        } else {
            text += &format!("{index:>4} {:<8} {name}{}\n", state.name(), printable(&state.more()));
        }
    }
    if !json {
        text += &format!("{} in {}\n", counted(&states), plan.directory.path().display());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
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

fn run(args: &Grid, file: &Path) -> Result<ExitCode> {
    let session = match prepare(args, file) {
        Ok(session) => session,
        Err(error) => return Ok(refuse(&error)),
    };
    let Session { plan, states, chosen, waiting, .. } = &session;
    let of: Vec<State> = chosen.iter().map(|&index| states[index].clone()).collect();
    message(&format!("{} in {}", counted(&of), plan.directory.path().display()));
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
    match begin(plan) {
        Ok(_lock) => work(&session, args.continue_on_error),
        Err(error) => Ok(refuse(&error)),
    }
}

fn prepare(args: &Grid, file: &Path) -> Result<Session> {
    let plan = Plan::read(file, &args.place)?;
    let chosen: Vec<usize> = match &args.only {
        None => (0..plan.jobs.len()).collect(),
        Some(only) => only.of(&plan.planned())?.iter().map(|planned| planned.index).collect(),
    };
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What would become of a run.
fn would(job: &Job, state: &State) -> String {
    let what = match state {
        State::Left => "would run",
        State::Running => "is running:",
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
fn begin(plan: &Plan) -> Result<GridLock> {
    let lock = plan.directory.hold().map_err(|error| match error {
        DirectoryError::Busy(path) => anyhow!("another grid is running in {}", path.display()),
        error => error.into(),
    })?;
    plan.directory.write_manifest(&rehearsal_grid::manifest(&plan.planned()))?;
    Ok(lock)
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
