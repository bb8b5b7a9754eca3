//! One run, read from its directory.
//!
//! Unknown fields are ignored, so that runs of other versions can be reported too. A missing field is an
//! error that names the file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::regular;
use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{
    Settings, TaskDiagnostics, files,
    seal::{self, FileError, MISSING, fingerprints},
};
use serde::Deserialize;
use thiserror::Error;

/// The largest file of a run that is read, in bytes.
const LARGEST: u64 = 1 << 30;

/// Bytes of a mebibyte.
pub(crate) const MIB: f64 = 1_048_576.0;

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its directory.
    pub path: PathBuf,
    /// Every setting.
    pub settings: Settings,
    /// The seed of all its random draws.
    pub seed: u64,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// What the data lacked of the published data set.
    pub incomplete_data: Vec<String>,
    /// Reasons to doubt the result.
    pub warnings: Vec<String>,
    /// The classes in order of appearance.
    pub class_names: Vec<String>,
    /// Accuracies after each task.
    pub matrix: AccuracyMatrix,
    /// Steps of the optimizer.
    pub steps: Option<u64>,
    /// Seconds of learning and testing.
    pub seconds: Option<f64>,
    /// New samples per second.
    pub samples_per_second: Option<f64>,
    /// The highest resident memory.
    pub peak_memory_bytes: Option<u64>,
    /// Which test images the final model got right; none if the run did not write it.
    pub correct: Option<Vec<bool>>,
    /// One entry per task, if the run wrote diagnostics.
    pub diagnostics: Vec<TaskDiagnostics>,
    /// Its results with recalibrated `BatchNorm` statistics, if it was tested both ways.
    pub recalibrated: Option<Recalibrated>,
    /// Accuracies among the classes of each task alone; none in runs of earlier versions.
    pub task_incremental: Option<AccuracyMatrix>,
    /// The mean accuracy over all tests, if it was tested inside tasks, too.
    pub anytime_accuracy: Option<f64>,
    /// The lowest accuracy on each task since it was learned, in the mean, if it was tested inside tasks, too.
    pub worst_case_accuracy: Option<f64>,
    /// What was known of tasks before they were learned, above guessing.
    pub forward_transfer: Option<f64>,
    /// Why nothing was recalibrated although it was asked for.
    pub why_not_recalibrated: Option<String>,
    /// Whether this is its second reading, see [`readings`](crate::readings::readings).
    pub is_again: bool,
}

/// The results of a run with `BatchNorm` statistics recalibrated from the memory.
#[derive(Clone, Debug, Deserialize)]
pub struct Recalibrated {
    /// Accuracies after each task.
    pub matrix: AccuracyMatrix,
    /// Which test images the final model got right; none if the run did not write it.
    #[serde(skip)]
    pub correct: Option<Vec<bool>>,
}

/// A run without a result: in progress, stopped or failed.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// Its directory.
    pub path: PathBuf,
    /// Every setting.
    pub settings: Settings,
}

/// What a directory holds.
#[derive(Clone, Debug)]
pub enum Found {
    /// A finished run.
    Finished(Box<Run>),
    /// One without a result.
    Unfinished(Unfinished),
}

/// Why a run cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A file or directory cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what a run writes.
    #[error("{path} is not what a run writes: {why}")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

#[derive(Deserialize)]
struct ResultFile {
    config: Settings,
    matrix: AccuracyMatrix,
    #[serde(default)]
    data_sha256: String,
    #[serde(default)]
    incomplete_data: Vec<String>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    class_names: Vec<String>,
    seconds: Option<Seconds>,
    samples_per_second: Option<f64>,
    peak_memory_bytes: Option<u64>,
    test_images: Option<usize>,
    steps: Option<u64>,
    recalibration: Option<Recalibration>,
    recalibrated: Option<Recalibrated>,
    task_incremental: Option<Recalibrated>,
    anytime: Option<Anytime>,
    forward_transfer: Option<f64>,
}

