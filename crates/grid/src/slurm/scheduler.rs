//! The commands of Slurm that are called: `sbatch`, `squeue`, `scancel`.

use std::{
    io,
    path::Path,
    process::{Command, Output},
};

use thiserror::Error;

use super::{
    Queue,
    queue::{FORMAT, is_active},
};

/// What can go wrong with Slurm.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// It is not installed.
    #[error("Slurm is not installed here: `{0}` is not on the path")]
    Missing(&'static str),
    /// A command cannot be started.
    #[error("`{program}` cannot be started: {error}")]
    Unstartable {
        /// Which.
        program: &'static str,
        /// Why.
        error: io::Error,
    },
    /// A command failed.
    #[error("{program}: {said}")]
    Failed {
        /// Which.
        program: &'static str,
        /// In Slurm's words.
        said: String,
    },
}

/// Slurm, as its commands on the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scheduler;

impl Scheduler {
    /// Checks that it is installed.
    ///
    /// # Errors
    /// It is not.
    pub fn check(self) -> Result<(), SlurmError> {
        call("sbatch", Command::new("sbatch").arg("--version")).map(drop)
    }

    /// Submits a script: the number of its job.
    ///
    /// # Errors
    /// Slurm is not installed, or refuses it.
    pub fn submit(self, script: &Path) -> Result<String, SlurmError> {
        let said = call("sbatch", Command::new("sbatch").arg("--parsable").arg(script))?;
        // The number, and behind a semicolon the cluster's name where there are several.
        let job = said.trim().lines().last().and_then(|line| line.split(';').next()).unwrap_or("");
        if !job.is_empty() && job.chars().all(|c| c.is_ascii_digit()) {
            Ok(job.into())
        } else {
            Err(SlurmError::Failed {
                program: "sbatch",
                said: format!("it says `{}`, which is not the number of a job", said.trim()),
            })
        }
    }

    /// The jobs of a name that are not over, each task by itself.
    ///
    /// # Errors
    /// Slurm is not installed, or does not answer.
    pub fn queue(self, name: &str) -> Result<Queue, SlurmError> {
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--name", name, FORMAT]);
        Queue::parse(&call("squeue", &mut command)?).map_err(|said| SlurmError::Failed { program: "squeue", said })
    }

    /// Whether a job, such as `12` or `12_3`, is running or about to end; none if Slurm cannot say.
    pub fn is_running(job: &str) -> Option<bool> {
        let asked = Command::new("squeue").args(["--noheader", "--jobs", job, "--format=%T"]).output().ok()?;
        if asked.status.success() {
            Some(String::from_utf8_lossy(&asked.stdout).lines().any(|state| is_active(state.trim())))
        } else {
            String::from_utf8_lossy(&asked.stderr).contains("Invalid job id").then_some(false)
        }
    }

    /// Cancels jobs.
    ///
    /// # Errors
    /// Slurm is not installed, or refuses.
    pub fn cancel<'a>(self, jobs: impl IntoIterator<Item = &'a str>) -> Result<(), SlurmError> {
        call("scancel", Command::new("scancel").args(jobs)).map(drop)
    }
}

/// The standard output of a command.
fn call(program: &'static str, command: &mut Command) -> Result<String, SlurmError> {
    let Output { status, stdout, stderr } = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SlurmError::Missing(program),
        _ => SlurmError::Unstartable { program, error },
    })?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = if lines.is_empty() { status.to_string() } else { lines.join("; ") };
    Err(SlurmError::Failed { program, said })
}
