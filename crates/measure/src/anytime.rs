//! Measures from tests inside tasks, together with the accuracies after each task.

use serde::{Deserialize, Serialize};

use crate::AccuracyMatrix;

/// A test while a task is being learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InsideTest {
    /// Steps of the run before it.
    pub step: u64,
    /// The accuracy on each task begun so far; the last is the task that is being learned.
    pub accuracy: Vec<f64>,
}

/// Average anytime accuracy: the mean, over all tests inside tasks and after them, of the mean accuracy on
/// the tasks begun so far. `None` without a test.
pub fn average_anytime_accuracy(inside: &[InsideTest], matrix: &AccuracyMatrix) -> Option<f64> {
    mean(accuracies(inside, matrix).filter_map(|row| mean(row.iter().copied())))
}

/// Worst-case accuracy (De Lange, van de Ven and Tuytelaars 2023): the mean over tasks of the lowest accuracy
/// in any test since the task was learned; for the last task, its accuracy at the end. `None` before the first
/// task has been learned.
pub fn worst_case_accuracy(inside: &[InsideTest], matrix: &AccuracyMatrix) -> Option<f64> {
    let (last, _) = matrix.rows().split_last()?;
    let lowest = |task: usize| {
        let since = accuracies(inside, matrix).filter(|row| row.len() > task + 1).map(|row| row[task]);
        since.fold(last[task], f64::min)
    };
    mean((0..last.len()).map(lowest))
}

fn accuracies<'a>(inside: &'a [InsideTest], matrix: &'a AccuracyMatrix) -> impl Iterator<Item = &'a [f64]> {
    inside.iter().map(|test| &test.accuracy[..]).chain(matrix.rows().iter().map(Vec::as_slice))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    crate::OverSeeds::from_values(&values.collect::<Vec<_>>()).map(|over| over.mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy_matrix::tests::matrix;

    fn inside(step: u64, accuracy: &[f64]) -> InsideTest {
        InsideTest { step, accuracy: accuracy.to_vec() }
    }

    #[test]
    fn a_gap_inside_a_task_lowers_the_worst_case_and_the_average() {
        // The first task falls to 0.1 while the second is learned, and is back at 0.6 at its end.
        let run = matrix([vec![0.8], vec![0.6, 0.7]]);
        let tests = [inside(5, &[0.4]), inside(15, &[0.1, 0.3])];
        assert_eq!(worst_case_accuracy(&tests, &run), Some(f64::midpoint(0.1, 0.7)));
        assert_eq!(worst_case_accuracy(&[], &run), Some(f64::midpoint(0.6, 0.7)));
        // By hand: 0.4, 0.2, 0.8 and 0.65, over 4.
        assert!((average_anytime_accuracy(&tests, &run).unwrap() - 2.05 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_task_that_is_still_learned_has_no_worst_case_yet() {
        let run = matrix([vec![0.8]]);
        assert_eq!(worst_case_accuracy(&[inside(5, &[0.1])], &run), Some(0.8));
        assert_eq!(
            (worst_case_accuracy(&[], &AccuracyMatrix::new()), average_anytime_accuracy(&[], &AccuracyMatrix::new())),
            (None, None)
        );
    }
}
