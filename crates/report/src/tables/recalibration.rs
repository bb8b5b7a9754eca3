//! What re-estimating the norm's statistics from the memory changes: the accuracy of every arm, and
//! how steadily arms differ.

use std::path::Path;

use rehearsal_measure::{Paired, accuracy, forgetting};

use super::comparisons::{Comparison, comparisons};
use crate::{
    arm::labels,
    pairs::{Pair, difference, differences, p_text, test},
    protocol::{AS_TRAINED, Protocol, REESTIMATED},
    study::{Group, Study},
    table::{Cell, Header, Row, Table, signed},
};

/// One of arms and one of their differences, for each protocol whose runs were tested with either.
pub fn tables(study: &Study) -> Vec<Table> {
    let protocols = study.protocols();
    let twins = protocols.iter().filter(|protocol| !protocol.is_reestimated()).filter_map(|plain| {
        let is_twin = |other: &&Protocol| other.is_reestimated() && other.but_statistics() == plain.but_statistics();
        Some((plain, protocols.iter().find(is_twin)?))
    });
    let rest: Vec<Protocol> = protocols.iter().map(Protocol::but_statistics).collect();
    let mut tables = Vec::new();
    for (i, (plain, reestimated)) in twins.enumerate() {
        let number = if i == 0 { String::new() } else { format!("-p{}", i + 1) };
        let label = plain.but_statistics().label(&rest);
        tables.extend(arms(study, [plain, reestimated], &number, &label));
        tables.extend(steadiness(study, [plain, reestimated], &number, &label));
    }
    tables
}

/// Every arm with either statistics, and the difference, run by run; none if no run has both.
fn arms(study: &Study, [plain, reestimated]: [&Protocol; 2], number: &str, label: &str) -> Option<Table> {
    let again = study.of_protocol(reestimated);
    let groups: Vec<&Group> = study.of_protocol(plain);
    let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
    let several = groups.iter().any(|group| group.data != groups[0].data);
    let mut rows = Vec::new();
    for (group, name) in groups.iter().zip(names) {
        let twin = again.iter().find(|other| other.arm == group.arm && other.data == group.data);
        let pairs: Vec<Pair> = twin.map_or(Vec::new(), |twin| same_runs(group, twin));
        let Some(change) = difference(&pairs, accuracy) else { continue };
        let runs: Vec<_> = pairs.iter().map(|pair| pair.first.path.clone()).collect();
        let gained = differences(&pairs, accuracy).iter().filter(|&&gain| gain > 0.0).count();
        let mut cells = vec![
            pairs.len().to_string(),
            over(&pairs, |pair| accuracy(&pair.first.matrix)),
            over(&pairs, |pair| accuracy(&pair.second.matrix)),
            points(change.mean),
            interval(&change),
            p_text(test(&pairs, accuracy).p),
            format!("{gained} of {}", pairs.len()),
            difference(&pairs, forgetting).map_or("–".into(), |change| points(change.mean)),
        ];
        if several {
            cells.insert(0, group.data.label());
        }
        let cells = cells.into_iter().map(|text| Cell::text(text, runs.clone())).collect();
        rows.push(Row { label: name, begins_part: false, cells });
    }
    let headers = ["runs", "as trained", "re-estimated", "difference", "95 % by t", "p", "gained", "forgetting"];
    let data = several.then(|| Header::one("data set"));
    let table = Table {
        id: format!("recalibration{number}"),
        title: format!("Accuracy with the norm's {AS_TRAINED}, and {REESTIMATED}: {label}"),
        notes: vec![
            "Percent and points, mean ± sample standard deviation over seeds. The same networks, tested twice: only the statistics of their \
             norm layers differ. p is Wilcoxon's over runs; *gained* counts runs whose accuracy rose; *forgetting* is its mean difference."
                .into(),
        ],
        corner: "Method".into(),
        headers: vec![data.into_iter().chain(headers.map(Header::one)).collect()],
        rows,
    };
    table.has_runs().then_some(table)
}

/// How far arms differ with either statistics, and how much that spreads over pairs.
fn steadiness(study: &Study, protocols: [&Protocol; 2], number: &str, label: &str) -> Option<Table> {
    let [plain, reestimated] = protocols.map(|protocol| comparisons(&study.of_protocol(protocol)));
    let mut rows = Vec::new();
    for one in &plain {
        let Some(other) = reestimated.iter().find(|other| other.label == one.label) else { continue };
        let runs: Vec<_> = one.pairs.iter().flat_map(Pair::paths).collect();
        let cells = std::iter::once(one.pairs.len().to_string()).chain(said(one)).chain(said(other));
        let cells = cells.map(|text| Cell::text(text, runs.clone())).collect();
        rows.push(Row { label: one.label.clone(), begins_part: false, cells });
    }
    let own = ["difference", "spread", "95 % by t", "p"];
    let table = Table {
        id: format!("recalibration-differences{number}"),
        title: format!("Differences of accuracy with either statistics: {label}"),
        notes: vec![
            "In points, over pairs of the same data set, seed and order of classes. *Spread* is the sample standard deviation of single \
             differences: the smaller, the smaller a difference can be seen. p is Wilcoxon's, two-sided."
                .into(),
        ],
        corner: "Comparison".into(),
        headers: vec![
            vec![Header::one(""), Header::over(AS_TRAINED, own.len()), Header::over(REESTIMATED, own.len())],
            std::iter::once("pairs").chain(own).chain(own).map(Header::one).collect(),
        ],
        rows,
    };
    table.has_runs().then_some(table)
}

/// A run's two readings, the one with statistics as trained first.
fn same_runs<'a>(plain: &'a Group, again: &'a Group) -> Vec<Pair<'a>> {
    let second = |path: &Path| again.runs.iter().find(|run| run.is_again && run.path == path);
    plain.runs.iter().filter_map(|first| Some(Pair { first, second: second(&first.path)? })).collect()
}

fn over(pairs: &[Pair], measure: impl Fn(&Pair) -> Option<f64>) -> String {
    let values: Vec<f64> = pairs.iter().filter_map(measure).collect();
    let Some(over) = rehearsal_measure::OverSeeds::from_values(&values) else { return "–".into() };
    let mean = format!("{:.2}", 100.0 * over.mean);
    over.deviation.map_or(mean.clone(), |deviation| format!("{mean} ± {:.2}", 100.0 * deviation))
}

/// The difference, its spread, its interval and its test.
fn said(comparison: &Comparison) -> [String; 4] {
    let Some(difference) = difference(&comparison.pairs, accuracy) else { return ["–"; 4].map(Into::into) };
    [
        points(difference.mean),
        difference.deviation.map_or("–".into(), |deviation| format!("{:.2}", 100.0 * deviation)),
        interval(&difference),
        p_text(test(&comparison.pairs, accuracy).p),
    ]
}

fn interval(difference: &Paired) -> String {
    difference.interval.map_or("–".into(), |[low, high]| format!("[{}, {}]", points(low), points(high)))
}

/// A fraction in points, with its sign.
fn points(fraction: f64) -> String {
    signed(100.0 * fraction, 2)
}
