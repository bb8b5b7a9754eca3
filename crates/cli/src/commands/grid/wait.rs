//! `rehearsal grid wait`: until nothing of a grid is running or queued.

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use rehearsal_grid::slurm::SlurmError;

use super::{counted, plan::Plan, queue::GridQueue, refuse, state::State};
use crate::{args::grid::Known, printer::message};

/// Looks at the grid again and again, and says what is new.
pub fn wait(grid: &Known, every: Duration) -> Result<ExitCode> {
    let plan = match Plan::read(grid) {
        Ok(plan) => plan,
        Err(error) => return Ok(refuse(&error)),
    };
    let place = plan.directory.path().display();
    let mut last = String::new();
    let mut say = |line: String| {
        if line != last {
            message(&line);
            last = line;
        }
    };
    loop {
        let queue = GridQueue::ask(&plan.directory);
        let states = queue.states(&plan);
        match queue.error() {
            // It may answer the next time.
            Some(error) if !matches!(error, SlurmError::Missing(_)) => {
                say(format!("what is queued is not known: {error}"));
            }
            _ => {
                say(format!("{} in {place}", counted(&states)));
                if !states.iter().any(State::is_taken) {
                    return Ok(end(&plan, &states));
                }
            }
        }
        std::thread::sleep(every);
    }
}

/// Whether all is done, and what to do if not.
fn end(plan: &Plan, states: &[State]) -> ExitCode {
    for (job, state) in plan.jobs.iter().zip(states) {
        if let State::Failed(why) | State::Foreign(why) = state {
            message(&format!("{}: {}: {why}", state.name(), job.planned.name));
        }
    }
    if states.iter().all(|state| *state == State::Done) {
        message(&format!("make a report: rehearsal report {}", plan.directory.path().display()));
        ExitCode::SUCCESS
    } else {
        message(
            "nothing is running or queued: `rehearsal grid submit`, or `rehearsal grid`, goes on with what is left",
        );
        ExitCode::FAILURE
    }
}
