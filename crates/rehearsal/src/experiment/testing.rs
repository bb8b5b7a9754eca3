//! Testing: which test images the learner gets right after a task, with the running
//! statistics of training, recalibrated from the memory, or both.

use super::{Experiment, ExperimentError, Line};
use crate::{
    clock::Clock,
    config::Recalibrate,
    learner::{Learner, Recalibration},
    sample::TaskId,
};

/// For each task so far and each of its test images, 1 if the prediction among the classes seen was right, else 0.
type Correct = Vec<Vec<u8>>;

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
        (self.correct.concat(), recalibrated.map(|correct| correct.concat()))
    }
}

impl Experiment {
    /// Tests on all tasks so far and adds a row to the matrix.
    pub(super) fn test(&mut self, after: TaskId) -> Result<Vec<f64>, ExperimentError> {
        let clock = Clock::start();
        let tested = self.examine(after)?;
        let row = shares(&tested.correct);
        let recalibrated = tested.recalibrated.as_ref().map(shares);
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
        let of_task = |task: TaskId| {
            let samples = self.stream.test(task)?;
            let predicted = learner.classify(&samples)?;
            Ok(samples.iter().zip(predicted).map(|(sample, class)| u8::from(sample.label == class)).collect())
        };
        self.stream.tasks().take(after.index() + 1).map(of_task).collect()
    }
}

/// The accuracy on each task.
fn shares(correct: &Correct) -> Vec<f64> {
    let share = |right: &Vec<u8>| right.iter().map(|&right| f64::from(right)).sum::<f64>() / right.len() as f64;
    correct.iter().map(share).collect()
}
