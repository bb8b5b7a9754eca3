//! The table at the end of a run.

use std::{fmt::Write, path::Path};

use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{Recalibrations, Record};

use rehearsal_data::printable;

use super::percent;

/// A matrix of more tasks does not fit a narrow terminal: then each task gets one line.
const WIDEST_MATRIX: usize = 9;

/// The accuracy matrix, the measures, the time, and where the files are.
pub fn summary(record: &Record, directory: &Path) -> String {
    let mut text = String::new();
    let matrix = &record.matrix;
    if matrix.tasks_seen() <= WIDEST_MATRIX {
        square(matrix, &mut text);
    } else {
        tall(matrix, &mut text);
    }
    line(&mut text, "");
    measures(record, &mut text);
    further(record, &mut text);
    if let Some(recalibration) = &record.recalibration {
        line(&mut text, "");
        line(&mut text, &statistics(recalibration, record.recalibrated.is_some()));
    }
    if !record.incomplete_data.is_empty() {
        line(&mut text, "");
        record.incomplete_data.iter().for_each(|part| line(&mut text, &format!("only a part of the data: {part}")));
    }
    let seconds = record.seconds.total;
    line(&mut text, "");
    line(&mut text, &format!("{} steps in {seconds:.1} s, {:.0} samples/s", record.steps, record.samples_per_second));
    line(&mut text, &format!("files: {}", directory.display()));
    text
}

/// A line for each measure: with its meaning, or with its recalibrated value.
fn measures(record: &Record, text: &mut String) {
    let plain = [
        ("accuracy", record.accuracy, "mean over all tasks at the end"),
        ("forgetting", record.forgetting, "from each task's best to its last"),
        ("forgetting from first", record.forgetting_from_first, "from each task's first to its last"),
        ("retention", record.retention, "share of the tasks' first accuracies kept"),
        ("average incremental accuracy", record.average_incremental_accuracy, "mean over all stages"),
        ("backward transfer", record.backward_transfer, "gain on earlier tasks"),
    ];
    let Some(again) = &record.recalibrated else {
        for (name, value, meaning) in plain {
            line(text, &format!("{name:<29}{:>6} %  {meaning}", percent(value)));
        }
        return;
    };
    let again = [
        again.accuracy,
        again.forgetting,
        again.forgetting_from_first,
        again.retention,
        again.average_incremental_accuracy,
        again.backward_transfer,
    ];
    line(text, &format!("{:<29}{:>8}{:>14}", "", "plain", "recalibrated"));
    for ((name, value, _), again) in plain.into_iter().zip(again) {
        line(text, &format!("{name:<29}{:>6} %{:>12} %", percent(value), percent(again)));
    }
}

/// What other ways of testing say, if they were used.
fn further(record: &Record, text: &mut String) {
    let in_task = record.task_incremental.as_ref().map(|measures| measures.accuracy);
    let anytime = record.anytime.as_ref();
    let further = [
        ("task-incremental accuracy", in_task, "the same, among the classes of each task"),
        ("average anytime accuracy", anytime.map(|tests| tests.average_accuracy), "mean over all tests"),
        ("worst-case accuracy", anytime.map(|tests| tests.worst_case_accuracy), "of each task, since it was learned"),
        ("forward transfer", record.forward_transfer.map(Some), "on tasks to come, above guessing"),
    ];
    for (name, value, meaning) in further {
        // Beside recalibrated measures there is no room for meanings: these are plain.
        let meaning = if record.recalibrated.is_some() { "" } else { meaning };
        if let Some(value) = value {
            line(text, &format!("{name:<29}{:>6} %  {meaning}", percent(value)));
        }
    }
}

/// What was recalibrated, in words.
fn statistics(Recalibrations { images, why_not }: &Recalibrations, beside: bool) -> String {
    let what = if beside { "recalibrated" } else { "tested" };
    match (images.last().copied().flatten(), why_not) {
        (Some(images), _) => format!("{what}: BatchNorm statistics of {images} images in memory"),
        (None, Some(why)) => why.clone(),
        (None, None) => "nothing was recalibrated".to_owned(),
    }
}

/// Rows: after each task; columns: the tasks.
fn square(matrix: &AccuracyMatrix, text: &mut String) {
    line(text, "accuracy in %");
    let header: String = (1..=matrix.tasks_seen()).map(|task| format!("{:>7}", format!("task {task}"))).collect();
    line(text, &format!("{:<9}{header}", ""));
    for (after, row) in matrix.rows().iter().enumerate() {
        let cells: String = row.iter().map(|&accuracy| format!("{:>7}", percent(Some(accuracy)))).collect();
        line(text, &format!("{:<9}{cells}", format!("after {}", after + 1)));
    }
}

/// One line per task: when it was new, at its best, at the end.
fn tall(matrix: &AccuracyMatrix, text: &mut String) {
    line(text, "accuracy in %    first   best   last");
    let tasks = matrix.tasks_seen();
    for task in 0..tasks {
        let at = |after: usize| matrix.get(after, task).unwrap_or(0.0);
        let best = (task..tasks).map(at).fold(0.0, f64::max);
        let cells: String =
            [at(task), best, at(tasks - 1)].map(|accuracy| format!("{:>7}", percent(Some(accuracy)))).concat();
        line(text, &format!("{:<15}{cells}", format!("task {}", task + 1)));
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", printable(line.trim_end())).expect("a string takes all");
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_result_says_does_not_reach_the_terminal_raw() {
        let mut text = String::new();
        super::line(&mut text, "only a part of the data: \x1b[2J");
        assert_eq!(text, "only a part of the data: \\u{1b}[2J\n");
    }
}
