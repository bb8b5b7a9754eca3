//! `rehearsal grid cancel`: cancels what was submitted to Slurm.

use std::process::ExitCode;

use anyhow::{Result, bail};
use rehearsal_grid::{
    PlanError,
    slurm::{GridQueue, Scheduler},
};

use super::experiments;
use crate::{
    args::grid::Known,
    printer::{message, plural},
    user_error::UserError,
};

/// Cancels every job of a grid.
pub fn cancel(grid: &Known) -> Result<ExitCode> {
    let plan = experiments::read(grid)?;
    let queue = GridQueue::ask(&plan.directory);
    if let Some(error) = queue.error_of_slurm() {
        bail!(UserError(format!("the queue is unknown: {error}")));
    }
    let jobs = queue.jobs();
    if jobs.is_empty() {
        message(&format!("nothing of {} is queued or running in Slurm", plan.directory.path().display()));
        return Ok(ExitCode::SUCCESS);
    }
    Scheduler.cancel(jobs.keys().copied()).map_err(PlanError::from)?;
    for (job, tasks) in jobs {
        message(&format!("cancelled job {job} with {}", plural(tasks, "task")));
    }
    message("running runs stop at a checkpoint");
    Ok(ExitCode::SUCCESS)
}
