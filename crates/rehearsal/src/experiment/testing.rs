//! Testing: which test images the learner gets right after a task, with the running
//! statistics of training, recalibrated from the memory, or both.

use super::{Experiment, ExperimentError, Line};
use crate::{
    clock::Clock,
    config::Recalibrate,
    learner::{Learner, Recalibration},
    sample::{Class, Sample, TaskId},
    stream::Stream,
};

/// For each task so far and each of its test images, 1 if the prediction was right, else 0.
type Right = Vec<Vec<u8>>;

/// What a learner gets right.
#[derive(Default)]
pub(super) struct Correct {
    /// Among the classes seen: class-incremental.
    pub(super) among_all: Right,
    /// Among the classes of the image's task: task-incremental.
    pub(super) in_task: Right,
}

/// A test on all tasks so far.
#[derive(Default)]
pub(super) struct Tested {
    correct: Correct,
    /// After recalibrating, if the others are not.
    recalibrated: Option<Correct>,
    recalibration: Option<Recalibration>,
}

impl Tested {
    /// What is written about each test image at the end; the second only where something was re-estimated.
    pub(super) fn predictions(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let done = matches!(self.recalibration, Some(Recalibration::Done { .. }));
        let recalibrated = self.recalibrated.as_ref().filter(|_| done);
        (self.correct.among_all.concat(), recalibrated.map(|correct| correct.among_all.concat()))
    }
}

impl Experiment {
    /// Tests on all tasks so far and adds a row to the matrix.
    pub(super) fn test(&mut self, after: TaskId) -> Result<Vec<f64>, ExperimentError> {
        let clock = Clock::start();
        let tested = self.examine(after)?;
        let row = shares(&tested.correct.among_all);
        let recalibrated = tested.recalibrated.as_ref().map(|correct| shares(&correct.among_all));
        let ahead = self.ahead_of(after)?;
        let seconds = clock.seconds();
        self.journal.progress.phases.evaluation += seconds;
        self.journal.progress.count_seconds(after.index(), seconds);
        if let Some(directory) = &mut self.journal.directory {
            let seconds = self.journal.progress.task_seconds[after.index()];
            let (accuracy, recalibrated) = (&row[..], recalibrated.as_deref());
            directory.log(&Line::Task { after_task: after.index(), accuracy, recalibrated, seconds })?;
        }
        let one_for_each = "one fraction for each task so far";
        self.journal.progress.matrix.push_row(row.clone()).expect(one_for_each);
        if let (Some(matrix), Some(row)) = (&mut self.journal.progress.recalibrated, recalibrated) {
            matrix.push_row(row).expect(one_for_each);
        }
        if let Some(matrix) = &mut self.journal.progress.task_incremental {
            matrix.push_row(shares(&tested.correct.in_task)).expect(one_for_each);
        }
        self.journal.progress.ahead.extend(ahead);
        if let (Some(counters), Some(became)) = (&mut self.journal.progress.recalibration, tested.recalibration) {
            let (images, why_not) = match became {
                Recalibration::Done { images } => (Some(images), None),
                nothing => (None, Some(nothing.to_string())),
            };
            counters.images.push(images);
            counters.why_not = why_not;
        }
        self.tested = Some(tested);
        if let Some(board) = &mut self.journal.board {
            board.task(self.learner.cursor().steps, &self.journal.progress.matrix)?;
        }
        Ok(row)
    }

    /// Tests on all tasks so far, and counts nothing. Statistics that the run is to be tested with
    /// stay with the learner, so that what is saved predicts as it was tested.
    pub(super) fn examine(&mut self, after: TaskId) -> Result<Tested, ExperimentError> {
        match self.journal.config.recalibrate {
            Recalibrate::Off => Ok(Tested { correct: self.correct(&self.learner, after)?, ..Tested::default() }),
            Recalibrate::Memory => {
                let recalibration = Some(self.learner.recalibrate());
                Ok(Tested { correct: self.correct(&self.learner, after)?, recalibrated: None, recalibration })
            }
            Recalibrate::Both => {
                let mut copy = self.learner.clone();
                let recalibration = Some(copy.recalibrate());
                let recalibrated = Some(self.correct(&copy, after)?);
                Ok(Tested { correct: self.correct(&self.learner, after)?, recalibrated, recalibration })
            }
        }
    }

    fn correct(&self, learner: &Learner, after: TaskId) -> Result<Correct, ExperimentError> {
        Correct::of(learner, &self.stream, after)
    }

    /// What is known of the next task before it is learned: the accuracy among its classes, minus what guessing
    /// gets; none if it brings classes that have not appeared, of which nothing can be known.
    fn ahead_of(&self, task: TaskId) -> Result<Option<f64>, ExperimentError> {
        let Some(next) = self.stream.tasks().nth(task.index() + 1) else { return Ok(None) };
        let classes = self.stream.tested_classes(next);
        if classes.is_empty() || classes.iter().any(|class| class.index() >= self.learner.classes().seen()) {
            return Ok(None);
        }
        let (_, right) = right(&self.learner, &self.stream, next)?;
        Ok(Some(share(&right) - 1.0 / classes.len() as f64))
    }
}

impl Correct {
    /// Tests on all tasks up to one, which has begun.
    pub(super) fn of(learner: &Learner, stream: &Stream, task: TaskId) -> Result<Self, ExperimentError> {
        let each = stream.tasks().take(task.index() + 1).map(|task| right(learner, stream, task));
        let (among_all, in_task) = each.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Ok(Self { among_all, in_task })
    }
}

/// Which test images of a task are classified right, among all classes and among those of the task.
fn right(learner: &Learner, stream: &Stream, task: TaskId) -> Result<(Vec<u8>, Vec<u8>), ExperimentError> {
    let samples = stream.test(task)?;
    let predicted = learner.classify_among(&samples, &stream.tested_classes(task))?;
    let right = |(sample, (all, in_task)): (&Sample, (Class, Option<Class>))| {
        (u8::from(sample.label == all), u8::from(Some(sample.label) == in_task))
    };
    Ok(samples.iter().zip(predicted).map(right).unzip())
}

/// The accuracy on each task.
pub(super) fn shares(right: &Right) -> Vec<f64> {
    right.iter().map(|right| share(right)).collect()
}

fn share(right: &[u8]) -> f64 {
    right.iter().map(|&right| f64::from(right)).sum::<f64>() / right.len() as f64
}
