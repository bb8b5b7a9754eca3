//! How far arms differ over data sets and seeds, how surely, and how small a difference the pairs could
//! show; with the supplement's Wilcoxon test.

use rehearsal_measure::{Paired, Wilcoxon, holm};

use super::{
    Conditions,
    comparisons::{Comparison, comparisons},
};
use crate::{
    pairs::{difference, paired_p_text, paths, test},
    paper::{self, Shown},
    table::{Cell, Header, Row, Table},
    text::{NONE, interval, points, signed},
};

pub fn table(conditions: &Conditions) -> Option<Table> {
    let comparisons = comparisons(&conditions.groups);
    let mut rows: Vec<Row> = Vec::new();
    for shown in Shown::ALL {
        let tests: Vec<_> = comparisons.iter().map(|one| test(&one.pairs, shown.measure())).collect();
        let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
        for (i, ((one, test), adjusted)) in comparisons.iter().zip(&tests).zip(adjusted).enumerate() {
            let Some(difference) = difference(&one.pairs, shown.measure()) else { continue };
            let mut cells = Cell::texts(texts(&difference, test, adjusted), &paths(&one.pairs));
            if conditions.paper {
                cells.push(printed(one, shown));
            }
            rows.push(Row { label: format!("{}: {}", shown.name(), one.label), begins_part: i == 0, cells });
        }
    }
    let paper = conditions.paper.then_some("paper's p");
    let headers = HEADERS.into_iter().chain(paper).map(Header::one);
    let title = format!("Differences over data sets and seeds, and their tests: {}", conditions.label);
    Table::new((conditions.id("tests"), title), vec![NOTE.into()], "Comparison", headers, rows).if_any_runs()
}

const HEADERS: [&str; 9] =
    ["pairs", "difference", "95 % by t", "95 % by bootstrap", "effect d", "detectable", "W+ / W−", "p", "p, Holm"];

const NOTE: &str = "In percentage points; a pair is two runs of the same data set, seed and order of classes. The intervals of the mean \
    difference are by Student's t and by the percentiles of a bootstrap (10,000 draws, fixed seed), which is too narrow for few pairs. The \
    effect is the mean difference over the standard deviation of differences (Cohen's d). *Detectable* is the \
    difference that these pairs with this spread detect 4 times in 5 (two-sided paired t test at 5 %). p is Wilcoxon's signed-rank test, two-sided; \
    pairs without a difference are dropped, and with n left no p-value is below 2/2ⁿ: six cannot give less than 0.03125. It is exact up to \
    50 pairs, ties included, and normal with tie correction above. Holm's correction is over the comparisons.";

fn texts(difference: &Paired, test: &Wilcoxon, adjusted: f64) -> [String; 9] {
    let differ = if test.n == difference.n { String::new() } else { format!(" ({} differ)", test.n) };
    let kind = if test.exact { "" } else { " (normal)" };
    [
        format!("{}{differ}", difference.n),
        points(difference.mean),
        interval(difference.interval),
        interval(difference.bootstrap),
        difference.effect.map_or(NONE.into(), |effect| signed(effect, 2)),
        difference.detectable.map_or(NONE.into(), |least| format!("{:.2}", 100.0 * least)),
        format!("{} / {}", test.positive, test.negative),
        format!("{}{kind}", paired_p_text(difference.n, test.p)),
        paired_p_text(difference.n, adjusted),
    ]
}

/// The supplement's p-value, if it prints one.
fn printed(one: &Comparison, shown: Shown) -> Cell {
    let is_printed = one.is_of_paper() && one.other.is_plain();
    let printed = is_printed.then(|| paper::wilcoxon(&one.other.method, shown)).flatten();
    Cell::plain(printed.map_or(String::new(), |p| format!("{p:.4}")))
}
