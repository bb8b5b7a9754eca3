//! How far arms differ over data sets and seeds, how surely, and what so many pairs could show; with
//! the supplement's Wilcoxon test.

use rehearsal_measure::{Paired, Wilcoxon, holm};

use super::{
    Conditions,
    comparisons::{Comparison, comparisons},
};
use crate::{
    pairs::{Pair, difference, p_text, test},
    paper::{self, Shown},
    table::{Cell, Header, Row, Table, signed},
};

pub fn table(conditions: &Conditions) -> Option<Table> {
    let comparisons = comparisons(&conditions.groups);
    let mut rows: Vec<Row> = Vec::new();
    for shown in Shown::ALL {
        let tests: Vec<_> = comparisons.iter().map(|one| test(&one.pairs, shown.measure())).collect();
        let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
        for (i, ((one, test), adjusted)) in comparisons.iter().zip(&tests).zip(adjusted).enumerate() {
            let Some(difference) = difference(&one.pairs, shown.measure()) else { continue };
            let mut row = row(one, shown, &difference, test, adjusted);
            row.begins_part = i == 0;
            if conditions.paper {
                row.cells.push(printed(one, shown));
            }
            rows.push(row);
        }
    }
    let mut headers: Vec<Header> = HEADERS.map(Header::one).to_vec();
    if conditions.paper {
        headers.push(Header::one("paper's p"));
    }
    let table = Table {
        id: format!("{}tests", conditions.prefix),
        title: format!("Differences over data sets and seeds, and their tests: {}", conditions.label),
        notes: vec![NOTE.into()],
        corner: "Comparison".into(),
        headers: vec![headers],
        rows,
    };
    table.has_runs().then_some(table)
}

const HEADERS: [&str; 9] =
    ["pairs", "difference", "95 % by t", "95 % by bootstrap", "effect d", "not seen below", "W+ / W−", "p", "p, Holm"];

const NOTE: &str = "In points; pairs are runs of the same data set, seed and order of classes. The intervals of the mean difference \
    are by Student's t and by the percentiles of a bootstrap (10,000 draws, fixed seed), which is too narrow for few pairs. The effect is the \
    mean difference over the standard deviation of differences (Cohen's d). With these pairs and this spread, differences below *not \
    seen below* are not seen 4 times in 5 (two-sided paired t test at 5 %). p is Wilcoxon's signed-rank test, two-sided; pairs that do \
    not differ are dropped, and with n left no p-value is below 2/2ⁿ: six cannot give less than 0.03125. It is exact up to 50, ties \
    included, and normal with tie correction above. Holm's correction is over the comparisons.";

fn row(one: &Comparison, shown: Shown, difference: &Paired, test: &Wilcoxon, adjusted: f64) -> Row {
    let runs: Vec<_> = one.pairs.iter().flat_map(Pair::paths).collect();
    let interval = |interval: Option<[f64; 2]>| {
        interval.map_or("–".into(), |[low, high]| format!("[{}, {}]", points(low), points(high)))
    };
    let pairs =
        if test.n == difference.n { test.n.to_string() } else { format!("{} ({} differ)", difference.n, test.n) };
    let kind = if test.exact { "" } else { " (normal)" };
    let said = [
        pairs,
        points(difference.mean),
        interval(difference.interval),
        interval(difference.bootstrap),
        difference.effect.map_or("–".into(), |effect| signed(effect, 2)),
        difference.detectable.map_or("–".into(), |least| format!("{:.2}", 100.0 * least)),
        format!("{} / {}", test.positive, test.negative),
        format!("{}{kind}", p_text(test.p)),
        p_text(adjusted),
    ];
    Row {
        label: format!("{}: {}", shown.name(), one.label),
        begins_part: false,
        cells: said.into_iter().map(|text| Cell::text(text, runs.clone())).collect(),
    }
}

/// The supplement's p-value, of those that it prints.
fn printed(one: &Comparison, shown: Shown) -> Cell {
    let is_printed = one.is_of_paper() && one.other.is_plain();
    let printed = is_printed.then(|| paper::wilcoxon(&one.other.method, shown)).flatten();
    Cell::text(printed.map_or(String::new(), |p| format!("{p:.4}")), Vec::new())
}

/// A fraction in points, with its sign.
fn points(fraction: f64) -> String {
    signed(100.0 * fraction, 2)
}
