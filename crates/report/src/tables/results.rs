//! Every arm on every data set with every measure, how far it is from its reference, and the test
//! of that: the table that a report begins with. Beside it what runs cost.

use std::{collections::BTreeSet, path::PathBuf};

use rehearsal_measure::{Better, METRICS, Metric, Paired, Wilcoxon, holm};

use super::{Conditions, comparisons::reference};
use crate::{
    arm::{Arm, labels},
    pairs::{Pair, difference, pairs, test},
    protocol::Data,
    run::Run,
    study::Group,
    table::{Against, Cell, Header, Measured, Row, Table},
};

/// The arms that learned some data, in order.
struct Learned<'a> {
    data: &'a Data,
    groups: Vec<&'a Group>,
    names: Vec<String>,
}

impl<'a> Learned<'a> {
    fn of(conditions: &'a Conditions<'a>) -> Vec<Self> {
        let learned = |data: &'a Data| {
            let mut groups: Vec<&Group> =
                conditions.groups.iter().copied().filter(|group| group.data == *data).collect();
            groups.sort_by_key(|group| &group.arm);
            let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
            Self { data, groups, names }
        };
        conditions.data().into_iter().map(learned).collect()
    }

    /// The pairs of each arm with its reference; none for one that has no reference here.
    fn pairs(&self) -> Vec<Vec<Pair<'a>>> {
        let arms: Vec<&Arm> = self.groups.iter().map(|group| &group.arm).collect();
        let of = |group: &&'a Group| {
            let reference = reference(&group.arm, &arms)?;
            let other = self.groups.iter().find(|other| other.arm == *reference)?;
            Some(pairs(&other.runs.iter().collect::<Vec<_>>(), &group.runs.iter().collect::<Vec<_>>()))
        };
        self.groups.iter().map(|group| of(group).unwrap_or_default()).collect()
    }
}

/// All measures.
pub fn table(conditions: &Conditions) -> Table {
    let learned = Learned::of(conditions);
    let mut rows = Vec::new();
    for one in &learned {
        let pairs = one.pairs();
        let columns: Vec<Vec<Cell>> = METRICS.iter().map(|metric| column(metric, &one.groups, &pairs)).collect();
        for (i, (group, name)) in one.groups.iter().zip(&one.names).enumerate() {
            let mut row = first_cells(group, name, one.data, &learned, i);
            row.cells.extend(columns.iter().map(|column| column[i].clone()));
            rows.push(row);
        }
    }
    let measures = METRICS.iter().map(|metric| Header::measure(metric.name.replace('_', " "), metric.better));
    let mut table = Table {
        id: format!("{}results", conditions.prefix),
        title: format!("Every measure{}: {}", on(&learned), conditions.label),
        notes: vec![reading(conditions)],
        corner: "Method".into(),
        headers: vec![first_headers(&learned).into_iter().chain(measures).collect()],
        rows,
    };
    mark_best(&mut table, &learned);
    table
}

fn reading(conditions: &Conditions) -> String {
    let mut reading =
        String::from("Percent, mean ± sample standard deviation over seeds. Best of its data set in bold.");
    let arms = conditions.arms();
    let references: BTreeSet<String> = arms.iter().filter_map(|arm| reference(arm, &arms)).map(Arm::label).collect();
    if !references.is_empty() {
        let references = references.into_iter().collect::<Vec<_>>().join(", ");
        reading.push_str(&format!(
            " Under or behind it: the mean difference in points from the same method replaying at random, or else from the first that does \
             ({references}), over pairs of the same seed and order of classes, with its 95 % interval (Student's t); its size d in \
             standard deviations of differences; Wilcoxon's p (exact up to 50 pairs), and p after Holm's correction over the column \
             where that differs."
        ));
    }
    reading
}

