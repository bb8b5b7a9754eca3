//! Tables with a row for each arm on each data set.

use std::path::PathBuf;

use rehearsal_measure::METRICS;

use super::{Conditions, comparisons::reference};
use crate::{
    arm::{Arm, labels},
    pairs::{Pair, pairs},
    protocol::Data,
    study::Group,
    table::{Cell, Header, Row, Table},
};

/// The arms that learned some data, in order.
pub(super) struct Learned<'a> {
    pub(super) data: &'a Data,
    pub(super) groups: Vec<&'a Group>,
    pub(super) names: Vec<String>,
}

impl<'a> Learned<'a> {
    pub(super) fn of(conditions: &'a Conditions<'a>) -> Vec<Self> {
        let learned = |data: &'a Data| {
            let groups = conditions.groups_on(data);
            let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
            Self { data, groups, names }
        };
        conditions.data().into_iter().map(learned).collect()
    }

    /// Each arm that has a reference here and runs to pair with it: the places of both, and the
    /// pairs, the reference first.
    pub(super) fn pairs(&self) -> Vec<(usize, usize, Vec<Pair<'a>>)> {
        let arms: Vec<&Arm> = self.groups.iter().map(|group| &group.arm).collect();
        let of = |(i, group): (usize, &&'a Group)| {
            let reference = reference(&group.arm, &arms)?;
            let other = self.groups.iter().position(|other| other.arm == *reference)?;
            let runs = |i: usize| self.groups[i].runs.iter().collect::<Vec<_>>();
            Some((i, other, pairs(&runs(other), &runs(i)))).filter(|(.., pairs)| !pairs.is_empty())
        };
        self.groups.iter().enumerate().filter_map(of).collect()
    }
}

/// " on CIFAR100" if there is one data set; several are in a column.
pub(super) fn on(learned: &[Learned]) -> String {
    match learned {
        [one] => format!(" on {}", one.data.label()),
        _ => String::new(),
    }
}

/// The data set, if there are several, and what is counted.
pub(super) fn first_headers(learned: &[Learned], counted: &str) -> Vec<Header> {
    let data = (learned.len() > 1).then(|| Header::one("data set"));
    data.into_iter().chain([Header::one(counted)]).collect()
}

/// The data set of a row, if there are several, and its number of runs or pairs.
pub(super) fn first_cells(learned: &[Learned], data: &Data, count: usize, runs: Vec<PathBuf>) -> Vec<Cell> {
    let data = (learned.len() > 1).then(|| Cell::plain(data.label()));
    data.into_iter().chain([Cell::text(count.to_string(), runs)]).collect()
}

/// A header for every measure of the accuracy matrix.
pub(super) fn measure_headers() -> impl Iterator<Item = Header> {
    METRICS.iter().map(|metric| Header::measure(metric.name.replace('_', " "), metric.better))
}

/// A table with a row for each group, which begins with its number of seeds. The best of each data set
/// is marked: data sets are not compared with each other.
pub(super) fn by_group(
    conditions: &Conditions,
    (kind, title): (&str, &str),
    note: &str,
    learned: &[Learned],
    headers: impl Iterator<Item = Header>,
    cells: impl Fn(&Group) -> Vec<Cell>,
) -> Table {
    let mut rows = Vec::new();
    for one in learned {
        for (i, (group, name)) in one.groups.iter().zip(&one.names).enumerate() {
            let runs = group.paths().map(Into::into).collect();
            let first = first_cells(learned, one.data, group.runs.len(), runs);
            let cells = first.into_iter().chain(cells(group)).collect();
            rows.push(Row { label: name.clone(), begins_part: i == 0, cells });
        }
    }
    let title = format!("{title}{}: {}", on(learned), conditions.label);
    let headers = first_headers(learned, "seeds").into_iter().chain(headers);
    let mut table = Table::new((conditions.id(kind), title), vec![note.into()], "Method", headers, rows);
    let mut from = 0;
    for one in learned {
        table.mark_best_of_columns(from..from + one.groups.len());
        from += one.groups.len();
    }
    table
}
