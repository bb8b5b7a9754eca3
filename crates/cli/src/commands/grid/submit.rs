//! `rehearsal grid submit`: submits what is left of a grid as one array of Slurm.
//!
//! The grid is held from the look at the queue until Slurm has the job and its number is written down: of two processes
//! that submit at once, the second one finds what the first one has submitted.

use std::{path::absolute, process::ExitCode, time::Duration};

use anyhow::{Result, bail};
use rehearsal_grid::{
    Estimate, Plan, PlanError, State,
    slurm::{GridQueue, Resources, Scheduler, Submission, tasks_by_time, tasks_of},
};
use rehearsal_runs::GridDirectory;

use super::{estimate_line, experiments, program, say_counts};
use crate::{
    args::grid::Submit,
    printer::{message, plural, print},
    user_error::UserError,
};

/// How long to wait for another process that submits the same grid.
const PATIENCE: Duration = Duration::from_mins(2);

/// Submits what is left.
pub fn submit(args: &Submit) -> Result<ExitCode> {
    let resources = resources(args);
    resources.check().map_err(PlanError::from)?;
    if !args.script_only {
        Scheduler.check().map_err(PlanError::from)?;
    }
    let mut plan = experiments::read(&args.grid)?;
    plan.directory = GridDirectory::new(absolute(plan.directory.path())?);
    let chosen = plan.chosen(args.only.as_ref())?;
    let _lock = plan.hold(PATIENCE, || message("another process has the grid: waiting for it"))?;
    let queue = GridQueue::ask(&plan.directory);
    // A script can be written where there is no Slurm.
    let error = if args.script_only { queue.error_of_slurm() } else { queue.error() };
    if let Some(error) = error {
        bail!(UserError(format!("{error}: the queue is unknown")));
    }
    let states = queue.states(&plan);
    say_counts(&plan, chosen.iter().map(|&run| &states[run]));
    let waiting = waiting(&chosen, &states)?;
    if waiting.is_empty() {
        message("there is nothing to submit");
        return Ok(ExitCode::SUCCESS);
    }
    experiments::check_data(&plan, &waiting)?;
    let tasks = tasks(args, &plan, &states, &waiting)?;
    let submission = Submission::prepare(&plan, &tasks, &resources, &program()?)?;
    if args.script_only {
        print(&format!("{}\n", submission.script().display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let job = submission.submit()?;
    message(&format!("{} in {} of job {job}", plural(waiting.len(), "run"), plural(tasks.len(), "task")));
    print(&format!("{job}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn resources(args: &Submit) -> Resources {
    Resources {
        partition: args.partition.clone(),
        time: args.time.clone(),
        gpus: args.gpus,
        cpus: args.cpus,
        memory: args.memory.clone(),
        max_running: args.max_running,
        warning: args.warning,
        extra: args.extra.clone(),
    }
}

/// The chosen runs that are not done, running or queued.
fn waiting(chosen: &[usize], states: &[State]) -> Result<Vec<usize>> {
    let taken = chosen.iter().filter(|&&run| states[run].is_taken()).count();
    if taken > 0 {
        message(&format!("left out, because running or queued already: {}", plural(taken, "run")));
    }
    let mut waiting = Vec::new();
    for &run in chosen {
        match &states[run] {
            State::Foreign(why) => return Err(PlanError::Foreign(why.clone()).into()),
            State::Left | State::Stopped(_) | State::Failed(_) => waiting.push(run),
            State::Done | State::Running(_) | State::Queued(_) | State::Requeued(_) => {}
        }
    }
    Ok(waiting)
}

/// The runs of each task, by their indices.
fn tasks(args: &Submit, plan: &Plan, states: &[State], waiting: &[usize]) -> Result<Vec<Vec<usize>>> {
    if let Some(each) = args.chunk {
        return Ok(tasks_of(waiting, each as usize));
    }
    message("measuring a few steps …");
    let threads = args.cpus.map_or(1, usize::from);
    let estimate = Estimate::measure(plan, states, waiting, |job| experiments::measure(job, threads))?;
    let tasks = tasks_by_time(waiting, &estimate.seconds, args.time.as_ref());
    let at_a_time = tasks.len().min(args.max_running.map_or(usize::MAX, |most| most as usize));
    message(&format!("on processors like these, {}", estimate_line(&estimate, at_a_time, threads)));
    Ok(tasks)
}
