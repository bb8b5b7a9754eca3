//! `rehearsal grid logs`: what a run said.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow};
use rehearsal_data::printable;
use rehearsal_files::regular;
use rehearsal_grid::slurm::{Submission, submissions};
use rehearsal_runs::RunName;

use super::{
    plan::{Job, Plan},
    refuse,
};
use crate::{
    args::grid::Known,
    printer::{message, print, safe},
};

/// The most of a log that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Prints why a run failed, and what the tasks of Slurm said that had it.
pub fn logs(grid: &Known, name: &str) -> Result<ExitCode> {
    let plan = match Plan::read(grid) {
        Ok(plan) => plan,
        Err(error) => return Ok(refuse(&error)),
    };
    let job = match find(&plan, name) {
        Ok(job) => job,
        Err(error) => return Ok(refuse(&error)),
    };
    let tasks = submissions(&plan.directory.slurm());
    let outputs = tasks.iter().filter_map(|submission| output(submission, &plan.directory.logs(), &job.planned.name));
    let mut found = false;
    for path in outputs.chain([job.log.clone()]) {
        let Ok(bytes) = regular::read(&path, LARGEST) else { continue };
        let said = String::from_utf8_lossy(&bytes);
        if !said.trim().is_empty() {
            found = true;
            print(&format!("==> {} <==\n{}\n", printable(&path.display().to_string()), safe(said.trim_end())))?;
        }
    }
    if !found {
        message(&format!("{name} has said nothing"));
    }
    Ok(ExitCode::SUCCESS)
}

/// By name, or by number.
fn find<'a>(plan: &'a Plan, name: &str) -> Result<&'a Job> {
    let named = |job: &&Job| job.planned.name.as_str() == name || name.parse().ok() == Some(job.planned.index);
    plan.jobs.iter().find(named).ok_or_else(|| {
        anyhow!("no run of the grid is called {name}: `rehearsal grid status` lists their names and numbers")
    })
}

/// Where the task of a submission that had a run wrote.
fn output(submission: &Submission, logs: &Path, name: &RunName) -> Option<PathBuf> {
    let task = submission.tasks().iter().position(|runs| runs.contains(name))?;
    Some(logs.join(format!("slurm-{}_{task}.out", submission.job()?)))
}
