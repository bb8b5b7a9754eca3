//! How far every arm is from its reference in every measure, on every data set, and the test of that.

use std::path::PathBuf;

use rehearsal_measure::{METRICS, Metric, Paired, Wilcoxon, holm};

use super::{
    Conditions,
    learned::{Learned, first_cells, first_headers, on},
};
use crate::{
    pairs::{Pair, difference, test},
    table::{Against, Cell, Header, Row, Table},
};

/// None if no arm has a reference.
pub fn table(conditions: &Conditions) -> Option<Table> {
    let learned = Learned::of(conditions);
    let mut rows = Vec::new();
    for one in &learned {
        let compared = one.pairs();
        let pairs: Vec<&[Pair]> = compared.iter().map(|(.., pairs)| &pairs[..]).collect();
        let columns: Vec<Vec<Cell>> = METRICS.iter().map(|metric| column(metric, &pairs)).collect();
        for (i, (arm, other, pairs)) in compared.iter().enumerate() {
            let first = first_cells(&learned, one.data, pairs.len(), runs(pairs));
            rows.push(Row {
                label: format!("{} vs. {}", one.names[*arm], one.names[*other]),
                begins_part: i == 0,
                cells: first.into_iter().chain(columns.iter().map(|column| column[i].clone())).collect(),
            });
        }
    }
    let measures = METRICS.iter().map(|metric| Header::measure(metric.name.replace('_', " "), metric.better));
    let table = Table {
        id: format!("{}differences", conditions.prefix),
        title: format!("Differences from replay at random{}: {}", on(&learned), conditions.label),
        notes: vec![NOTE.into()],
        corner: "Comparison".into(),
        headers: vec![first_headers(&learned, "pairs").into_iter().chain(measures).collect()],
        rows,
    };
    table.has_runs().then_some(table)
}

const NOTE: &str = "In points: the mean difference from the same method replaying at random, or else from the first that does, over pairs of \
    the same seed and order of classes, with its 95 % interval (Student's t); its size d in standard deviations of differences; \
    Wilcoxon's p (two-sided, exact up to 50 pairs), and p after Holm's correction over the column where that differs.";

fn runs(pairs: &[Pair]) -> Vec<PathBuf> {
    pairs.iter().flat_map(Pair::paths).collect()
}

/// The cells of a measure, one per comparison.
fn column(metric: &Metric, compared: &[&[Pair]]) -> Vec<Cell> {
    let tested = |pairs: &&[Pair]| Some((difference(pairs, metric.of)?, test(pairs, metric.of)));
    let tests: Vec<Option<(Paired, Wilcoxon)>> = compared.iter().map(tested).collect();
    let mut adjusted = holm(&tests.iter().flatten().map(|(_, test)| test.p).collect::<Vec<_>>()).into_iter();
    let cell = |(pairs, tested): (&&[Pair], &Option<(Paired, Wilcoxon)>)| match tested {
        Some((difference, test)) => Cell::Difference {
            against: Against::new(difference, 100.0, test.p, adjusted.next().unwrap_or(1.0)),
            runs: runs(pairs),
        },
        None => Cell::text("–", Vec::new()),
    };
    compared.iter().zip(&tests).map(cell).collect()
}
