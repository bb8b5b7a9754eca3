//! The log of a run's steps, read on from where the last look ended.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use rehearsal_files::regular;
use serde::Deserialize;

use super::curve::Curve;

/// The most that one look reads, in bytes.
const AT_ONCE: u64 = 32 << 20;
/// The most tasks whose accuracies are kept.
const TASKS: usize = 2000;

/// What the log says.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Bytes that were read.
    read: u64,
    /// Steps taken.
    pub steps: u64,
    /// The task that is learned.
    pub task: usize,
    /// How many samples the memory holds.
    pub memory: usize,
    pub loss: Curve,
    /// The accuracies after each task.
    rows: BTreeMap<usize, Vec<Option<f64>>>,
}

/// A line of it: of a step, or of a task.
#[derive(Deserialize)]
struct Line {
    step: Option<u64>,
    #[serde(default)]
    task: usize,
    loss: Option<f64>,
    #[serde(default)]
    memory: usize,
    after_task: Option<usize>,
    #[serde(default)]
    accuracy: Vec<Option<f64>>,
}

impl Log {
    /// Reads what was added. A line that is not complete yet waits for the next look.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_on(&mut self, path: &Path) -> io::Result<()> {
        let mut file = regular::open(path, u64::MAX)?;
        // A run that is continued cuts off what came after its checkpoint.
        if file.metadata()?.len() < self.read {
            *self = Self::default();
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.take(AT_ONCE).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let is_read = lines.all(|line| serde_json::from_slice(line).map(|line| self.add(line)).is_ok());
        if !is_read && self.read > 0 {
            // It was cut and has grown again: this is the middle of a line.
            *self = Self::default();
            return self.read_on(path);
        }
        self.read += whole as u64;
        Ok(())
    }

    fn add(&mut self, line: Line) {
        if let Some(task) = line.after_task.filter(|task| *task < TASKS) {
            self.rows.insert(task, line.accuracy);
        }
        if let Some(step) = line.step {
            (self.steps, self.task, self.memory) = (step, line.task, line.memory);
            if let Some(loss) = line.loss.filter(|loss| loss.is_finite()) {
                self.loss.add(step, loss);
            }
        }
    }

    /// The accuracies after each task, in order.
    pub fn matrix(&self) -> Vec<Vec<Option<f64>>> {
        self.rows.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn step(step: u64, loss: f64) -> String {
        format!("{{\"task\":1,\"epoch\":0,\"step\":{step},\"loss\":{loss},\"retrieved\":10,\"memory\":40}}\n")
    }

    #[test]
    fn what_is_added_is_read_and_what_is_cut_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("steps.jsonl");
        let mut log = Log::default();
        assert!(log.read_on(&path).is_err(), "there is none");
        fs::write(&path, step(1, 2.0) + &step(2, 1.0) + "{\"after_task\":0,\"accuracy\":[0.5],\"sec").unwrap();
        log.read_on(&path).unwrap();
        assert_eq!((log.steps, log.task, log.memory, log.matrix().len()), (2, 1, 40, 0), "half a line waits");
        let whole =
            step(1, 2.0) + &step(2, 1.0) + "{\"after_task\":0,\"accuracy\":[0.5],\"seconds\":1.25}\n" + &step(3, 4.0);
        fs::write(&path, &whole).unwrap();
        log.read_on(&path).unwrap();
        assert_eq!((log.steps, log.matrix()), (3, vec![vec![Some(0.5)]]));
        assert_eq!(log.loss.drawn().means, [Some(2.0), Some(1.0), Some(4.0)]);
        fs::write(&path, step(1, 9.0)).unwrap();
        log.read_on(&path).unwrap();
        assert_eq!((log.steps, log.loss.drawn().means), (1, vec![Some(9.0)]), "it was cut");
        fs::write(&path, "xxx".repeat(50) + "\n" + &whole).unwrap();
        log.read_on(&path).unwrap();
        assert_eq!(log.steps, 0, "what is no log says nothing");
    }
}
