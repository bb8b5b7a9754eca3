//! `rehearsal grid cancel`: takes back what was submitted to Slurm.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use rehearsal_grid::slurm::{Scheduler, SlurmError};

use super::{plan::Plan, queue::GridQueue, refuse};
use crate::{
    args::grid::Known,
    printer::{message, plural},
};

/// Cancels every job of a grid; what is wrong with that is a refusal.
pub fn cancel(grid: &Known) -> Result<ExitCode> {
    try_to_cancel(grid).or_else(|error| Ok(refuse(&error)))
}

fn try_to_cancel(grid: &Known) -> Result<ExitCode> {
    let plan = Plan::read(grid)?;
    let queue = GridQueue::ask(&plan.directory);
    match queue.error() {
        None | Some(SlurmError::Missing(_)) => {}
        Some(error) => return Err(anyhow!("what is queued is not known: {error}")),
    }
    let jobs = queue.jobs();
    if jobs.is_empty() {
        message(&format!("nothing of {} is queued or running in Slurm", plan.directory.path().display()));
        return Ok(ExitCode::SUCCESS);
    }
    Scheduler.cancel(jobs.keys().copied())?;
    for (job, tasks) in jobs {
        message(&format!("cancelled job {job} with {}", plural(tasks, "task")));
    }
    message("runs that are under way stop at a checkpoint");
    Ok(ExitCode::SUCCESS)
}