#[derive(Deserialize)]
struct Anytime {
    average_accuracy: Option<f64>,
    worst_case_accuracy: Option<f64>,
}

#[derive(Deserialize)]
struct Seconds {
    total: f64,
}

#[derive(Deserialize)]
struct Recalibration {
    why_not: Option<String>,
}

impl Run {
    /// The diagnostics of a task, counted from 0.
    pub fn diagnostics_of(&self, task: usize) -> Option<&TaskDiagnostics> {
        self.diagnostics.iter().find(|line| line.task == task)
    }

    /// The number of test images of each class, if it is known and the same for all: not for folders,
    /// and not if tasks share classes.
    pub fn test_images_per_class(&self) -> Option<usize> {
        let (images, classes) = (self.correct.as_ref()?.len(), self.class_names.len());
        let dataset = self.settings.text("dataset").unwrap_or_default();
        let stream = self.settings.text("stream").unwrap_or_default();
        let is_even = classes > 0 && images.is_multiple_of(classes) && !dataset.contains('+') && dataset != "folder";
        (is_even && stream != "domain-incremental").then(|| images / classes)
    }
}

/// Whether a file exists. One without permission does: reading it gives the reason.
fn is_there(path: &Path) -> bool {
    fs::metadata(path).map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |about| !about.is_dir())
}

/// Whether a directory holds a run, finished or not.
pub fn is_run(directory: &Path) -> bool {
    let has = |file: &str| is_there(&directory.join(file));
    has(files::RESULT) || has(files::CONFIG) && has(files::STEPS)
}

/// Reads the run in a directory.
///
/// # Errors
/// A file is missing or damaged.
pub fn read(directory: &Path) -> Result<Found, ReadError> {
    let result = directory.join(files::RESULT);
    if !is_there(&result) {
        let path = directory.join(files::CONFIG);
        let settings = toml::from_str(&text(&path)?).map_err(|error| damaged(&path, error.message()))?;
        return Ok(Found::Unfinished(Unfinished { path: directory.into(), settings }));
    }
    let json = text(&result)?;
    let mut file: ResultFile = serde_json::from_str(&json).map_err(|error| damaged(&result, error.to_string()))?;
    if !check_files(directory, &json)? {
        file.warnings.push(MISSING.into());
    }
    if file.matrix.tasks_seen() == 0 {
        return Err(damaged(&result, "its accuracy matrix is empty"));
    }
    if let Some(other) = &mut file.recalibrated {
        if other.matrix.tasks_seen() != file.matrix.tasks_seen() {
            return Err(damaged(&result, "its two accuracy matrices have different sizes"));
        }
        other.correct = correct(&directory.join(files::RECALIBRATED_PREDICTIONS), file.test_images)?;
    }
    let seed = file.config.get("seed").and_then(serde_json::Value::as_u64);
    let seed = seed.ok_or_else(|| damaged(&result, "its config has no seed"))?;
    Ok(Found::Finished(Box::new(Run {
        path: directory.into(),
        settings: file.config,
        seed,
        data_sha256: file.data_sha256,
        incomplete_data: file.incomplete_data,
        warnings: file.warnings,
        class_names: file.class_names,
        matrix: file.matrix,
        steps: file.steps,
        seconds: file.seconds.map(|seconds| seconds.total),
        samples_per_second: file.samples_per_second,
        peak_memory_bytes: file.peak_memory_bytes,
        correct: correct(&directory.join(files::PREDICTIONS), file.test_images)?,
        diagnostics: diagnostics(&directory.join(files::DIAGNOSTICS))?,
        recalibrated: file.recalibrated,
        task_incremental: file.task_incremental.map(|measures| measures.matrix),
        anytime_accuracy: file.anytime.as_ref().and_then(|anytime| anytime.average_accuracy),
        worst_case_accuracy: file.anytime.as_ref().and_then(|anytime| anytime.worst_case_accuracy),
        forward_transfer: file.forward_transfer,
        why_not_recalibrated: file.recalibration.and_then(|recalibration| recalibration.why_not),
        is_again: false,
    })))
}

