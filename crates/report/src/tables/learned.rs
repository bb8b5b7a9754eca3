//! What tables of what was run begin with: the arms that learned some data, in order, with their
//! names and seeds.

use std::path::PathBuf;

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
            let mut groups: Vec<&Group> =
                conditions.groups.iter().copied().filter(|group| group.data == *data).collect();
            groups.sort_by_key(|group| &group.arm);
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

/// The data set in words, where it is one: several stand in a column.
pub(super) fn on(learned: &[Learned]) -> String {
    match learned {
        [one] => format!(" on {}", one.data.label()),
        _ => String::new(),
    }
}

/// The data set, where there are several, and what is counted.
pub(super) fn first_headers(learned: &[Learned], counted: &str) -> Vec<Header> {
    let data = (learned.len() > 1).then(|| Header::one("data set"));
    data.into_iter().chain([Header::one(counted)]).collect()
}

/// The data set of a row, where there are several, and how many runs or pairs it has.
pub(super) fn first_cells(learned: &[Learned], data: &Data, count: usize, runs: Vec<PathBuf>) -> Vec<Cell> {
    let data = (learned.len() > 1).then(|| Cell::text(data.label(), Vec::new()));
    data.into_iter().chain([Cell::text(count.to_string(), runs)]).collect()
}

/// A row for each group, which begins with its seeds.
pub(super) fn rows(learned: &[Learned], cells: impl Fn(&Group) -> Vec<Cell>) -> Vec<Row> {
    let mut rows = Vec::new();
    for one in learned {
        for (i, (group, name)) in one.groups.iter().zip(&one.names).enumerate() {
            let runs = group.paths().map(Into::into).collect();
            let first = first_cells(learned, one.data, group.runs.len(), runs);
            let cells = first.into_iter().chain(cells(group)).collect();
            rows.push(Row { label: name.clone(), begins_part: i == 0, cells });
        }
    }
    rows
}

/// Data sets are not compared with each other.
pub(super) fn mark_best(table: &mut Table, learned: &[Learned]) {
    let mut from = 0;
    for one in learned {
        table.mark_best_of_columns_in(from..from + one.groups.len());
        from += one.groups.len();
    }
}
