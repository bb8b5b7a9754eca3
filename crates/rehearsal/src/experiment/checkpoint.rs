//! A run's checkpoint: its learner's file, with what the run adds to it. What is restored must be
//! of this very run: the same settings, the same data, a cursor that the stream has.

use std::path::Path;

use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{RunDirectory, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Experiment, ExperimentError, Journal, Progress};
use crate::{
    config::{Config, LearnerConfig, Recalibrate},
    learner::{Added, Cursor, Learner, Loaded, Parts},
    record::peak_memory,
};

/// What a run adds to its learner's file.
#[derive(Serialize, Deserialize)]
struct RunHeader {
    settings: Settings,
    data_sha256: String,
    progress: Progress,
}

fn settings(config: &Config) -> Settings {
    Settings::new(config).expect("settings are plain data")
}

/// A setting that differs and must not, with both values. A run may go on with another device: it is
/// no longer the same to the bit, and its result says so.
fn difference(ours: &Settings, saved: &Settings) -> Option<String> {
    let device = ours.get("device").map(|device| ("device".to_owned(), device.clone()));
    let others = saved.names().filter(|name| *name != "device");
    let others = others.filter_map(|name| Some((name.to_owned(), saved.get(name)?.clone())));
    let saved: Settings = others.chain(device).collect();
    let name = ours.difference(&saved)?;
    let value = |of: &Settings| of.get(name).map_or("not set".into(), Value::to_string);
    let (saved, ours) = (value(&saved), value(ours));
    Some(format!("`{name}` was {saved} when it was written and is {ours} now"))
}

impl Journal {
    /// Writes a checkpoint, but none of a network that has diverged.
    pub(super) fn save(&mut self, learner: &Learner) -> Result<(), ExperimentError> {
        self.progress.peak_memory_bytes = self.progress.peak_memory_bytes.max(peak_memory());
        learner.check_finite()?;
        let Some(directory) = &mut self.directory else { return Ok(()) };
        self.progress.log = directory.sync_log()?;
        if let Some(board) = &mut self.board {
            board.sync()?;
        }
        let header = RunHeader {
            settings: settings(&self.config),
            data_sha256: self.data.sha256.clone(),
            progress: self.progress.clone(),
        };
        let header = serde_json::to_value(header).expect("progress is plain data");
        let added = Added { run: Some(header), extra: None };
        Ok(directory.write_checkpoint(|file| learner.write_to(file, added).map(drop))?)
    }
}

impl Experiment {
    /// Goes on where the checkpoint in `directory` was taken, if there is one.
    pub(super) fn restore(&mut self, directory: &Path, parts: Parts) -> Result<(), ExperimentError> {
        let path = RunDirectory::checkpoint_path(directory);
        if !path.exists() {
            return Ok(());
        }
        let (threads, device) = (self.journal.config.learner.threads, self.journal.config.learner.device);
        let here = |config: &mut LearnerConfig| (config.threads, config.device) = (threads, device);
        let Loaded { learner, run, .. } = Learner::read(&path, parts, here)?;
        let foreign = |why: String| ExperimentError::Checkpoint { path: path.clone(), why };
        let run = run.ok_or_else(|| foreign("it is a model, which no run wrote".into()))?;
        let header: RunHeader = serde_json::from_value(run).map_err(|error| foreign(error.to_string()))?;
        if let Some(difference) = difference(&settings(&self.journal.config), &header.settings) {
            return Err(foreign(difference));
        }
        if header.data_sha256 != self.journal.data.sha256 {
            let (saved, ours) = (&header.data_sha256, &self.journal.data.sha256);
            return Err(foreign(format!("its data had SHA-256 {saved}, these have {ours}")));
        }
        self.check_learner(&learner).and_then(|()| self.check_cursor(&learner, &header.progress)).map_err(foreign)?;
        (self.learner, self.journal.progress) = (learner, header.progress);
        Ok(())
    }

    /// Whether it is the learner of this run: what its own header says must be what the run says.
    fn check_learner(&self, learner: &Learner) -> Result<(), String> {
        if learner.config() != self.learner.config() || learner.input() != self.learner.input() {
            return Err("its learner has other settings, or images of another size".into());
        }
        let names = learner.classes().names().iter().map(|name| &**name);
        if !names.eq(self.stream.class_names().iter().map(String::as_str)) {
            return Err("it has other classes".into());
        }
        Ok(())
    }

