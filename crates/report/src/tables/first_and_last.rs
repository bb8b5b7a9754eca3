//! The accuracy of every task just after it was learned, and at the end.

use rehearsal_measure::{AccuracyMatrix, Better, OverSeeds, average_retention_rate, retention};

use super::Conditions;
use crate::{
    arm::labels,
    protocol::Data,
    study::Group,
    table::{Cell, Header, Measured, Row, Table},
};

/// More arms than this do not fit the width of a page: the next table continues.
const MOST_ARMS: usize = 5;

/// The tables of each data set that was learned in tasks.
pub fn tables(conditions: &Conditions) -> Vec<Table> {
    conditions.data().into_iter().flat_map(|data| of_data(conditions, data)).collect()
}

fn of_data(conditions: &Conditions, data: &Data) -> Vec<Table> {
    let groups: Vec<&Group> = conditions.groups_on(data).into_iter().filter(|group| group.tasks() > 1).collect();
    let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
    let parts = groups.chunks(MOST_ARMS).zip(names.chunks(MOST_ARMS)).enumerate();
    parts.map(|(part, (groups, names))| table(conditions, data, part, groups, names)).collect()
}

fn table(conditions: &Conditions, data: &Data, part: usize, groups: &[&Group], names: &[String]) -> Table {
    let tasks = groups.iter().map(|group| group.tasks()).max().unwrap_or(0);
    let task_row =
        |task: usize| row(format!("task {}", task + 1), groups, |matrix| [matrix.get(task, task), last(matrix, task)]);
    let mut rows: Vec<Row> = (0..tasks).map(task_row).collect();
    rows.push(Row { begins_part: true, ..row("mean".into(), groups, means) });
    rows.push(row("retention".into(), groups, |matrix| [None, retention(matrix)]));
    let mut note = String::from(
        "Percent, mean ± sample standard deviation over seeds: accuracy just after the task was learned, and at the end. Retention is \
         the sum of the last over the sum of the first accuracies of all tasks but the newest.",
    );
    if conditions.paper {
        rows.push(row("average retention rate".into(), groups, |matrix| [None, average_retention_rate(matrix).value]));
        note.push_str(" The average retention rate is the paper's: the mean of the ratios of single tasks.");
    }
    let number = if part == 0 { String::new() } else { format!("-{}", part + 1) };
    let id = format!("{}{number}", conditions.id_on("first-and-last", data));
    let title = format!("First and last accuracy on {}: {}", data.label(), conditions.label);
    let headers = groups.iter().flat_map(|_| ["first", "last"].map(|text| Header::measure(text, Better::Higher)));
    let arms = names.iter().map(|name| Header::over(name, 2)).collect();
    Table::new((id, title), vec![note], "Task", headers, rows).under(arms)
}

/// Two cells for every group, empty if there is nothing to measure.
fn row(label: String, groups: &[&Group], of: impl Fn(&AccuracyMatrix) -> [Option<f64>; 2]) -> Row {
    let cell = |group: &Group, value: Option<OverSeeds>| {
        Measured::new(group, value, (100.0, 1), None).map_or(Cell::plain(""), Cell::Measured)
    };
    let cells = |group: &&Group| [0, 1].map(|i| cell(group, group.of_matrix(|matrix| of(matrix)[i])));
    Row { label, begins_part: false, cells: groups.iter().flat_map(cells).collect() }
}

fn last(matrix: &AccuracyMatrix, task: usize) -> Option<f64> {
    matrix.get(matrix.tasks_seen().checked_sub(1)?, task)
}

/// The means over all tasks of the first and of the last accuracies.
fn means(matrix: &AccuracyMatrix) -> [Option<f64>; 2] {
    let mean = |of: &dyn Fn(usize) -> Option<f64>| {
        let values: Vec<f64> = (0..matrix.tasks_seen()).filter_map(of).collect();
        OverSeeds::from_values(&values).map(|over| over.mean)
    };
    [mean(&|task| matrix.get(task, task)), mean(&|task| last(matrix, task))]
}
