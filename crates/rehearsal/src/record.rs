//! What a finished run says: `result.json`.

use measure::{
    AccuracyMatrix, accuracy, average_incremental_accuracy, backward_transfer, forgetting, forgetting_from_first,
    retention,
};
use serde::{Deserialize, Serialize};

use crate::{clock::Phases, config::Config, experiment::Progress};

/// The version of the format of `result.json`. In 2, settings name the options of every method.
const FORMAT: u32 = 2;

/// The result of a run. Accuracies are fractions; what is not defined (forgetting of a single task) is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this format.
    pub format: u32,
    /// The version of Rehearsal that made it.
    pub version: String,
    /// Every setting of the run.
    pub config: Config,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// The classes in order of appearance.
    pub class_names: Vec<String>,
    /// Mean accuracy over all tasks at the end.
    pub accuracy: Option<f64>,
    /// Mean loss from each task's best accuracy, over all stages, to its last.
    pub forgetting: Option<f64>,
    /// Mean loss from each task's first accuracy to its last.
    pub forgetting_from_first: Option<f64>,
    /// Mean share of each task's first accuracy that is left.
    pub retention: Option<f64>,
    /// Tasks left out of retention because their first accuracy was zero.
    pub retention_left_out: usize,
    /// Mean over stages of the mean accuracy on the tasks seen.
    pub average_incremental_accuracy: Option<f64>,
    /// Mean gain on earlier tasks.
    pub backward_transfer: Option<f64>,
    /// Rows: after task; columns: task.
    pub matrix: AccuracyMatrix,
    /// Where the time went.
    pub seconds: Seconds,
    /// Optimisation steps.
    pub steps: u64,
    /// New training samples per second of the whole run, testing included.
    pub samples_per_second: f64,
    /// The highest resident memory, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// How many test images `predictions.bin` speaks of.
    pub test_images: usize,
}

/// Seconds of a run, over all its sittings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Learning and testing; neither loading nor checkpoints.
    pub total: f64,
    /// By task.
    pub tasks: Vec<f64>,
    /// By what they were spent on.
    pub phases: Phases,
}

impl Record {
    /// Reads `result.json`.
    ///
    /// # Errors
    /// It is damaged, or of another version: one sentence says which.
    pub fn parse(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let damaged = |error: serde_json::Error| format!("it is damaged: {error}");
        let Format { format } = serde_json::from_str(json).map_err(damaged)?;
        if format != FORMAT {
            return Err(format!("it has format {format}, this program reads {FORMAT}"));
        }
        serde_json::from_str(json).map_err(damaged)
    }

    /// The record of a finished run.
    pub(crate) fn new(
        config: Config,
        data_sha256: String,
        class_names: Vec<String>,
        progress: Progress,
        steps: u64,
        test_images: usize,
    ) -> Self {
        let Progress { matrix, task_seconds, phases, peak_memory_bytes, .. } = progress;
        let total: f64 = task_seconds.iter().sum();
        let kept = retention(&matrix);
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_sha256,
            class_names,
            accuracy: accuracy(&matrix),
            forgetting: forgetting(&matrix),
            forgetting_from_first: forgetting_from_first(&matrix),
            retention: kept.value,
            retention_left_out: kept.left_out,
            average_incremental_accuracy: average_incremental_accuracy(&matrix),
            backward_transfer: backward_transfer(&matrix),
            matrix,
            samples_per_second: steps as f64 * config.learner.batch as f64 / total,
            seconds: Seconds { total, tasks: task_seconds, phases },
            steps,
            peak_memory_bytes,
            test_images,
            config,
        }
    }
}

/// The highest resident memory of this process so far, in bytes, where the system tells (Linux).
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
