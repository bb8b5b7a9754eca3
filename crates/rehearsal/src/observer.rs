//! Callbacks: what a progress bar sees of the training, and how it can stop it.

use std::ops::ControlFlow;

use crate::{
    clock::Phases,
    learner::{Learner, Step},
};

/// What an observer sees after each step.
#[non_exhaustive]
pub struct StepEvent<'a> {
    /// The task, from 0.
    pub task: usize,
    /// The epoch of the task, from 0.
    pub epoch: usize,
    /// Epochs of the task.
    pub epochs: usize,
    /// Steps taken in this task.
    pub task_step: u64,
    /// Steps of the whole task.
    pub task_steps: u64,
    /// Steps taken, over all tasks.
    pub step: u64,
    /// The loss; none if the step only moved the running statistics.
    pub loss: Option<f32>,
    /// The seconds of this step.
    pub phases: Phases,
    /// The step itself.
    pub taken: &'a Step,
    /// The learner after it.
    pub learner: &'a Learner,
}

/// A callback of [`Learner::fit`] and of an experiment.
pub trait Observer: Send {
    /// Before each step.
    fn before_step(&mut self, _: &Learner) {}

    /// After each step; `Break` stops the training, which can be continued.
    fn step(&mut self, _: &StepEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// After each task of an experiment: the accuracies on all tasks so far.
    fn task(&mut self, _: usize, _: &[f64]) {}
}

/// Watches nothing.
impl Observer for () {}
