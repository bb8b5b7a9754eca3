//! `rehearsal grid wait`: waits until nothing of a grid is running or queued.

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use rehearsal_grid::{Plan, State, slurm::GridQueue};

use super::experiments;
use rehearsal_files::path_text::quoted;

use crate::{args::grid::Known, exit_code, printer::message};

/// Checks the grid at intervals, and prints changes.
pub fn wait(grid: &Known, every: Duration) -> Result<ExitCode> {
    let plan = experiments::read(grid)?;
    let mut last = String::new();
    loop {
        let queue = GridQueue::ask(&plan.directory);
        let states = queue.states(&plan);
        let line = match queue.error_of_slurm() {
            // It may answer the next time.
            Some(error) => format!("the queue is unknown: {error}"),
            None => format!("{} in {}", State::count(&states), plan.directory.path().display()),
        };
        if line != last {
            message(&line);
            last = line;
        }
        if queue.error_of_slurm().is_none() && !states.iter().any(State::is_taken) {
            return Ok(end(&plan, &states));
        }
        std::thread::sleep(every);
    }
}

/// Whether all runs are done, and what to do if not.
fn end(plan: &Plan, states: &[State]) -> ExitCode {
    for (job, state) in plan.jobs.iter().zip(states) {
        if let State::Failed(why) | State::Foreign(why) = state {
            message(&format!("{}: {}: {why}", state.name(), job.planned.name));
        }
    }
    if states.iter().all(|state| *state == State::Done) {
        message(&format!("make a report: rehearsal report {}", quoted(plan.directory.path())));
        ExitCode::SUCCESS
    } else {
        message("nothing is running or queued: continue with `rehearsal grid submit` or `rehearsal grid`");
        exit_code::FAILED.into()
    }
}
