//! Every group with every measure: one table per data set.

use rehearsal_measure::{Better, METRICS};

use super::Conditions;
use crate::{
    arm::labels,
    run::Run,
    study::Group,
    table::{Cell, Header, Measured, Row, Table},
};

/// A measure that is not of the accuracy matrix: its name, unit per stored value, digits, and which
/// way is better.
type Cost = (&'static str, f64, usize, Option<Better>, fn(&Run) -> Option<f64>);

const COSTS: [Cost; 3] = [
    ("seconds", 1.0, 1, Some(Better::Lower), |run| run.seconds),
    ("samples/s", 1.0, 1, Some(Better::Higher), |run| run.samples_per_second),
    ("peak memory, MiB", 1.0 / 1_048_576.0, 0, Some(Better::Lower), |run| {
        run.peak_memory_bytes.map(|bytes| bytes as f64)
    }),
];

pub fn tables(conditions: &Conditions) -> Vec<Table> {
    let mut tables = Vec::new();
    for data in conditions.data() {
        let groups: Vec<&Group> = conditions.groups.iter().copied().filter(|group| group.data == *data).collect();
        let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
        let rows = groups.iter().zip(names).map(|(group, label)| row(group, label));
        let measures = METRICS.iter().map(|metric| Header::measure(metric.name.replace('_', " "), metric.better));
        let costs = COSTS.iter().map(|&(name, _, _, better, _)| Header { better, ..Header::one(name) });
        let mut table = Table {
            id: format!("{}all-{}", conditions.prefix, super::super::slug(data, &conditions.data())),
            title: format!("Every measure on {}: {}", data.label(), conditions.label),
            notes: vec![
                "Measures in percent, mean ± sample standard deviation over seeds. Time and memory are those of the machines that ran it: \
                 they compare only if the machine was the same and had nothing else to do."
                    .into(),
            ],
            corner: "Method".into(),
            headers: vec![std::iter::once(Header::one("seeds")).chain(measures).chain(costs).collect()],
            rows: rows.collect(),
        };
        table.mark_best_of_columns();
        tables.push(table);
    }
    tables
}

fn row(group: &Group, label: String) -> Row {
    let seeds = group.runs.iter().map(|run| run.seed.to_string()).collect::<Vec<_>>().join(", ");
    let seeds = Cell::text(seeds, group.paths().map(Into::into).collect());
    let cell =
        |measured: Option<Measured>| measured.map_or(Cell::Missing { unfinished: 0, paper: None }, Cell::Measured);
    let measures =
        METRICS.iter().map(|metric| cell(Measured::new(group, group.of_matrix(metric.of), 100.0, Some(metric.better))));
    let costs = COSTS.iter().map(|&(_, scale, decimals, better, of)| {
        cell(
            Measured::new(group, group.over_seeds(of), scale, better).map(|measured| Measured { decimals, ..measured }),
        )
    });
    Row { label, begins_part: false, cells: std::iter::once(seeds).chain(measures).chain(costs).collect() }
}
