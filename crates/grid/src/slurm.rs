//! Grids on a cluster: the runs that are not done become the tasks of one Slurm array.
//!
//! [`chunks`] shares the runs out, [`Script`] is the text that `sbatch` gets, [`Submission`] what a
//! grid's directory remembers of it, [`Queue`] what Slurm says about it, and [`Scheduler`] the few
//! commands of Slurm that are called. Only the last one starts processes, and nothing but files and
//! Slurm's own queue remembers anything.

mod chunks;
mod queue;
mod scheduler;
mod script;
mod submission;
mod time_limit;

pub use chunks::{MOST_TASKS, chunks, tasks_of_about};
pub use queue::{Queue, QueuedTask};
pub use scheduler::{Scheduler, SlurmError};
pub use script::{Resources, Script, ScriptError, job_name};
pub use submission::{Submission, submissions};
pub use time_limit::TimeLimit;
