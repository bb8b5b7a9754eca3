//! What runs cost: time and memory.

use rehearsal_measure::Better;

use super::{
    Conditions,
    learned::{Learned, first_headers, mark_best, on, rows},
};
use crate::{
    run::Run,
    study::Group,
    table::{Cell, Header, Measured, Table},
};

/// A measure that is not of the accuracy matrix: its name, unit per stored value, digits, which way
/// is better, and whose it is.
type Cost = (&'static str, f64, usize, Option<Better>, fn(&Run) -> Option<f64>);

const COSTS: [Cost; 4] = [
    ("steps", 1.0, 0, None, |run| run.steps.map(|steps| steps as f64)),
    ("seconds", 1.0, 1, Some(Better::Lower), |run| run.seconds),
    ("samples/s", 1.0, 1, Some(Better::Higher), |run| run.samples_per_second),
    ("peak memory, MiB", 1.0 / 1_048_576.0, 0, Some(Better::Lower), |run| {
        run.peak_memory_bytes.map(|bytes| bytes as f64)
    }),
];

pub fn table(conditions: &Conditions) -> Table {
    let learned = Learned::of(conditions);
    let cells = |group: &Group| {
        let cell = |&(_, scale, decimals, better, of): &Cost| {
            Measured::new(group, group.over_seeds(of), scale, better)
                .map_or(Cell::text("–", Vec::new()), |measured| Cell::Measured(Measured { decimals, ..measured }))
        };
        COSTS.iter().map(cell).collect()
    };
    let costs = COSTS.iter().map(|&(name, _, _, better, _)| Header { better, ..Header::one(name) });
    let mut table = Table {
        id: format!("{}costs", conditions.prefix),
        title: format!("Time and memory{}: {}", on(&learned), conditions.label),
        notes: vec![
            "Mean ± sample standard deviation over seeds. Time and memory are those of the machines that ran it: they compare only if \
             the machine was the same and had nothing else to do."
                .into(),
        ],
        corner: "Method".into(),
        headers: vec![first_headers(&learned, "seeds").into_iter().chain(costs).collect()],
        rows: rows(&learned, cells),
    };
    mark_best(&mut table, &learned);
    table
}
