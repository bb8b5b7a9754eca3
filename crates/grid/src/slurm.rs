//! Grids on a cluster: the runs that are not done become the tasks of one Slurm array.
//!
//! [`tasks_by_time`] distributes the runs, [`Script`] is the text for `sbatch`, [`Submission`] is what the grid's
//! directory keeps of it, [`Queue`] is what Slurm says about it, [`GridQueue`] puts that together with the runs' files,
//! and [`Scheduler`] calls Slurm's commands. All state is in files and in Slurm's queue.

mod chunks;
mod grid_queue;
mod queue;
mod scheduler;
mod script;
mod submission;
mod submit;
mod time_limit;

pub use grid_queue::GridQueue;
pub use queue::{Queue, QueuedTask};
pub use scheduler::{Scheduler, SlurmError};
pub use script::{Resources, Script, ScriptError, job_name};
pub use submission::{Submission, submissions};
pub use submit::{tasks_by_time, tasks_of};
pub use time_limit::TimeLimit;

use chunks::{chunks, tasks_of_about};
