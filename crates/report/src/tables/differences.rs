//! How far every arm is from its reference in every measure, on every data set, with tests.

use rehearsal_measure::METRICS;

use super::{
    Conditions,
    comparisons::against,
    learned::{Learned, first_cells, first_headers, measure_headers, on},
};
use crate::{
    pairs::{Pair, paths},
    table::{Cell, Row, Table},
    text::NONE,
};

/// None if no arm has a reference.
pub fn table(conditions: &Conditions) -> Option<Table> {
    let learned = Learned::of(conditions);
    let mut rows = Vec::new();
    for one in &learned {
        let compared = one.pairs();
        let pairs: Vec<&[Pair]> = compared.iter().map(|(.., pairs)| &pairs[..]).collect();
        let columns: Vec<_> = METRICS.iter().map(|metric| against(&pairs, metric.of)).collect();
        for (i, (arm, other, pairs)) in compared.iter().enumerate() {
            let cell = |column: &Vec<_>| match column[i] {
                Some(against) => Cell::Difference { against, runs: paths(pairs) },
                None => Cell::plain(NONE),
            };
            let first = first_cells(&learned, one.data, pairs.len(), paths(pairs));
            rows.push(Row {
                label: format!("{} vs. {}", one.names[*arm], one.names[*other]),
                begins_part: i == 0,
                cells: first.into_iter().chain(columns.iter().map(cell)).collect(),
            });
        }
    }
    let title = format!("Differences from random retrieval{}: {}", on(&learned), conditions.label);
    let headers = first_headers(&learned, "pairs").into_iter().chain(measure_headers());
    Table::new((conditions.id("differences"), title), vec![NOTE.into()], "Comparison", headers, rows).if_any_runs()
}

const NOTE: &str = "In percentage points: the mean difference from the same method with random retrieval, or else from the first method with \
    random retrieval, over pairs of the same seed and order of classes, with its 95 % interval (Student's t); the effect size d in \
    standard deviations of differences; Wilcoxon's p (two-sided, exact up to 50 pairs); and p after Holm's correction over the column, \
    if that differs.";
