//! What arms reach in how much time: more epochs of a cheap arm beside fewer of a dear one.
//!
//! Other tables compare arms under the same conditions, which for an arm with dear steps means more
//! time. Here arms stand side by side with every number of epochs that they were run for, and each is
//! compared with replay at random at about the same time.

use std::collections::BTreeSet;

use rehearsal_measure::{AccuracyMatrix, Better, OverSeeds, Paired, accuracy, forgetting, holm};

use super::comparisons::reference;
use crate::{
    arm::{Arm, labels},
    pairs::{Pair, difference, pairs, test},
    protocol::{Data, Protocol, epochs_text},
    run::Run,
    slug,
    study::{Group, Study},
    table::{Against, Cell, Header, Measured, Row, Table},
};

/// One table for each data set that was learned in more or fewer epochs.
pub fn tables(study: &Study) -> Vec<Table> {
    let sets = study.by_epochs();
    let data: Vec<&Data> = sets.iter().map(|(_, data, _)| *data).collect();
    let among: Vec<Protocol> = sets.iter().map(|(protocol, ..)| protocol.clone()).collect();
    let mut tables: Vec<Table> = Vec::new();
    for (protocol, learned, groups) in &sets {
        let mut id = format!("{}by-time-{}", protocol.prefix(), slug(learned, &data));
        if tables.iter().any(|table| table.id == id) {
            id = format!("{id}-p{}", tables.len() + 1);
        }
        let title = format!("Accuracy for the time on {}: {}", learned.label(), protocol.label(&among));
        tables.push(table(id, title, groups));
    }
    tables
}

/// An arm at some number of epochs beside replay at random that took about as long.
struct Beside<'a> {
    other: &'a Group,
    /// How long the other took, in times of the arm's own.
    times: f64,
    pairs: Vec<Pair<'a>>,
}

fn table(id: String, title: String, groups: &[&Group]) -> Table {
    let mut groups = groups.to_vec();
    groups.sort_by(|a, b| a.arm.cmp(&b.arm).then(epochs(a).total_cmp(&epochs(b))));
    let arms: Vec<&Arm> = groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect();
    let names = labels(&arms);
    let name = |group: &Group| {
        let place = arms.iter().position(|arm| **arm == group.arm);
        format!("{}, {}", place.map_or("", |place| &names[place]), epochs_text(epochs(group)))
    };
    let beside: Vec<Option<Beside>> = groups.iter().map(|group| beside(group, &groups, &arms)).collect();
    let tested = |one: &Option<Beside>| {
        let pairs = &one.as_ref()?.pairs;
        Some((difference(pairs, accuracy)?, test(pairs, accuracy).p))
    };
    let tests: Vec<Option<(Paired, f64)>> = beside.iter().map(tested).collect();
    let mut adjusted = holm(&tests.iter().flatten().map(|(_, p)| *p).collect::<Vec<_>>()).into_iter();
    let mut rows = Vec::new();
    for (i, (group, beside)) in groups.iter().zip(&beside).enumerate() {
        let runs: Vec<_> = group.paths().map(Into::into).collect();
        let mut cells = vec![Cell::text(group.runs.len().to_string(), runs)];
        cells.extend(measures(group));
        match (beside, &tests[i]) {
            (Some(Beside { other, times, pairs }), Some((difference, p))) => {
                let runs = pairs.iter().flat_map(Pair::paths).collect();
                let against = Against::new(difference, 100.0, *p, adjusted.next().unwrap_or(1.0));
                cells.push(Cell::text(format!("{} ({times:.2} × its time)", name(other)), Vec::new()));
                cells.push(Cell::text(pairs.len().to_string(), Vec::new()));
                cells.push(Cell::Difference { against, runs });
            }
            _ => cells.extend([0; 3].map(|_| Cell::text("", Vec::new()))),
        }
        let begins_part = i == 0 || groups[i - 1].arm != group.arm;
        rows.push(Row { label: name(group), begins_part, cells });
    }
    let own =
        [("steps", None), ("minutes", None), ("accuracy", Some(Better::Higher)), ("forgetting", Some(Better::Lower))];
    let own = own.map(|(text, better)| Header { better, ..Header::one(text) });
    let others = ["replay at random in about the same time", "pairs", "difference of accuracy"].map(Header::one);
    let mut table = Table {
        id,
        title,
        notes: vec![NOTE.into()],
        corner: "Method".into(),
        headers: vec![std::iter::once(Header::one("seeds")).chain(own).chain(others).collect()],
        rows,
    };
    table.mark_best_of_columns();
    table
}

const NOTE: &str = "Accuracy and forgetting in percent, mean ± sample standard deviation over seeds. Each arm that does not replay at random \
    stands beside the same method replaying at random, for whatever number of epochs took about as long; over pairs of the same seed and \
    order of classes, in points, with the 95 % interval (Student's t), the size d, Wilcoxon's p, and p after Holm's correction where \
    that differs. Minutes are of learning and testing: they compare only if the machine was the same and had nothing else to do.";

fn epochs(group: &Group) -> f64 {
    group.protocol.epochs().unwrap_or(0.0)
}

fn minutes(run: &Run) -> Option<f64> {
    run.seconds.map(|seconds| seconds / 60.0)
}

fn measures(group: &Group) -> [Cell; 4] {
    let steps = group.over_seeds(|run| run.steps.map(|steps| steps as f64));
    let plain = |value, decimals| Measured::new(group, value, 1.0, None).map(|one| Measured { decimals, ..one });
    let shown = |measure: fn(&AccuracyMatrix) -> Option<f64>, better| {
        Measured::new(group, group.of_matrix(measure), 100.0, Some(better))
    };
    [
        plain(steps.map(|steps| OverSeeds { deviation: None, ..steps }), 0),
        plain(group.over_seeds(minutes), 2),
        shown(accuracy, Better::Higher),
        shown(forgetting, Better::Lower),
    ]
    .map(|measured| measured.map_or(Cell::text("–", Vec::new()), Cell::Measured))
}

/// The same method replaying at random in about the same time; none for that itself, or where times
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
