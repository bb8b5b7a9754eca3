//! The accuracy on each task after each task: what a run is judged by.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Accuracy on every task (column) after learning every task (row), as fractions.
///
/// It grows by a row whenever a task has been learned, so a run in progress has a smaller matrix,
/// never one with holes. Only the tasks seen so far are stored: the others were not tested. It is
/// written as a square list of lists with null for tasks not seen, so that any tool can load it as
/// an array. Older files have zeros there; they are read too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<Option<f64>>>", into = "Vec<Vec<Option<f64>>>")]
pub struct AccuracyMatrix {
    rows: Vec<Vec<f64>>,
}

impl AccuracyMatrix {
    /// The matrix of a run that has not finished a task yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the accuracies measured after one more task, on every task seen so far.
    ///
    /// # Errors
    ///
    /// If the row does not have one accuracy per task seen, the new one included, or one is not a
    /// fraction. The matrix is then not changed.
    pub fn push_row(&mut self, row: Vec<f64>) -> Result<(), MatrixError> {
        let after = self.rows.len();
        if row.len() != after + 1 {
            return Err(MatrixError::RowLength { after, expected: after + 1, found: row.len() });
        }
        // NaN is in no range.
        if let Some(task) = row.iter().position(|value| !(0.0..=1.0).contains(value)) {
            return Err(MatrixError::NotAFraction { after, task, value: row[task] });
        }
        self.rows.push(row);
        Ok(())
    }

    /// How many tasks have been learned: the number of rows.
    pub fn tasks_seen(&self) -> usize {
        self.rows.len()
    }

    /// The accuracy on `task` after task `after`; `None` if it was not tested: `task` was not seen
    /// then, or `after` has not been learned yet.
    pub fn get(&self, after: usize, task: usize) -> Option<f64> {
        self.rows.get(after)?.get(task).copied()
    }

    /// The matrix as it was when only the first tasks had been learned.
    pub fn first_stages(&self, stages: usize) -> Self {
        Self { rows: self.rows.iter().take(stages).cloned().collect() }
    }

    /// The accuracies after each task, on the tasks seen by then: row `i` has `i + 1` entries.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }
}

impl From<AccuracyMatrix> for Vec<Vec<Option<f64>>> {
    fn from(AccuracyMatrix { rows }: AccuracyMatrix) -> Self {
        let tasks = rows.len();
        let square = |row: Vec<f64>| {
            let mut row: Vec<Option<f64>> = row.into_iter().map(Some).collect();
            row.resize(tasks, None);
            row
        };
        rows.into_iter().map(square).collect()
    }
}

impl TryFrom<Vec<Vec<Option<f64>>>> for AccuracyMatrix {
    type Error = MatrixError;

    fn try_from(square: Vec<Vec<Option<f64>>>) -> Result<Self, MatrixError> {
        let tasks = square.len();
        let mut matrix = Self::new();
        for (after, mut row) in square.into_iter().enumerate() {
            if row.len() != tasks {
                return Err(MatrixError::RowLength { after, expected: tasks, found: row.len() });
            }
            for (task, unseen) in row.split_off(after + 1).into_iter().enumerate() {
                if let Some(value) = unseen.filter(|&value| value != 0.0) {
                    return Err(MatrixError::Unseen { after, task: after + 1 + task, value });
                }
            }
            let tested = |(task, value): (usize, Option<f64>)| value.ok_or(MatrixError::Untested { after, task });
            matrix.push_row(row.into_iter().enumerate().map(tested).collect::<Result<_, _>>()?)?;
        }
        Ok(matrix)
    }
}

/// Why some numbers are not an accuracy matrix. Rows and tasks are counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixError {
    /// A row has too few or too many entries.
    RowLength {
        /// The row: the task just learned.
        after: usize,
        /// How many entries it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// An entry is below 0, above 1 or not a number.
    NotAFraction {
        /// The row of the entry.
        after: usize,
        /// Its column.
        task: usize,
        /// The entry.
        value: f64,
    },
    /// A task that had been learned has no accuracy.
    Untested {
        /// The row of the entry.
        after: usize,
        /// Its column.
        task: usize,
    },
    /// A task has an accuracy before it was learned.
    Unseen {
        /// The row of the entry.
        after: usize,
        /// Its column.
        task: usize,
        /// The entry.
        value: f64,
    },
}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowLength { after, expected, found } => {
                write!(f, "the row after task {after} should have {expected} entries, not {found}")
            }
            Self::NotAFraction { after, task, value } => {
                write!(f, "the accuracy on task {task} after task {after} should be between 0 and 1, not {value}")
            }
            Self::Untested { after, task } => {
                write!(f, "the accuracy on task {task} after task {after} should be between 0 and 1, not null")
            }
            Self::Unseen { after, task, value } => {
                write!(f, "the accuracy on task {task}, unseen after task {after}, should be null, not {value}")
            }
        }
    }
}

