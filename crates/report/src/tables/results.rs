//! Every arm on every data set with every measure: the first table of a report.

use rehearsal_measure::{METRICS, Metric};

use super::{
    Conditions,
    learned::{Learned, by_group, measure_headers},
};
use crate::{
    study::Group,
    table::{Cell, Measured, Table},
};

pub fn table(conditions: &Conditions) -> Table {
    let cells = |group: &Group| {
        let cell = |metric: &Metric| {
            Measured::new(group, group.of_matrix(metric.of), (100.0, 2), Some(metric.better))
                .map_or(Cell::Missing { unfinished: 0, paper: None }, Cell::Measured)
        };
        METRICS.iter().map(cell).collect()
    };
    let note = "Percent, mean ± sample standard deviation over seeds. The best of each data set is bold.";
    by_group(conditions, ("results", "Every measure"), note, &Learned::of(conditions), measure_headers(), cells)
}