/// The cells of a measure, one per group, with their differences from the reference.
fn column(metric: &Metric, groups: &[&Group], pairs: &[Vec<Pair>]) -> Vec<Cell> {
    let tested = |pairs: &Vec<Pair>| Some((difference(pairs, metric.of)?, test(pairs, metric.of)));
    let tests: Vec<Option<(Paired, Wilcoxon)>> = pairs.iter().map(tested).collect();
    let mut adjusted = holm(&tests.iter().flatten().map(|(_, test)| test.p).collect::<Vec<_>>()).into_iter();
    let cell = |(group, tested): (&&Group, &Option<(Paired, Wilcoxon)>)| {
        let Some(mut measured) = Measured::new(group, group.of_matrix(metric.of), 100.0, Some(metric.better)) else {
            return Cell::Missing { unfinished: 0, paper: None };
        };
        measured.against = tested
            .as_ref()
            .map(|(difference, test)| Against::new(difference, 100.0, test.p, adjusted.next().unwrap_or(1.0)));
        Cell::Measured(measured)
    };
    groups.iter().zip(&tests).map(cell).collect()
}

/// A measure that is not of the accuracy matrix: its name, unit per stored value, digits, and which
/// way is better.
type Cost = (&'static str, f64, usize, Better, fn(&Run) -> Option<f64>);

const COSTS: [Cost; 3] = [
    ("seconds", 1.0, 1, Better::Lower, |run| run.seconds),
    ("samples/s", 1.0, 1, Better::Higher, |run| run.samples_per_second),
    ("peak memory, MiB", 1.0 / 1_048_576.0, 0, Better::Lower, |run| run.peak_memory_bytes.map(|bytes| bytes as f64)),
];

/// Time and memory.
pub fn costs(conditions: &Conditions) -> Table {
    let learned = Learned::of(conditions);
    let mut rows = Vec::new();
    for one in &learned {
        for (i, (group, name)) in one.groups.iter().zip(&one.names).enumerate() {
            let mut row = first_cells(group, name, one.data, &learned, i);
            row.cells.extend(COSTS.iter().map(|&(_, scale, decimals, better, of)| {
                Measured::new(group, group.over_seeds(of), scale, Some(better))
                    .map_or(Cell::Missing { unfinished: 0, paper: None }, |measured| {
                        Cell::Measured(Measured { decimals, ..measured })
                    })
            }));
            rows.push(row);
        }
    }
    let costs = COSTS.iter().map(|&(name, _, _, better, _)| Header::measure(name, better));
    let mut table = Table {
        id: format!("{}costs", conditions.prefix),
        title: format!("Time and memory{}: {}", on(&learned), conditions.label),
        notes: vec![
            "Mean ± sample standard deviation over seeds. Time and memory are those of the machines that ran it: they compare only if \
             the machine was the same and had nothing else to do."
                .into(),
        ],
        corner: "Method".into(),
        headers: vec![first_headers(&learned).into_iter().chain(costs).collect()],
        rows,
    };
    mark_best(&mut table, &learned);
    table
}

/// The data set in words, where it is one: several stand in a column.
fn on(learned: &[Learned]) -> String {
    match learned {
        [one] => format!(" on {}", one.data.label()),
        _ => String::new(),
    }
}

/// The data set, where there are several, and the seeds.
fn first_headers(learned: &[Learned]) -> Vec<Header> {
    let data = (learned.len() > 1).then(|| Header::one("data set"));
    data.into_iter().chain([Header::one("seeds")]).collect()
}

fn first_cells(group: &Group, name: &str, data: &Data, learned: &[Learned], place: usize) -> Row {
    let runs: Vec<PathBuf> = group.paths().map(Into::into).collect();
    let data = (learned.len() > 1).then(|| Cell::text(data.label(), Vec::new()));
    let seeds = Cell::text(group.runs.len().to_string(), runs);
    Row { label: name.into(), begins_part: place == 0, cells: data.into_iter().chain([seeds]).collect() }
}

/// Data sets are not compared with each other.
fn mark_best(table: &mut Table, learned: &[Learned]) {
    let mut from = 0;
    for one in learned {
        table.mark_best_of_columns_in(from..from + one.groups.len());
        from += one.groups.len();
    }
}
