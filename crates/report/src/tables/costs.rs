//! What runs cost: time and memory.

use rehearsal_measure::Better;

use super::{
    Conditions,
    learned::{Learned, by_group},
};
use crate::{
    run::{MIB, Run},
    study::Group,
    table::{Header, Measured, Table},
};

/// A cost: its name, its unit and digits, which direction is better, and its value in a run.
type Cost = (&'static str, (f64, usize), Option<Better>, fn(&Run) -> Option<f64>);

const COSTS: [Cost; 4] = [
    ("steps", (1.0, 0), None, |run| run.steps.map(|steps| steps as f64)),
    ("seconds", (1.0, 1), Some(Better::Lower), |run| run.seconds),
    ("samples/s", (1.0, 1), Some(Better::Higher), |run| run.samples_per_second),
    ("peak memory, MiB", (1.0 / MIB, 0), Some(Better::Lower), |run| run.peak_memory_bytes.map(|bytes| bytes as f64)),
];

pub fn table(conditions: &Conditions) -> Table {
    let cells = |group: &Group| {
        let cell = |&(_, unit, better, of): &Cost| Measured::new(group, group.over_seeds(of), unit, better).into();
        COSTS.iter().map(cell).collect()
    };
    let headers = COSTS.iter().map(|&(name, _, better, _)| Header::measure(name, better));
    let note =
        "Mean ± sample standard deviation over seeds. Time and memory are comparable only on the same idle machine.";
    by_group(conditions, ("costs", "Time and memory"), note, &Learned::of(conditions), headers, cells)
}
