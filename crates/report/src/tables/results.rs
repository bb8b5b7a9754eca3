//! Every arm on every data set with every measure: the table that a report begins with.

use rehearsal_measure::METRICS;

use super::{
    Conditions,
    learned::{Learned, first_headers, mark_best, on, rows},
};
use crate::{
    study::Group,
    table::{Cell, Header, Measured, Table},
};

pub fn table(conditions: &Conditions) -> Table {
    let learned = Learned::of(conditions);
    let cells = |group: &Group| {
        let cell = |metric: &rehearsal_measure::Metric| {
            Measured::new(group, group.of_matrix(metric.of), 100.0, Some(metric.better))
                .map_or(Cell::Missing { unfinished: 0, paper: None }, Cell::Measured)
        };
        METRICS.iter().map(cell).collect()
    };
    let measures = METRICS.iter().map(|metric| Header::measure(metric.name.replace('_', " "), metric.better));
    let mut table = Table {
        id: format!("{}results", conditions.prefix),
        title: format!("Every measure{}: {}", on(&learned), conditions.label),
        notes: vec!["Percent, mean ± sample standard deviation over seeds. Best of its data set in bold.".into()],
        corner: "Method".into(),
        headers: vec![first_headers(&learned, "seeds").into_iter().chain(measures).collect()],
        rows: rows(&learned, cells),
    };
    mark_best(&mut table, &learned);
    table
}