impl Error for MatrixError {}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The matrix with these rows, each as long as the tasks seen by then.
    pub(crate) fn matrix(rows: impl IntoIterator<Item = Vec<f64>>) -> AccuracyMatrix {
        let mut matrix = AccuracyMatrix::new();
        for row in rows {
            matrix.push_row(row).unwrap();
        }
        matrix
    }

    /// Any matrix of up to seven tasks, with more zeros than chance would give: zeros are the
    /// denominators that matter.
    pub(crate) fn any_matrix() -> impl Strategy<Value = AccuracyMatrix> {
        let fraction = || prop_oneof![1 => Just(0.0), 4 => 0.0..=1.0];
        (0..8_usize)
            .prop_flat_map(move |tasks| (1..=tasks).map(|seen| vec(fraction(), seen)).collect::<Vec<_>>())
            .prop_map(matrix)
    }

    #[test]
    fn a_refused_row_leaves_the_matrix_as_it_was() {
        let mut matrix = matrix([vec![0.5]]);
        let before = matrix.clone();
        let short = MatrixError::RowLength { after: 1, expected: 2, found: 1 };
        assert_eq!(matrix.push_row(vec![0.5]), Err(short));
        let high = MatrixError::NotAFraction { after: 1, task: 0, value: 1.5 };
        assert_eq!(matrix.push_row(vec![1.5, 0.5]), Err(high));
        assert!(matrix.push_row(vec![0.5, f64::NAN]).is_err());
        assert_eq!(matrix, before);
    }

    #[test]
    fn an_accuracy_that_was_not_tested_is_none_and_null_and_zero_in_older_files() {
        let matrix = matrix([vec![0.5], vec![0.25, 0.75]]);
        assert_eq!(matrix.tasks_seen(), 2);
        assert_eq!([matrix.get(1, 0), matrix.get(0, 1), matrix.get(2, 0)], [Some(0.25), None, None]);
        assert_eq!(serde_json::to_string(&matrix).unwrap(), "[[0.5,null],[0.25,0.75]]");
        for text in ["[[0.5,null],[0.25,0.75]]", "[[0.5,0.0],[0.25,0.75]]"] {
            assert_eq!(serde_json::from_str::<AccuracyMatrix>(text).unwrap(), matrix, "{text}");
        }
    }

    #[test]
    fn malformed_json_is_refused_with_the_reason() {
        for (json, reason) in [
            ("[[0.5],[0.5,0.5]]", "the row after task 0 should have 2 entries, not 1"),
            ("[[0.5,0],[0.5,-0.1]]", "on task 1 after task 1 should be between 0 and 1, not -0.1"),
            ("[[0.5,0.1],[0.5,0.5]]", "on task 1, unseen after task 0, should be null, not 0.1"),
            ("[[0.5,null],[null,0.5]]", "on task 0 after task 1 should be between 0 and 1, not null"),
        ] {
            let error = serde_json::from_str::<AccuracyMatrix>(json).unwrap_err().to_string();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }

    proptest! {
        #[test]
        fn json_keeps_every_bit(matrix in any_matrix()) {
            let json = serde_json::to_string(&matrix).unwrap();
            let read: AccuracyMatrix = serde_json::from_str(&json).unwrap();
            let bits = |m: &AccuracyMatrix| m.rows().concat().into_iter().map(f64::to_bits).collect::<Vec<_>>();
            prop_assert_eq!(read.tasks_seen(), matrix.tasks_seen());
            prop_assert_eq!(bits(&read), bits(&matrix));
        }

        #[test]
        fn a_matrix_is_read_as_it_was_written_or_refused(
            rows in vec(vec(prop_oneof![Just(None), Just(Some(0.0)), Just(Some(1.0)), any::<f64>().prop_map(Some)], 0..4), 0..4)
        ) {
            if let Ok(matrix) = AccuracyMatrix::try_from(rows.clone()) {
                let written = Vec::<Vec<Option<f64>>>::from(matrix).concat().into_iter().map(|cell| cell.unwrap_or(0.0)).collect::<Vec<_>>();
                let read = rows.concat().into_iter().map(|cell| cell.unwrap_or(0.0)).collect::<Vec<_>>();
                prop_assert_eq!(written, read);
            }
        }
    }
}