    fn check_cursor(&self, learner: &Learner, progress: &Progress) -> Result<(), String> {
        let cursor = learner.cursor();
        let batches: Vec<usize> = self.stream.tasks().map(|task| self.stream.batches(task)).collect();
        if steps_at(&batches, self.journal.config.epochs(), cursor) != Some(cursor.steps) {
            return Err(format!("its cursor does not exist in this stream: {cursor:?}"));
        }
        // The classes of a task appear with its first batch.
        let begun = cursor.task + usize::from(cursor.is_inside_task());
        let seen = self.stream.tasks().take(begun).last().map_or(0, |task| self.stream.seen(task));
        if learner.classes().seen() != seen {
            return Err(format!(
                "it has seen {} classes, where this stream has shown {seen}",
                learner.classes().seen()
            ));
        }
        let rows = |kept: bool, wanted: bool, rows: usize| kept == wanted && (!kept || rows == cursor.task);
        let (recalibration, second) = (&progress.recalibration, &progress.recalibrated);
        let images = recalibration.as_ref().map_or(0, |counters| counters.images.len());
        let second_rows = second.as_ref().map_or(0, AccuracyMatrix::tasks_seen);
        let tested = progress.matrix.tasks_seen() == cursor.task
            && rows(recalibration.is_some(), self.journal.config.recalibrate != Recalibrate::Off, images)
            && rows(second.is_some(), self.journal.config.recalibrate == Recalibrate::Both, second_rows);
        let in_task = progress.task_incremental.as_ref().is_none_or(|matrix| matrix.tasks_seen() == cursor.task);
        let inside = progress.inside.iter().all(|test| test.step <= cursor.steps);
        let watched = progress.diagnostics.is_some() == self.journal.config.diagnostics;
        let counters = progress.diagnostics.as_ref().is_none_or(|seen| seen.fits(learner.network(), cursor.task));
        if tested && in_task && inside && watched && counters {
            Ok(())
        } else {
            Err("its counters are not those of its cursor".into())
        }
    }
}

/// How many steps come before a cursor in tasks of these numbers of batches; none if they have no such
/// cursor. The numbers come from a file: none of them is believed to be small.
fn steps_at(batches: &[usize], epochs: usize, cursor: Cursor) -> Option<u64> {
    let Cursor { task, epoch, batch, .. } = cursor;
    let here = batches.get(task).copied().unwrap_or(0);
    // A task's last step leaves its epoch at its end; no other cursor is beyond the last batch.
    let inside = (epoch < epochs && batch < here) || (epoch == epochs && batch == 0);
    let exists = if here == 0 { epoch == 0 && batch == 0 } else { inside };
    let before = batches.get(..task).filter(|_| exists)?.iter().sum::<usize>().checked_mul(epochs)?;
    before.checked_add(epoch.checked_mul(here)?)?.checked_add(batch).map(|steps| steps as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_unless_results_do_not_depend_on_it() {
        let table = |json: &str| serde_json::from_str::<Settings>(json).unwrap();
        let saved = table(r#"{"lr": 0.1, "threads": 2, "seed": 1}"#);
        assert_eq!(difference(&table(r#"{"lr": 0.1, "threads": 8, "seed": 1}"#), &saved), None);
        let elsewhere = table(r#"{"lr": 0.1, "threads": 2, "seed": 1, "device": "wgpu"}"#);
        assert_eq!(difference(&elsewhere, &saved), None, "a run may go on elsewhere");
        assert_eq!(
            difference(&table(r#"{"lr": 0.2, "threads": 2, "seed": 1}"#), &saved).as_deref(),
            Some("`lr` was 0.1 when it was written and is 0.2 now")
        );
        assert_eq!(
            difference(&table(r#"{"lr": 0.1}"#), &saved).as_deref(),
            Some("`seed` was 1 when it was written and is not set now")
        );
    }

    #[test]
    fn cursors_are_those_of_the_stream_however_large_they_claim_to_be() {
        let at = |task, epoch, batch| steps_at(&[3, 5], 2, Cursor { task, epoch, batch, steps: 0 });
        assert_eq!([at(0, 0, 0), at(0, 1, 2), at(0, 2, 0), at(1, 0, 0)], [Some(0), Some(5), Some(6), Some(6)]);
        assert_eq!([at(1, 1, 4), at(1, 2, 0), at(2, 0, 0)], [Some(15), Some(16), Some(16)]);
        assert_eq!([at(0, 0, 3), at(0, 2, 1), at(0, 3, 0), at(2, 0, 1), at(3, 0, 0)], [None; 5]);
        let most = usize::MAX;
        assert_eq!([at(most, 0, 0), at(0, most, 0), at(0, 0, most), at(most, most, most)], [None; 4]);
        let endless = Cursor { task: 1, epoch: most, batch: 0, steps: 0 };
        assert_eq!(steps_at(&[most, 2], most, endless), None);
    }
}
