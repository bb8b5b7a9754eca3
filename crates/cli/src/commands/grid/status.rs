//! `rehearsal grid status`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_grid::{
    State,
    slurm::{GridQueue, QueuedTask},
};

use super::experiments;
use crate::{
    args::grid::Known,
    output::with_path,
    printer::{message, print},
};

/// Prints the state of every run.
pub fn status(grid: &Known, json: bool) -> Result<ExitCode> {
    let plan = experiments::read(grid)?;
    let queue = GridQueue::ask(&plan.directory);
    if let Some(error) = queue.error_of_slurm() {
        message(&format!("the queue is unknown: {error}"));
    }
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
                "job": task.map(QueuedTask::id),
                "node": task.and_then(|task| task.node.as_ref()),
            });
            text += &format!("{}\n", with_path(line, "directory", &job.directory));
        } else {
            text += &format!("{index:>4} {:<8} {name}{}\n", state.name(), printable(&state.details()));
        }
    }
    if !json {
        text += &format!("{} in {}\n", State::count(&states), printable(&plan.directory.path().display().to_string()));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
