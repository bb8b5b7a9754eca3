//! What recalibrated `BatchNorm` statistics change: the accuracy of every arm, and how much differences
//! between arms vary.

use std::path::Path;

use rehearsal_measure::{OverSeeds, accuracy, forgetting};

use super::comparisons::{Comparison, comparisons};
use crate::{
    arm::labels,
    pairs::{Pair, difference, differences, paired_p_text, paths, test},
    protocol::{AS_TRAINED, Protocol, RECALIBRATED},
    study::{Group, Study},
    table::{Cell, Header, Row, Table},
    text::{NONE, interval, mean_text, points},
};

/// One of arms and one of their differences, for each protocol whose runs were tested both ways.
pub fn tables(study: &Study) -> Vec<Table> {
    let protocols = study.protocols();
    let twins = protocols.iter().filter(|protocol| !protocol.is_recalibrated()).filter_map(|plain| {
        let is_twin = |other: &&Protocol| other.is_recalibrated() && other.but_statistics() == plain.but_statistics();
        Some((plain, protocols.iter().find(is_twin)?))
    });
    let rest: Vec<Protocol> = protocols.iter().map(Protocol::but_statistics).collect();
    let mut tables = Vec::new();
    for (i, (plain, recalibrated)) in twins.enumerate() {
        let number = if i == 0 { String::new() } else { format!("-p{}", i + 1) };
        let label = plain.but_statistics().label(&rest);
        tables.extend(arms(study, [plain, recalibrated], &number, &label));
        tables.extend(steadiness(study, [plain, recalibrated], &number, &label));
    }
    tables
}

/// Every arm with both statistics, and the difference run by run; none if no run has both.
fn arms(study: &Study, [plain, recalibrated]: [&Protocol; 2], number: &str, label: &str) -> Option<Table> {
    let again = study.of_protocol(recalibrated);
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
        let texts = [
            pairs.len().to_string(),
            over(&pairs, |pair| accuracy(&pair.first.matrix)),
            over(&pairs, |pair| accuracy(&pair.second.matrix)),
            points(change.mean),
            interval(change.interval),
            paired_p_text(change.n, test(&pairs, accuracy).p),
            format!("{gained} of {}", pairs.len()),
            difference(&pairs, forgetting).map_or(NONE.into(), |change| points(change.mean)),
        ];
        let data = several.then(|| group.data.label());
        rows.push(Row { label: name, begins_part: false, cells: Cell::texts(data.into_iter().chain(texts), &runs) });
    }
    let headers = ["runs", "as trained", "recalibrated", "difference", "95 % by t", "p", "gained", "forgetting"];
    let headers = several.then_some("data set").into_iter().chain(headers).map(Header::one);
    let title = format!("Accuracy with BatchNorm {AS_TRAINED}, and {RECALIBRATED}: {label}");
    let note = "Percent and percentage points, mean ± sample standard deviation over seeds. The same networks, tested twice: only the \
                running statistics of their BatchNorm layers differ. p is Wilcoxon's over runs; *gained* counts runs whose accuracy \
                rose; *forgetting* is its mean difference.";
    Table::new((format!("recalibration{number}"), title), vec![note.into()], "Method", headers, rows).if_any_runs()
}

/// How far arms differ with both statistics, and how much that varies over pairs.
fn steadiness(study: &Study, protocols: [&Protocol; 2], number: &str, label: &str) -> Option<Table> {
    let [plain, recalibrated] = protocols.map(|protocol| comparisons(&study.of_protocol(protocol)));
    let mut rows = Vec::new();
    for one in &plain {
        let Some(other) = recalibrated.iter().find(|other| other.label == one.label) else { continue };
        let texts = std::iter::once(one.pairs.len().to_string()).chain(texts(one)).chain(texts(other));
        let cells = Cell::texts(texts, &paths(&one.pairs));
        rows.push(Row { label: one.label.clone(), begins_part: false, cells });
    }
    let own = ["difference", "spread", "95 % by t", "p"];
    let headers = std::iter::once("pairs").chain(own).chain(own).map(Header::one);
    let title = format!("Differences of accuracy with both statistics: {label}");
    let note = "In percentage points, over pairs of the same data set, seed and order of classes. *Spread* is the sample standard deviation \
                of single differences: the smaller it is, the smaller a difference can be seen. p is Wilcoxon's, two-sided.";
    let above = vec![Header::one(""), Header::over(AS_TRAINED, own.len()), Header::over(RECALIBRATED, own.len())];
    let id = format!("recalibration-differences{number}");
    Table::new((id, title), vec![note.into()], "Comparison", headers, rows).under(above).if_any_runs()
}

/// The two readings of each run, statistics as trained first.
fn same_runs<'a>(plain: &'a Group, again: &'a Group) -> Vec<Pair<'a>> {
    let second = |path: &Path| again.runs.iter().find(|run| run.is_again && run.path == path);
    plain.runs.iter().filter_map(|first| Some(Pair { first, second: second(&first.path)? })).collect()
}

fn over(pairs: &[Pair], measure: impl Fn(&Pair) -> Option<f64>) -> String {
    let over = OverSeeds::from_values(&pairs.iter().filter_map(measure).collect::<Vec<_>>());
    over.map_or(NONE.into(), |over| mean_text(100.0 * over.mean, over.deviation.map(|deviation| 100.0 * deviation), 2))
}

/// The difference, its spread, its interval and its test.
fn texts(comparison: &Comparison) -> [String; 4] {
    let Some(difference) = difference(&comparison.pairs, accuracy) else { return [NONE; 4].map(Into::into) };
    [
        points(difference.mean),
        difference.deviation.map_or(NONE.into(), |deviation| format!("{:.2}", 100.0 * deviation)),
        interval(difference.interval),
        paired_p_text(difference.n, test(&comparison.pairs, accuracy).p),
    ]
}
