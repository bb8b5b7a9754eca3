//! The result of a finished run: `result.json`.

use rehearsal_measure::{
    AccuracyMatrix, InsideTest, accuracy, average_anytime_accuracy, average_incremental_accuracy, backward_transfer,
    forgetting, forgetting_from_first, retention, worst_case_accuracy,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{computed::Computed, phases::Phases, seal::BrokenSeal, settings::Settings};

/// The result of a run. Accuracies are fractions; an undefined measure (forgetting of a single task)
/// is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this format.
    pub format: u32,
    /// The version of Rehearsal that made it.
    pub version: String,
    /// Every setting of the run.
    pub config: Settings,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// What the data lacks, compared with the published data set; empty if nothing is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete_data: Vec<String>,
    /// Reasons to doubt the result, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The classes in order of appearance.
    pub class_names: Vec<String>,
    /// Mean accuracy over all tasks at the end.
    pub accuracy: Option<f64>,
    /// Mean loss from each task's best accuracy, over all stages, to its last.
    pub forgetting: Option<f64>,
    /// Mean loss from each task's first accuracy to its last.
    pub forgetting_from_first: Option<f64>,
    /// What is left of the first accuracies of earlier tasks, all together: a ratio of sums.
    pub retention: Option<f64>,
    /// Mean over stages of the mean accuracy on the tasks seen.
    pub average_incremental_accuracy: Option<f64>,
    /// Mean gain on earlier tasks.
    pub backward_transfer: Option<f64>,
    /// Rows: after task; columns: task. Null if the task had not been learned yet.
    pub matrix: AccuracyMatrix,
    /// Where the time went.
    pub seconds: Seconds,
    /// What computed it: one entry, unless the run was resumed on another device. Empty in results of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Computed>,
    /// Optimisation steps.
    pub steps: u64,
    /// New training samples per second of the whole run, testing included.
    pub samples_per_second: f64,
    /// The highest resident memory, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// How many test images `predictions.bin` covers.
    pub test_images: usize,
    /// How recalibration before each test went, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalibration: Option<Recalibrations>,
    /// The same measures with recalibrated statistics, if both were requested and recalibration happened.
    /// The measures above are then with the running statistics of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalibrated: Option<Measures>,
    /// Task-incremental: the same measures if each test image is classified only among the classes of its task.
    /// The measures above are among all classes seen. `None` in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_incremental: Option<Measures>,
    /// The tests inside tasks, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anytime: Option<Anytime>,
    /// Forward transfer: the mean over tasks, before they are learned, of the accuracy among their classes minus
    /// the accuracy of guessing. Only tasks whose classes have all appeared by then count; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward_transfer: Option<f64>,
}

/// Tests inside tasks, and their measures together with the tests after each task. They use the running
/// statistics of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anytime {
    /// The mean over all tests of the mean accuracy on the tasks begun so far.
    pub average_accuracy: Option<f64>,
    /// The mean over tasks of the lowest accuracy in any test since the task was learned.
    pub worst_case_accuracy: Option<f64>,
    /// The tests inside tasks.
    pub inside: Vec<InsideTest>,
}

impl Anytime {
    /// From the tests inside tasks and those after each task; `None` without a test inside a task.
    pub fn new(inside: Vec<InsideTest>, matrix: &AccuracyMatrix) -> Option<Self> {
        (!inside.is_empty()).then(|| Self {
            average_accuracy: average_anytime_accuracy(&inside, matrix),
            worst_case_accuracy: worst_case_accuracy(&inside, matrix),
            inside,
        })
    }
}

/// How recalibrating the BatchNorm statistics before each test went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalibrations {
    /// For each row of the matrix, how many images the memory held; null if nothing was recalibrated.
    pub images: Vec<Option<usize>>,
    /// Why nothing was recalibrated before the last test, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

impl Recalibrations {
    /// Whether recalibration happened before any test.
    pub fn happened(&self) -> bool {
        self.images.iter().any(Option::is_some)
    }
}

/// The measures of a matrix of accuracies. Accuracies are fractions; an undefined measure (forgetting of
/// a single task) is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Mean accuracy over all tasks at the end.
    pub accuracy: Option<f64>,
    /// Mean loss from each task's best accuracy, over all stages, to its last.
    pub forgetting: Option<f64>,
    /// Mean loss from each task's first accuracy to its last.
    pub forgetting_from_first: Option<f64>,
    /// What is left of the first accuracies of earlier tasks, all together: a ratio of sums.
    pub retention: Option<f64>,
    /// Mean over stages of the mean accuracy on the tasks seen.
    pub average_incremental_accuracy: Option<f64>,
    /// Mean gain on earlier tasks.
    pub backward_transfer: Option<f64>,
    /// Rows: after task; columns: task.
    pub matrix: AccuracyMatrix,
}

impl From<AccuracyMatrix> for Measures {
    fn from(matrix: AccuracyMatrix) -> Self {
        Self {
            accuracy: accuracy(&matrix),
            forgetting: forgetting(&matrix),
            forgetting_from_first: forgetting_from_first(&matrix),
            retention: retention(&matrix),
            average_incremental_accuracy: average_incremental_accuracy(&matrix),
            backward_transfer: backward_transfer(&matrix),
            matrix,
        }
    }
}

/// Seconds of a run, over all its sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Learning and testing, without loading and checkpoints.
    pub total: f64,
    /// By task.
    pub tasks: Vec<f64>,
    /// By phase.
    pub phases: Phases,
}

/// Why a text is not the `result.json` of a run.
#[derive(Debug, Error)]
pub enum RecordError {
    /// It is not what a run writes.
    #[error("it is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// It was changed.
    #[error(transparent)]
    Changed(#[from] BrokenSeal),
    /// Another version of this program wrote it.
    #[error("it has format {0}, this program reads {known}", known = Record::FORMAT)]
    Format(u32),
}

impl Record {
    /// The version of the format of `result.json`. In 2, settings name the options of every method.
    pub const FORMAT: u32 = 2;

    /// Reads `result.json`.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub fn parse(json: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        match serde_json::from_str(json)? {
            Format { format: Self::FORMAT } => Ok(serde_json::from_str(json)?),
            Format { format } => Err(RecordError::Format(format)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a run wrote it.
    const RESULT: &str = include_str!("../tests/result.json");

    #[test]
    fn a_result_is_written_as_it_was_read_byte_by_byte() {
        let record = Record::parse(RESULT).unwrap();
        assert_eq!(record.config.text("method").as_deref(), Some("pcr"));
        assert_eq!(serde_json::to_string_pretty(&record).unwrap() + "\n", RESULT);
    }

    #[test]
    fn results_of_older_versions_are_read() {
        let once = RESULT.replace("null", "0.0").replacen("\"steps\"", "\"retention_left_out\": 0,\n  \"steps\"", 1);
        let (once, now) = (Record::parse(&once).unwrap(), Record::parse(RESULT).unwrap());
        assert_eq!((once.matrix, once.retention), (now.matrix, now.retention));
    }

    #[test]
    fn a_result_that_is_damaged_or_of_another_version_is_refused() {
        let older = Record::parse(&RESULT.replace("\"format\": 2", "\"format\": 1")).unwrap_err();
        assert_eq!(older.to_string(), "it has format 1, this program reads 2");
        let cut = Record::parse(RESULT.trim_end().trim_end_matches('}')).unwrap_err();
        assert!(cut.to_string().starts_with("it is damaged: EOF"), "{cut}");
    }
}
