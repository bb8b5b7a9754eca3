//! `rehearsal grid status`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;

use super::{counted, plan::Plan, queue::GridQueue, refuse};
use crate::{args::grid::Known, printer::print};

/// Says how far each run is.
pub fn status(grid: &Known, json: bool) -> Result<ExitCode> {
    let plan = match Plan::read(grid) {
        Ok(plan) => plan,
        Err(error) => return Ok(refuse(&error)),
    };
    let queue = GridQueue::ask(&plan.directory);
    queue.say_what_is_not_known();
    let states = queue.states(&plan);
    let mut text = String::new();
    for (job, state) in plan.jobs.iter().zip(&states) {
        let (name, index) = (&job.planned.name, job.planned.index);
        if json {
            let task = queue.task(name);
            let line = serde_json::json!({
                "index": index,
                "name": name,
                "state": state.name(),
                "directory": job.directory,
                "job": task.map(rehearsal_grid::slurm::QueuedTask::id),
                "node": task.and_then(|task| task.node.as_ref()),
            });
            text += &format!("{line}\n");
        } else {
            text += &format!("{index:>4} {:<8} {name}{}\n", state.name(), printable(&state.more()));
        }
    }
    if !json {
        text += &format!("{} in {}\n", counted(&states), printable(&plan.directory.path().display().to_string()));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
