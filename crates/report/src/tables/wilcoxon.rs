//! The supplement's Wilcoxon test: balanced retrieval against the others, over data sets and seeds.

use rehearsal_measure::holm;

use super::Conditions;
use crate::{
    arm::{Arm, labels},
    pairs::{Pair, p_text, pairs, test},
    paper::{self, Shown},
    run::Run,
    table::{Cell, Header, Row, Table},
};

pub fn table(conditions: &Conditions) -> Option<Table> {
    let comparisons = comparisons(conditions);
    let mut rows: Vec<Row> =
        comparisons.iter().map(|one| Row { label: one.label.clone(), begins_part: false, cells: Vec::new() }).collect();
    for shown in Shown::ALL {
        let tests: Vec<_> = comparisons.iter().map(|one| test(&one.pairs, shown.measure())).collect();
        let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
        for (((row, one), test), adjusted) in rows.iter_mut().zip(&comparisons).zip(&tests).zip(adjusted) {
            let runs: Vec<_> = one.pairs.iter().flat_map(Pair::paths).collect();
            let kind = if test.exact { "exact" } else { "normal" };
            let printed = one.paper_method.and_then(|method| paper::wilcoxon(method, shown));
            row.cells.extend([
                Cell::text(format!("{}", test.n), runs.clone()),
                Cell::text(format!("{} / {}", test.positive, test.negative), runs.clone()),
                Cell::text(format!("{} ({kind})", p_text(test.p)), runs.clone()),
                Cell::text(p_text(adjusted), runs),
                Cell::text(printed.map_or(String::new(), |p| format!("{p:.4}")), Vec::new()),
            ]);
        }
    }
    let parts = ["n", "W+ / W−", "p", "p, Holm", "paper's p"];
    let table = Table {
        id: format!("{}wilcoxon", conditions.prefix),
        title: format!("Wilcoxon signed-rank test, two-sided (the paper's supplement): {}", conditions.label),
        notes: vec![
            "Pairs are runs of the same data set and seed; n counts those that differ. With n pairs no p-value is below 2/2ⁿ: the paper's six \
             data sets alone cannot give less than 0.03125. Exact up to 25 pairs without ties, else normal with tie correction. Holm's \
             correction is over the rows."
                .into(),
        ],
        corner: "Comparison".into(),
        headers: vec![
            Shown::ALL.map(|shown| Header::over(shown.short(), parts.len())).to_vec(),
            Shown::ALL.iter().flat_map(|_| parts.map(Header::one)).collect(),
        ],
        rows,
    };
    table.has_runs().then_some(table)
}

/// Balanced retrieval against another, with the same method.
pub(super) struct Comparison<'a> {
    pub(super) label: String,
    pub(super) other: &'a Arm,
    /// The method, if this is a comparison that the paper makes over data sets.
    paper_method: Option<&'a str>,
    /// The other first, so that a positive difference is in favour of balanced retrieval.
    pub(super) pairs: Vec<Pair<'a>>,
}

/// Of every method that was run balanced, against everything else of that method that shares a data
/// set and a seed.
pub(super) fn comparisons<'a>(conditions: &Conditions<'a>) -> Vec<Comparison<'a>> {
    let runs = |arm: &Arm| -> Vec<&'a Run> {
        conditions.groups.iter().filter(|group| group.arm == *arm).flat_map(|group| &group.runs).collect()
    };
    let arms: Vec<&'a Arm> = {
        let mut arms: Vec<&'a Arm> = conditions.groups.iter().map(|group| &group.arm).collect();
        arms.sort();
        arms.dedup();
        arms
    };
    let names = labels(&arms);
    let mut comparisons = Vec::new();
    for (balanced, name) in arms.iter().zip(&names).filter(|(arm, _)| arm.is_balanced()) {
        for (other, other_name) in arms.iter().zip(&names) {
            let pairs = if other.method == balanced.method && other != balanced {
                pairs(&runs(other), &runs(balanced))
            } else {
                Vec::new()
            };
            if !pairs.is_empty() {
                let paper_method = other.is_plain().then_some(other.method.as_str());
                comparisons.push(Comparison { label: format!("{name} vs. {other_name}"), other, paper_method, pairs });
            }
        }
    }
    comparisons
}
