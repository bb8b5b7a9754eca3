//! What TensorBoard shows of a run, if that was asked for: `tensorboard/` in its directory.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rehearsal_measure::{AccuracyMatrix, forgetting};
use rehearsal_runs::{DirectoryError, files};
use rehearsal_tensorboard::EventFile;

use super::LastStep;

/// How far behind a viewer may be.
const FLUSH_EVERY: Duration = Duration::from_secs(2);

/// An open event file.
pub(super) struct Board {
    events: EventFile,
    flushed: Instant,
}

impl Board {
    /// Of a run in `directory`. What an earlier session wrote about `step` and later ones is void:
    /// whether it came to test after the step is not known, so the step itself is written again.
    pub(super) fn open(directory: &Path, step: u64) -> Result<Self, DirectoryError> {
        let place = directory.join(files::TENSORBOARD);
        let events = EventFile::resume(&place, now(), step).map_err(|error| unwritable(place)(error))?;
        Ok(Self { events, flushed: Instant::now() })
    }

    /// After a step.
    pub(super) fn step(&mut self, step: u64, last: &LastStep) -> Result<(), DirectoryError> {
        let mut values = vec![("retrieved", last.retrieved as f32), ("memory", last.memory as f32)];
        values.extend(last.loss.map(|loss| ("loss", loss)));
        self.write(step, &values)?;
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// After a task, at its last step: the accuracy on each task so far, and what they make together.
    pub(super) fn task(&mut self, step: u64, matrix: &AccuracyMatrix) -> Result<(), DirectoryError> {
        let Some(row) = matrix.rows().last() else { return Ok(()) };
        let names: Vec<String> = (1..=row.len()).map(|task| format!("accuracy/task {task:02}")).collect();
        let mut values: Vec<(&str, f32)> =
            names.iter().map(String::as_str).zip(row.iter().map(|&share| share as f32)).collect();
        values.push(("accuracy/mean", (row.iter().sum::<f64>() / row.len() as f64) as f32));
        values.extend(forgetting(matrix).map(|lost| ("forgetting", lost as f32)));
        self.write(step, &values)?;
        self.flush()
    }

    /// Has all that was written on the disk.
    pub(super) fn sync(&mut self) -> Result<(), DirectoryError> {
        let path = self.events.path().to_owned();
        self.events.sync().map_err(unwritable(path))
    }

    fn write(&mut self, step: u64, values: &[(&str, f32)]) -> Result<(), DirectoryError> {
        let path = self.events.path().to_owned();
        self.events.scalars(step, values, now()).map_err(unwritable(path))
    }

    fn flush(&mut self) -> Result<(), DirectoryError> {
        self.flushed = Instant::now();
        let path = self.events.path().to_owned();
        self.events.flush().map_err(unwritable(path))
    }
}

fn unwritable(path: PathBuf) -> impl FnOnce(io::Error) -> DirectoryError {
    |error| DirectoryError::Unwritable { path, error }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
