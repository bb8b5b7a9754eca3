//! `rehearsal grid`: many runs, in processes of their own, resumable at any moment.

mod estimate;
mod plan;
mod pool;
mod state;
mod worker;

use std::{fs, path::Path, process::ExitCode};

use anyhow::{Context, Result, anyhow};
use rehearsal::{record::Record, run_directory::write_whole};

use crate::{
    args::grid::{Grid, Part, Place},
    interrupt::Asked,
    printer::{Overview, clock, percent, print, talk},
};
use estimate::Estimate;
use plan::{Job, Plan};
pub use pool::Told;
use pool::{Ending, Event, Pool};
use state::State;

/// Runs a grid, or says how far it is.
pub fn grid(args: &Grid) -> Result<ExitCode> {
    let done = match (&args.what, &args.file) {
        (Some(Part::Status { file, place, json }), _) => status(file, place, *json),
        (Some(Part::RunOne { file, index, place, threads, worker }), _) => {
            return worker::run_one(file, *index, place, threads.map(usize::from), *worker);
        }
        (None, Some(file)) => return run(args, file),
        (None, None) => Err(anyhow!("name a grid file")),
    };
    done.or_else(refuse)
}

#[allow(clippy::needless_pass_by_value, reason = "so that it can be named in `or_else`")]
fn refuse(error: anyhow::Error) -> Result<ExitCode> {
    talk(&format!("error: {error:#}"));
    Ok(ExitCode::from(2))
}

/// How many there are of each state, in words.
fn counted(states: &[State]) -> String {
    let of = |wanted: &str| states.iter().filter(|state| state.name() == wanted).count();
    let parts = ["done", "running", "failed", "stopped", "left"].map(|name| (of(name), name));
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    format!("{} runs: {}", states.len(), parts.join(", "))
}

