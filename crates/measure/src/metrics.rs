//! Measures of a run, each a number computed from its accuracy matrix.
//!
//! Below, `A[i][t]` is the accuracy on task `t` after task `i`, and `T` the last task learned: a
//! run in progress is measured by its state so far. "Old" tasks are those before the last. A
//! measure is `None` if it is undefined, as forgetting is after a single task.
//!
//! Forward transfer is not here: it is about tasks *before* they are learned, which the matrix does not contain.
//! For tests inside tasks, see [`average_anytime_accuracy`](crate::average_anytime_accuracy).

use crate::AccuracyMatrix;

/// A measure of a whole run, by name.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in results and tables.
    pub name: &'static str,
    /// Which way it should go.
    pub better: Better,
    /// The measure itself.
    pub of: fn(&AccuracyMatrix) -> Option<f64>,
}

/// Which way a measure should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better, as for accuracy.
    Higher,
    /// Less is better, as for forgetting.
    Lower,
}

/// Every measure of a whole run, in the order in which results list them.
pub const METRICS: &[Metric] = &[
    Metric { name: "accuracy", better: Better::Higher, of: accuracy },
    Metric { name: "forgetting", better: Better::Lower, of: forgetting },
    Metric { name: "forgetting_from_first", better: Better::Lower, of: forgetting_from_first },
    Metric { name: "retention", better: Better::Higher, of: retention },
    Metric { name: "average_incremental_accuracy", better: Better::Higher, of: average_incremental_accuracy },
    Metric { name: "backward_transfer", better: Better::Higher, of: backward_transfer },
];

/// Mean accuracy on all tasks seen: mean over t of `A[T][t]`.
pub fn accuracy(matrix: &AccuracyMatrix) -> Option<f64> {
    mean(matrix.rows().last()?.iter().copied())
}

/// Mean accuracy lost on old tasks since their best: mean over t of `max_i A[i][t] − A[T][t]`.
///
/// The maximum is over all stages. The paper writes it over `i ≤ t`, which is
/// [`forgetting_from_first`], but only this definition gives the paper's numbers.
pub fn forgetting(matrix: &AccuracyMatrix) -> Option<f64> {
    let (last, earlier) = matrix.rows().split_last()?;
    let best = |task: usize| earlier[task..].iter().map(|row| row[task]).fold(last[task], f64::max);
    mean((0..earlier.len()).map(|task| best(task) - last[task]))
}

/// Mean accuracy lost on old tasks since they were learned: mean over t of `A[t][t] − A[T][t]`.
///
/// Negative if learning other tasks improved old ones.
pub fn forgetting_from_first(matrix: &AccuracyMatrix) -> Option<f64> {
    let (last, earlier) = matrix.rows().split_last()?;
    mean(earlier.iter().enumerate().map(|(task, row)| row[task] - last[task]))
}

/// The share of their first accuracy that old tasks have kept, all together: the sum over t of
/// `A[T][t]` over the sum of `A[t][t]`, not capped at 1. `None` if all first accuracies are 0.
///
/// A mean of the shares of single tasks, as in the paper ([`average_retention_rate`]), says 600 % of
/// a run in which one task began at 1 % and ended at 30 %.
pub fn retention(matrix: &AccuracyMatrix) -> Option<f64> {
    let (last, earlier) = matrix.rows().split_last()?;
    ratio_of_sums(earlier.iter().enumerate().map(|(task, row)| (row[task], last[task])))
}

/// The paper's average retention rate: mean over old tasks of `A[T][t] / A[t][t]`, not capped at 1.
pub fn average_retention_rate(matrix: &AccuracyMatrix) -> RetentionRate {
    let Some((last, earlier)) = matrix.rows().split_last() else { return RetentionRate::default() };
    RetentionRate::new(earlier.iter().enumerate().map(|(task, row)| (row[task], last[task])))
}

/// A mean of the shares that single tasks have kept, and how many tasks it leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetentionRate {
    /// The mean share kept, 1 if nothing was lost; `None` if no task has one.
    pub value: Option<f64>,
    /// Tasks left out of the mean because their first accuracy was 0: a share of it is undefined.
    pub left_out: usize,
}

impl RetentionRate {
    fn new(first_and_later: impl Iterator<Item = (f64, f64)>) -> Self {
        let (learned, never): (Vec<_>, Vec<_>) = first_and_later.partition(|&(first, _)| first > 0.0);
        Self { value: mean(learned.iter().map(|(first, later)| later / first)), left_out: never.len() }
    }
}

/// Mean over all stages of the mean accuracy on the tasks seen by then: mean over i of the mean over
/// t ≤ i of `A[i][t]`.
pub fn average_incremental_accuracy(matrix: &AccuracyMatrix) -> Option<f64> {
    mean(matrix.rows().iter().filter_map(|row| mean(row.iter().copied())))
}

