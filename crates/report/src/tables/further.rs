//! What other ways of testing say: task-incremental, inside tasks, and of tasks to come.

use rehearsal_measure::{Better, accuracy, forgetting};

use super::{
    Conditions,
    learned::{Learned, by_group},
};
use crate::{
    run::Run,
    study::Group,
    table::{Cell, Header, Measured, Table},
};

/// A measure that a run may lack.
type Further = (&'static str, Better, fn(&Run) -> Option<f64>);

const FURTHER: [Further; 5] = [
    ("task-incremental accuracy", Better::Higher, |run| accuracy(run.task_incremental.as_ref()?)),
    ("task-incremental forgetting", Better::Lower, |run| forgetting(run.task_incremental.as_ref()?)),
    ("average anytime accuracy", Better::Higher, |run| run.anytime_accuracy),
    ("worst-case accuracy", Better::Higher, |run| run.worst_case_accuracy),
    ("forward transfer", Better::Higher, |run| run.forward_transfer),
];

/// None if no run has any of them.
pub fn table(conditions: &Conditions) -> Option<Table> {
    let is_known = |(_, _, of): &&Further| conditions.groups.iter().any(|group| group.over_seeds(of).is_some());
    let known: Vec<&Further> = FURTHER.iter().filter(is_known).collect();
    let cells = |group: &Group| {
        let cell = |(_, better, of): &&Further| {
            Cell::from(Measured::new(group, group.over_seeds(of), (100.0, 2), Some(*better)))
        };
        known.iter().map(cell).collect()
    };
    let headers = known.iter().map(|(name, better, _)| Header::measure(*name, *better));
    (!known.is_empty()).then(|| {
        by_group(conditions, ("further", "Other ways of testing"), NOTE, &Learned::of(conditions), headers, cells)
    })
}

const NOTE: &str = "Percent, mean ± sample standard deviation over seeds. Task-incremental: each test image is classified among the classes of \
    its task alone. Average anytime accuracy is the mean over all tests, inside tasks and after them; worst-case accuracy the mean over tasks \
    of the lowest accuracy in any test since the task was learned (`test-every`). Forward transfer is the accuracy on tasks before they \
    are learned, above guessing, where all their classes have appeared.";