fn status(file: &Path, place: &Place, json: bool) -> Result<ExitCode> {
    let plan = Plan::read(file, place)?;
    let states = plan.states()?;
    let mut text = String::new();
    for (job, state) in plan.jobs.iter().zip(&states) {
        if json {
            let (name, index) = (&job.planned.name, job.planned.index);
            let line =
                serde_json::json!({ "index": index, "name": name, "state": state.name(), "directory": job.directory });
            text += &format!("{line}\n");
        } else {
            text += &format!("{:>4} {:<8} {}{}\n", job.planned.index, state.name(), job.planned.name, state.more());
        }
    }
    if !json {
        text += &format!("{} in {}\n", counted(&states), plan.out.display());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn run(args: &Grid, file: &Path) -> Result<ExitCode> {
    let prepared = Plan::read(file, &args.place).and_then(|plan| {
        let chosen: Vec<usize> = match &args.only {
            None => (0..plan.jobs.len()).collect(),
            Some(only) => only.of(&plan.planned())?.iter().map(|planned| planned.index).collect(),
        };
        let states = plan.states()?;
        let waiting: Vec<usize> = chosen.iter().copied().filter(|&index| states[index] != State::Done).collect();
        Ok((plan, states, chosen, waiting))
    });
    let (plan, states, chosen, waiting) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return refuse(error),
    };
    let threads = args.threads.map_or_else(cores, usize::from);
    let jobs = args.jobs.map_or_else(|| cores().min(8), usize::from).min(waiting.len()).max(1);
    let each = (threads / jobs).max(1);
    let of: Vec<State> = chosen.iter().map(|&index| states[index].clone()).collect();
    talk(&format!("{} in {}", counted(&of), plan.out.display()));
    if args.dry_run {
        return dry_run(&plan, &states, &waiting, (jobs, each));
    }
    if waiting.is_empty() {
        talk(&format!("nothing is left to do; make a report: rehearsal report {}", plan.out.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if let Err(error) = plan.check_data(&waiting) {
        return refuse(error);
    }
    let _lock = match begin(&plan) {
        Ok(lock) => lock,
        Err(error) => return refuse(error),
    };
    talk(&Estimate::of(&plan, &states, &waiting, each).line(jobs, each));
    work(&plan, (chosen.len() - waiting.len(), waiting), (jobs, each), args.continue_on_error)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn dry_run(plan: &Plan, states: &[State], waiting: &[usize], (jobs, each): (usize, usize)) -> Result<ExitCode> {
    let line = |&index: &usize| {
        let (job, state) = (&plan.jobs[index], &states[index]);
        let what = if *state == State::Left { "would run" } else { "would go on" };
        format!("{:>4} {what} {}{}\n", job.planned.index, job.planned.name, state.more())
    };
    print(&waiting.iter().map(line).collect::<String>())?;
    if let Err(error) = plan.check_data(waiting) {
        talk(&format!("no estimate: {error:#}"));
    } else if !waiting.is_empty() {
        talk(&Estimate::of(plan, states, waiting, each).line(jobs, each));
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the grid's directory, writes the manifest, and keeps other grids out while the lock lives.
fn begin(plan: &Plan) -> Result<fs::File> {
    let unwritable = || format!("{} cannot be written", plan.out.display());
    fs::create_dir_all(plan.logs()).with_context(unwritable)?;
    let lock = fs::File::create(plan.out.join(".lock")).with_context(unwritable)?;
    if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
        return Err(anyhow!("another grid is running in {}", plan.out.display()));
    }
    write_whole(&plan.manifest(), grid::manifest(&plan.planned()).as_bytes())?;
    Ok(lock)
}

/// Does what is waiting, `jobs` at a time. `before` are done already.
fn work(
    plan: &Plan,
    (before, waiting): (usize, Vec<usize>),
    (jobs, each): (usize, usize),
    go_on: bool,
) -> Result<ExitCode> {
    let mut overview = Overview::new(before, before + waiting.len());
    let asked = Asked::listen(|times| {
        if times == 1 {
            talk("\nstopping at checkpoints; press Ctrl-C again to stop at once");
        }
    })?;
    let mut pool = Pool::new(plan.manifest(), each)?;
    let mut left = waiting.into_iter();
    let (mut failed, mut stopping): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    loop {
        while !stopping && pool.running() < jobs {
            let Some(index) = left.next() else { break };
            pool.start(index, &plan.jobs[index])?;
            overview.start(index, &plan.jobs[index].planned.name);
        }
        if pool.running() == 0 {
            break;
        }
        match pool.next_event() {
            None => overview.tick(),
            Some(Event::Progress { index, told }) => overview.progress(index, &told),
            Some(Event::Ended { index, ending }) => {
                overview.end(index, &ended(&plan.jobs[index], &ending), matches!(ending, Ending::Done));
                if let Ending::Failed(why) = ending {
                    failed.push((index, why));
                    stopping |= !go_on;
                }
            }
        }
        stopping |= asked.times() > 0;
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
    finish(plan, &failed, asked.times() > 0)
}

/// One line about a run that has ended.
fn ended(job: &Job, ending: &Ending) -> String {
    let result = || Record::parse(&fs::read_to_string(job.directory.join("result.json")).ok()?).ok();
    let said = match (ending, result()) {
        (Ending::Done, Some(record)) => format!(
            "accuracy {} %, forgetting {} %, {}",
            percent(record.accuracy),
            percent(record.forgetting),
            clock(std::time::Duration::try_from_secs_f64(record.seconds.total).unwrap_or_default())
        ),
        (Ending::Done, None) => "done".into(),
        (Ending::Stopped, _) => "stopped at a checkpoint".into(),
        (Ending::Failed(why), _) => format!("failed: {why}"),
    };
    format!("{}: {said}", job.planned.name)
}

fn finish(plan: &Plan, failed: &[(usize, String)], asked: bool) -> Result<ExitCode> {
    talk(&format!("{} in {}", counted(&plan.states()?), plan.out.display()));
    for (index, why) in failed {
        let job = &plan.jobs[*index];
        talk(&format!("failed: {}: {why} (all of it: {})", job.planned.name, job.log.display()));
    }
    if !failed.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if asked {
        talk("go on with the same command");
        return Ok(ExitCode::from(130));
    }
    talk(&format!("make a report: rehearsal report {}", plan.out.display()));
    Ok(ExitCode::SUCCESS)
}