/// How much other tasks improved old ones: mean over t of `A[T][t] − A[t][t]`.
///
/// It is [`forgetting_from_first`] with the opposite sign: papers report one or the other, so both are here.
pub fn backward_transfer(matrix: &AccuracyMatrix) -> Option<f64> {
    let (last, earlier) = matrix.rows().split_last()?;
    mean(earlier.iter().enumerate().map(|(task, row)| last[task] - row[task]))
}

/// Mean accuracy on a task `k` tasks after it was learned: mean over t of `A[t + k][t]`.
///
/// Over `k` in `0..matrix.tasks_seen()` it is the curve of forgetting.
pub fn accuracy_after(matrix: &AccuracyMatrix, k: usize) -> Option<f64> {
    mean(matrix.rows().iter().skip(k).enumerate().map(|(task, later)| later[task]))
}

/// The share of their first accuracy that tasks have kept `k` tasks later, all together: the sum over t
/// of `A[t + k][t]` over the sum of `A[t][t]`.
///
/// Over `k` in `0..matrix.tasks_seen()` it is the curve of forgetting, relative to first accuracies.
pub fn retention_after(matrix: &AccuracyMatrix, k: usize) -> Option<f64> {
    ratio_of_sums(first_and_after(matrix, k))
}

/// The paper's average retention rate `k` tasks later: mean over t of `A[t + k][t] / A[t][t]`.
pub fn average_retention_rate_after(matrix: &AccuracyMatrix, k: usize) -> RetentionRate {
    RetentionRate::new(first_and_after(matrix, k))
}

/// For every task that has `k` successors: its first accuracy, and its accuracy after them.
fn first_and_after(matrix: &AccuracyMatrix, k: usize) -> impl Iterator<Item = (f64, f64)> {
    let (first, later) = (matrix.rows().iter(), matrix.rows().iter().skip(k));
    first.zip(later).enumerate().map(|(task, (first, later))| (first[task], later[task]))
}

/// The sum of the later accuracies over the sum of the first; `None` if the latter is 0.
fn ratio_of_sums(first_and_later: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (first, later) = first_and_later.fold((0.0, 0.0), |sums, (first, later)| (sums.0 + first, sums.1 + later));
    (first > 0.0).then(|| later / first)
}

