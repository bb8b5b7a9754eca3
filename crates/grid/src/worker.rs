//! The message from a worker process to its grid.

use serde::{Deserialize, Serialize};

/// How far a run is: a line of JSON on the worker's standard output.
///
/// ```
/// use rehearsal_grid::WorkerProgress;
///
/// let progress = WorkerProgress { task: 1, step: 30, total: 48 };
/// assert_eq!(WorkerProgress::parse(&progress.line()), Some(progress));
/// assert_eq!(WorkerProgress::parse("hello"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerProgress {
    /// The task, from 0.
    pub task: usize,
    /// Steps taken.
    pub step: u64,
    /// Steps of the whole run.
    pub total: u64,
}

impl WorkerProgress {
    /// As a line, without its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("numbers are plain data")
    }

    /// From a line; none if it is something else.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}
