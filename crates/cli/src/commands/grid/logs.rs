//! `rehearsal grid logs`: the output of a run.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_files::regular;
use rehearsal_grid::slurm::GridQueue;

use super::experiments;
use crate::{
    args::grid::Known,
    printer::{message, print, safe},
};

/// The largest log that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Prints the output of the Slurm tasks that had a run, and why it failed.
pub fn logs(grid: &Known, name: &str) -> Result<ExitCode> {
    let plan = experiments::read(grid)?;
    let job = plan.find(name)?;
    let outputs = GridQueue::outputs(&plan.directory, &job.planned.name);
    let mut found = false;
    for path in outputs.into_iter().chain([job.log.clone()]) {
        let Ok(bytes) = regular::read(&path, LARGEST) else { continue };
        let said = String::from_utf8_lossy(&bytes);
        if !said.trim().is_empty() {
            found = true;
            print(&format!("==> {} <==\n{}\n", printable(&path.display().to_string()), safe(said.trim_end())))?;
        }
    }
    if !found {
        message(&format!("{name} has no log"));
    }
    Ok(ExitCode::SUCCESS)
}
