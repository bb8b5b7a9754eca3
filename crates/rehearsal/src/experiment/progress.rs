//! What a run has come to, besides its learner.

use rehearsal_measure::{AccuracyMatrix, InsideTest};
use rehearsal_runs::{Computed, LogPosition, Recalibrations};
use serde::{Deserialize, Serialize};

use crate::{clock::Phases, diagnostics::Diagnostics, observer::StepEvent};

/// What a step was like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStep {
    /// The loss; none if the step only moved the running statistics.
    pub loss: Option<f32>,
    /// How many samples were replayed.
    pub retrieved: usize,
    /// How many samples the memory held after it.
    pub memory: usize,
}

/// A loss, and when it was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HighLoss {
    /// The loss.
    pub loss: f32,
    /// The step, from 1.
    pub step: u64,
    /// How many classes had appeared.
    pub classes: usize,
}

/// What a run has come to, besides its learner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Accuracies after each finished task.
    pub matrix: AccuracyMatrix,
    /// What became of recalibrating, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalibration: Option<Recalibrations>,
    /// Accuracies after recalibrating, if both were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalibrated: Option<AccuracyMatrix>,
    /// Accuracies among the classes of each task alone; none in checkpoints of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_incremental: Option<AccuracyMatrix>,
    /// The tests inside tasks, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<InsideTest>,
    /// What was known of tasks before they were learned, if all their classes had appeared: accuracy among their
    /// classes, minus what guessing gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<f64>,
    /// Seconds spent on each task.
    pub task_seconds: Vec<f64>,
    /// Seconds by what they were spent on.
    pub phases: Phases,
    /// The highest resident memory so far, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// What computed it so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Computed>,
    /// How far `steps.jsonl` was.
    pub log: LogPosition,
    /// What the last step was like.
    pub last: Option<LastStep>,
    /// The highest loss so far, beside what guessing would cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_loss: Option<HighLoss>,
    /// What was seen while looking into the steps, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

impl Progress {
    /// Notes what computes from now on, unless it is what computed the last step.
    pub(super) fn note_computed(&mut self, computed: Computed) {
        // What was opened, but took no step, computed nothing.
        self.computed.retain(|earlier| earlier.from_step < computed.from_step);
        if self.computed.last().is_none_or(|last| !last.is_like(&computed)) {
            self.computed.push(computed);
        }
    }

    /// Keeps the loss of a step if it is the highest.
    pub(super) fn note_loss(&mut self, event: &StepEvent) {
        let Some(loss) = event.loss else { return };
        if self.highest_loss.is_none_or(|highest| loss > highest.loss) {
            self.highest_loss = Some(HighLoss { loss, step: event.step, classes: event.learner.classes().seen() });
        }
    }

    /// Adds to the seconds of a task, from 0.
    pub(super) fn count_seconds(&mut self, task: usize, seconds: f64) {
        self.task_seconds.resize(self.task_seconds.len().max(task + 1), 0.0);
        self.task_seconds[task] += seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_computes_is_noted_when_it_changes_and_a_step_was_taken() {
        let by = |device: &str, from_step| Computed {
            from_step,
            device: device.into(),
            backend: String::new(),
            adapter: None,
            kernels: "composed".into(),
        };
        let mut progress = Progress::default();
        for (device, from_step) in [("wgpu", 0), ("cpu", 0), ("cpu", 7), ("wgpu", 9), ("cuda", 9), ("cuda", 20)] {
            progress.note_computed(by(device, from_step));
        }
        assert_eq!(progress.computed, [by("cpu", 0), by("cuda", 9)]);
    }
}