/// `None` for no values: a mean of nothing is not 0.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::accuracy_matrix::tests::{any_matrix, matrix};

    #[track_caller]
    fn assert_near(found: impl Into<Option<f64>>, expected: f64) {
        let found = found.into().unwrap();
        assert!((found - expected).abs() < 1e-8, "{found} is not {expected}");
    }

    fn all(matrix: &AccuracyMatrix) -> Vec<Option<f64>> {
        METRICS.iter().map(|metric| (metric.of)(matrix)).collect()
    }

    /// The 4 tasks of the reference vectors, V10: computed in float64, printed to 8 decimals.
    fn v10() -> AccuracyMatrix {
        matrix([vec![0.9], vec![0.7, 0.8], vec![0.75, 0.85, 0.7], vec![0.5, 0.65, 0.4, 0.6]])
    }

    #[test]
    fn v10_whole_run() {
        assert_near(accuracy(&v10()), 0.5375);
        assert_near(forgetting(&v10()), 0.3);
        assert_near(forgetting_from_first(&v10()), 0.283_333_33);
        assert_near(average_retention_rate(&v10()).value, 0.646_494_71);
        assert_eq!(average_retention_rate(&v10()).left_out, 0);
        // By hand: .5 + .65 + .4 over .9 + .8 + .7.
        assert_near(retention(&v10()), 1.55 / 2.4);
        assert_near(average_incremental_accuracy(&v10()), 0.738_541_67);
        assert_near(backward_transfer(&v10()), -0.283_333_33);
        // A maximum over the tasks of a stage, instead of the stages of a task, would give this.
        for wrong_axis in [forgetting(&v10()), forgetting_from_first(&v10())] {
            assert!((wrong_axis.unwrap() - 0.2625).abs() > 1e-3);
        }
    }

    #[test]
    fn v10_curves() {
        for (k, accuracy, retention) in
            [(0, 0.75, 1.0), (1, 0.65, 0.803_902_12), (2, 0.7, 0.822_916_67), (3, 0.5, 0.555_555_56)]
        {
            assert_near(accuracy_after(&v10(), k), accuracy);
            assert_near(average_retention_rate_after(&v10(), k).value, retention);
        }
        // By hand: .7 + .85 + .4 over .9 + .8 + .7.
        assert_near(retention_after(&v10(), 1), 1.95 / 2.4);
        assert_eq!((accuracy_after(&v10(), 4), retention_after(&v10(), 4)), (None, None));
        assert_eq!(average_retention_rate_after(&v10(), 4), RetentionRate::default());
    }

    /// The paper's own numbers for 19 tasks of CIFAR100, PCR + balanced retrieval (reference
    /// vectors, V10).
    #[test]
    fn v10_pairs_of_the_paper() {
        let mut first = vec![
            0.888, 0.724, 0.772, 0.658, 0.564, 0.662, 0.584, 0.452, 0.538, 0.548, 0.536, 0.340, 0.394, 0.496, 0.376,
            0.580, 0.352, 0.300, 0.428,
        ];
        let mut last = vec![
            0.464, 0.496, 0.548, 0.622, 0.460, 0.664, 0.560, 0.460, 0.536, 0.592, 0.618, 0.376, 0.482, 0.442, 0.496,
            0.552, 0.436, 0.438, 0.550,
        ];
        // V10 gives the last task's final accuracy only, and no stages between: a 1 there would
        // show if it were used.
        first.push(0.2);
        last.push(0.2);
        let between = (0..19).map(|task| [vec![1.0; task], vec![first[task]]].concat());
        let run = matrix(between.chain([last]));

        assert_near(average_retention_rate(&run).value, 1.019_075_96);
        assert_near(forgetting_from_first(&run), 0.021_052_63);
        assert_near(accuracy(&run), 0.4996);
    }

    #[test]
    fn one_task_has_nothing_to_forget_and_none_has_nothing_at_all() {
        assert_eq!(all(&matrix([vec![0.5]])), [Some(0.5), None, None, None, Some(0.5), None]);
        assert_eq!(all(&AccuracyMatrix::new()), [None; 6]);
    }

    #[test]
    fn tasks_never_learned_are_left_out_of_the_papers_rate_and_counted() {
        let run = matrix([vec![0.0], vec![0.3, 0.5], vec![0.2, 0.25, 0.0]]);
        assert_eq!(average_retention_rate(&run), RetentionRate { value: Some(0.5), left_out: 1 });
        assert_eq!(average_retention_rate_after(&run, 0), RetentionRate { value: Some(1.0), left_out: 2 });
        assert_eq!(average_retention_rate_after(&run, 2), RetentionRate { value: None, left_out: 1 });
        assert_eq!((retention(&run), retention_after(&run, 2)), (Some(0.9), None));
    }

    #[test]
    fn a_task_that_began_at_almost_nothing_does_not_make_retention_large() {
        let run = matrix([vec![0.8], vec![0.6, 0.01], vec![0.6, 0.3, 0.5]]);
        assert_near(average_retention_rate(&run).value, 15.375);
        assert_near(retention(&run), 0.9 / 0.81);
    }

    #[test]
    fn a_perfect_run_measures_perfect() {
        for tasks in 2..10 {
            let run = matrix((1..=tasks).map(|seen| vec![1.0; seen]));
            assert_eq!(all(&run), [1.0, 0.0, 0.0, 1.0, 1.0, 0.0].map(Some));
            assert!((0..tasks).all(|k| accuracy_after(&run, k) == Some(1.0)));
            assert!((0..tasks).all(|k| retention_after(&run, k) == Some(1.0)));
        }
    }

    proptest! {
        /// Without tolerance: the best of all stages is at least the first, and rounding keeps the
        /// order of sums.
        #[test]
        fn forgetting_is_at_least_that_from_first(run in any_matrix()) {
            prop_assert!(forgetting(&run) >= forgetting_from_first(&run));
            prop_assert_eq!(backward_transfer(&run), forgetting_from_first(&run).map(|lost| -lost));
        }

        #[test]
        fn metrics_stay_in_their_range(run in any_matrix()) {
            for (metric, value) in METRICS.iter().zip(all(&run)) {
                let range = match metric.name {
                    "retention" => 0.0..=f64::INFINITY,
                    "forgetting_from_first" | "backward_transfer" => -1.0..=1.0,
                    _ => 0.0..=1.0,
                };
                prop_assert!(value.is_none_or(|value| range.contains(&value)), "{}: {value:?}", metric.name);
            }
        }

        #[test]
        fn the_curve_starts_at_the_diagonal_and_ends_at_the_first_task(run in any_matrix()) {
            let tasks = run.tasks_seen();
            let diagonal = (0..tasks).filter_map(|task| run.get(task, task));
            prop_assert_eq!(accuracy_after(&run, 0), mean(diagonal));
            let end = tasks.checked_sub(1).and_then(|k| accuracy_after(&run, k));
            prop_assert_eq!(end, run.rows().last().map(|row| row[0]));
        }
    }
}