/// Checks the seal of a run; false if it has none.
fn check_files(directory: &Path, json: &str) -> Result<bool, ReadError> {
    let sealed = fingerprints(json).map_err(|error| damaged(&directory.join(files::RESULT), error.to_string()))?;
    let Some(sealed) = sealed else { return Ok(false) };
    seal::check_files(directory, &sealed).map_err(|error| match error {
        FileError::Changed { path, why } => damaged(&path, why),
        FileError::Unreadable { path, error } => ReadError::Unreadable { path, error },
    })?;
    Ok(true)
}

fn correct(path: &Path, test_images: Option<usize>) -> Result<Option<Vec<bool>>, ReadError> {
    let most = test_images.map_or(LARGEST, |expected| expected as u64);
    if let Some(found) = fs::metadata(path).ok().map(|about| about.len()).filter(|&found| found > most) {
        return Err(damaged(path, format!("it has {found} bytes for {most} test images")));
    }
    let bytes = match regular::read(path, most) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ReadError::Unreadable { path: path.into(), error }),
    };
    if let Some(expected) = test_images.filter(|&expected| expected != bytes.len()) {
        return Err(damaged(path, format!("it has {} bytes for {expected} test images", bytes.len())));
    }
    match bytes.iter().find(|&&byte| byte > 1) {
        Some(byte) => Err(damaged(path, format!("it holds {byte} where only 0 and 1 are allowed"))),
        None => Ok(Some(bytes.into_iter().map(|byte| byte == 1).collect())),
    }
}

fn diagnostics(path: &Path) -> Result<Vec<TaskDiagnostics>, ReadError> {
    if !is_there(path) {
        return Ok(Vec::new());
    }
    TaskDiagnostics::parse(&text(path)?).map_err(|error| damaged(path, error.to_string()))
}

fn text(path: &Path) -> Result<String, ReadError> {
    regular::read_to_string(path, LARGEST).map_err(|error| ReadError::Unreadable { path: path.into(), error })
}

fn damaged(path: &Path, why: impl Into<String>) -> ReadError {
    ReadError::Damaged { path: path.into(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use rehearsal_runs::RunDirectory;

    use super::*;

    #[test]
    fn a_sealed_run_must_be_as_it_was_written() {
        let place = tempfile::tempdir().unwrap();
        let mut directory = RunDirectory::create(place.path(), "").unwrap();
        directory.write_diagnostics("{\"task\":0}\n").unwrap();
        directory.finish(&[1, 0], None, r#"{"config": {"seed": 7}, "matrix": [[0.5]], "test_images": 2}"#).unwrap();
        drop(directory);
        let error = || read(place.path()).unwrap_err().to_string();
        assert!(matches!(read(place.path()), Ok(Found::Finished(run)) if run.seed == 7 && run.diagnostics.len() == 1));
        for (name, changed) in [(files::PREDICTIONS, "\u{1}\u{1}"), (files::DIAGNOSTICS, "{\"task\":1}\n")] {
            let written = fs::read(place.path().join(name)).unwrap();
            fs::write(place.path().join(name), changed).unwrap();
            assert!(error().ends_with("its checksum is another than when the run was finished"), "{}", error());
            fs::remove_file(place.path().join(name)).unwrap();
            assert!(error().contains(name) && error().contains("cannot be read"), "{}", error());
            fs::write(place.path().join(name), written).unwrap();
        }
        let later = place.path().join(files::RECALIBRATED_PREDICTIONS);
        fs::write(&later, [1, 1]).unwrap();
        assert!(error().ends_with("it was not there when the run was finished"), "{}", error());
        fs::remove_file(later).unwrap();
        let text = fs::read_to_string(place.path().join(files::RESULT)).unwrap();
        fs::write(place.path().join(files::RESULT), text.replace("[[0.5]]", "[[0.9]]")).unwrap();
        assert!(error().contains("it is not as it was written"), "{}", error());
    }
}
