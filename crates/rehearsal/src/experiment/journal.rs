//! What a run writes down: its log, its checkpoints, and the counters that go into its result.

use std::{ops::ControlFlow, path::Path, time::Instant};

use rehearsal_measure::InsideTest;
use rehearsal_runs::{DirectoryError, RunDirectory};
use serde::Serialize;

use super::{
    Board, DataUsed, ExperimentError, LastStep, Progress,
    testing::{Correct, shares},
};
use crate::{
    clock::Clock,
    config::Config,
    learner::Learner,
    network::Network,
    observer::{Observer, StepEvent},
    sample::TaskId,
    stream::Stream,
};

/// A run's settings and counters, and where they are written.
pub(super) struct Journal {
    pub config: Config,
    pub data: DataUsed,
    pub progress: Progress,
    pub directory: Option<RunDirectory>,
    pub board: Option<Board>,
}

/// A line of `steps.jsonl`.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Line<'a> {
    Step {
        task: usize,
        epoch: usize,
        step: u64,
        #[serde(flatten)]
        last: LastStep,
    },
    Task {
        after_task: usize,
        accuracy: &'a [f64],
        #[serde(skip_serializing_if = "Option::is_none")]
        recalibrated: Option<&'a [f64]>,
        seconds: f64,
    },
}

impl Journal {
    /// The run's directory, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.directory.as_ref().map(RunDirectory::path)
    }

    /// Logs a step.
    fn log(&mut self, event: &StepEvent) -> Result<(), DirectoryError> {
        let StepEvent { task, epoch, step, loss, .. } = *event;
        let retrieved = event.taken.replayed.iter().map(Vec::len).sum();
        let last = LastStep { loss, retrieved, memory: event.learner.memory().len() };
        self.progress.note_loss(event);
        if let Some(directory) = &mut self.directory {
            directory.log(&Line::Step { task, epoch, step, last })?;
        }
        if let Some(board) = &mut self.board {
            board.step(step, &last)?;
        }
        self.progress.last = Some(last);
        Ok(())
    }

    /// Writes the diagnostics of all tasks so far, if they were asked for.
    pub fn write_diagnostics(&mut self) -> Result<(), DirectoryError> {
        match (&mut self.directory, &self.progress.diagnostics) {
            (Some(directory), Some(diagnostics)) => directory.write_diagnostics(&diagnostics.lines()),
            _ => Ok(()),
        }
    }
}

/// Logs every step of a task, saves from time to time, and passes the events on.
pub(super) struct Recorder<'a> {
    journal: &'a mut Journal,
    stream: &'a Stream,
    observer: &'a mut dyn Observer,
    saved: Instant,
    /// Of the current step.
    clock: Clock,
    /// The network before the current step, for the diagnostics.
    before: Option<Network>,
    /// Why it could not go on.
    failed: Option<ExperimentError>,
}

impl<'a> Recorder<'a> {
    pub fn new(journal: &'a mut Journal, stream: &'a Stream, observer: &'a mut dyn Observer) -> Self {
        Self { journal, stream, observer, saved: Instant::now(), clock: Clock::start(), before: None, failed: None }
    }

    /// An error if something could not be written.
    pub fn finish(self) -> Result<(), ExperimentError> {
        self.failed.map_or(Ok(()), Err)
    }

    fn record(&mut self, event: &StepEvent) -> Result<ControlFlow<()>, ExperimentError> {
        let progress = &mut self.journal.progress;
        progress.phases += event.phases;
        if let (Some(diagnostics), Some(before)) = (&mut progress.diagnostics, self.before.take()) {
            let clock = Clock::start();
            diagnostics.observe(event.taken, &before, event.learner);
            progress.phases.diagnostics += clock.seconds();
        }
        self.journal.log(event)?;
        self.test_inside(event)?;
        self.journal.progress.count_seconds(event.task, self.clock.seconds());
        if self.observer.step(event).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.saved.elapsed().as_secs_f64() >= self.journal.config.checkpoint_minutes * 60.0 {
            self.journal.save(event.learner)?;
            self.saved = Instant::now();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Tests on all tasks begun if it is time to; after the last step of a task it is tested anyway.
    fn test_inside(&mut self, event: &StepEvent) -> Result<(), ExperimentError> {
        let is_time = self.journal.config.test_every.is_some_and(|every| event.step.is_multiple_of(every as u64));
        if is_time && event.task_step < event.task_steps {
            let clock = Clock::start();
            let correct = Correct::of(event.learner, self.stream, TaskId(event.task as u16))?;
            self.journal.progress.inside.push(InsideTest { step: event.step, accuracy: shares(&correct.among_all) });
            self.journal.progress.phases.evaluation += clock.seconds();
        }
        Ok(())
    }
}

impl Observer for Recorder<'_> {
    fn before_step(&mut self, learner: &Learner) {
        self.clock = Clock::start();
        self.before = self.journal.progress.diagnostics.is_some().then(|| learner.network().clone());
        self.observer.before_step(learner);
    }

    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        self.record(event).unwrap_or_else(|error| {
            self.failed = Some(error);
            ControlFlow::Break(())
        })
    }
}
