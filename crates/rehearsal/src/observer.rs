//! Watching a run: what a progress bar sees, and how it can stop the run.

use std::ops::ControlFlow;

use serde::Serialize;

/// What an observer sees after each step.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StepEvent {
    /// The task, from 0.
    pub task: usize,
    /// The epoch of the task, from 0.
    pub epoch: usize,
    /// Steps taken in the whole run.
    pub step: u64,
    /// The loss; none where the step only moved the running statistics.
    pub loss: Option<f32>,
}

/// Someone who watches a run.
pub trait Observer {
    /// After each step; `Break` stops the run at a checkpoint.
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()>;
    /// After each task: the accuracies on all tasks so far.
    fn task(&mut self, task: usize, row: &[f64]);
}

/// Watches nothing.
impl Observer for () {
    fn step(&mut self, _: &StepEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn task(&mut self, _: usize, _: &[f64]) {}
}
