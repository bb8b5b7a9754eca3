//! What arms reach in how much time: more epochs of a cheap arm against fewer of an expensive one.
//!
//! Other tables compare arms under the same conditions, in which an arm with expensive steps takes more
//! time. This one compares each arm with random retrieval that took about the same time.

use std::collections::BTreeSet;

use rehearsal_measure::{Better, OverSeeds, accuracy};

use super::comparisons::{against, reference};
use crate::{
    arm::{Arm, labels},
    pairs::{Pair, pairs, paths},
    paper::Shown,
    run::Run,
    study::{Group, Study, Varied},
    table::{Cell, Header, Measured, Row, Table},
    text::epochs_text,
};

/// One table for each data set that was run with several numbers of epochs.
pub fn tables(study: &Study) -> Vec<Table> {
    study.by_epochs().iter().map(table).collect()
}

/// Random retrieval that took about as long as an arm.
struct Beside<'a> {
    other: &'a Group,
    /// The time of the other over that of the arm.
    times: f64,
    pairs: Vec<Pair<'a>>,
}

fn table(set: &Varied) -> Table {
    let mut groups = set.groups.clone();
    groups.sort_by(|a, b| a.arm.cmp(&b.arm).then(epochs(a).total_cmp(&epochs(b))));
    let arms: Vec<&Arm> = groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect();
    let names = labels(&arms);
    let name = |group: &Group| {
        let place = arms.iter().position(|arm| **arm == group.arm);
        format!("{}, {}", place.map_or("", |place| &names[place]), epochs_text(epochs(group)))
    };
    let beside: Vec<Option<Beside>> = groups.iter().map(|group| beside(group, &groups, &arms)).collect();
    let compared: Vec<&[Pair]> = beside.iter().map(|one| one.as_ref().map_or(&[][..], |one| &one.pairs)).collect();
    let mut rows = Vec::new();
    for (i, ((group, beside), against)) in groups.iter().zip(&beside).zip(against(&compared, accuracy)).enumerate() {
        let mut cells = vec![Cell::text(group.runs.len().to_string(), group.paths().map(Into::into).collect())];
        cells.extend(measures(group));
        match (beside, against) {
            (Some(Beside { other, times, pairs }), Some(against)) => cells.extend([
                Cell::plain(format!("{} ({times:.2} × its time)", name(other))),
                Cell::plain(pairs.len().to_string()),
                Cell::Difference { against, runs: paths(pairs) },
            ]),
            _ => cells.extend([""; 3].map(Cell::plain)),
        }
        let begins_part = i == 0 || groups[i - 1].arm != group.arm;
        rows.push(Row { label: name(group), begins_part, cells });
    }
    let headers = [
        "seeds",
        "steps",
        "minutes",
        "accuracy",
        "forgetting",
        "random retrieval in about the same time",
        "pairs",
        "difference of accuracy",
    ];
    let better = |name: &str| match name {
        "accuracy" => Some(Better::Higher),
        "forgetting" => Some(Better::Lower),
        _ => None,
    };
    let headers = headers.map(|name| Header::measure(name, better(name)));
    let title = format!("Accuracy for the time on {}: {}", set.data.label(), set.label);
    Table::new((set.id("by-time"), title), vec![NOTE.into()], "Method", headers, rows).with_best_of_columns()
}

const NOTE: &str = "Accuracy and forgetting in percent, mean ± sample standard deviation over seeds. Each arm with another retrieval is compared \
    with the same method with random retrieval, at the number of epochs that took about as long; over pairs of the same seed and \
    order of classes, in percentage points, with the 95 % interval (Student's t), the effect size d, Wilcoxon's p, and p after Holm's \
    correction if that differs. Minutes are of training and testing and comparable only on the same idle machine.";

fn epochs(group: &Group) -> f64 {
    group.protocol.epochs().unwrap_or(0.0)
}

fn minutes(run: &Run) -> Option<f64> {
    run.seconds.map(|seconds| seconds / 60.0)
}

fn measures(group: &Group) -> [Cell; 4] {
    let steps = group.over_seeds(|run| run.steps.map(|steps| steps as f64));
    [
        Measured::new(group, steps.map(|steps| OverSeeds { deviation: None, ..steps }), (1.0, 0), None),
        Measured::new(group, group.over_seeds(minutes), (1.0, 2), None),
        Shown::Accuracy.of(group),
        Shown::Forgetting.of(group),
    ]
    .map(Cell::from)
}

/// The same method with random retrieval in about the same time; none for that arm itself, or if times
/// are not known.
fn beside<'a>(group: &'a Group, groups: &[&'a Group], arms: &[&Arm]) -> Option<Beside<'a>> {
    let reference = reference(&group.arm, arms).filter(|other| other.method == group.arm.method)?;
    let own = group.over_seeds(minutes)?.mean;
    let candidates = groups.iter().filter(|other| other.arm == *reference);
    let timed = candidates.filter_map(|&other| Some((other, other.over_seeds(minutes)?.mean / own)));
    let (other, times) = timed.min_by(|(_, a), (_, b)| a.ln().abs().total_cmp(&b.ln().abs()))?;
    let pairs = pairs(&other.runs.iter().collect::<Vec<_>>(), &group.runs.iter().collect::<Vec<_>>());
    (!pairs.is_empty()).then_some(Beside { other, times, pairs })
}
