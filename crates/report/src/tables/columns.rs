//! What the paper's tables share: columns of data under some conditions, and rows of arms, each cell
//! beside the paper's number.

use std::collections::{BTreeMap, BTreeSet};

use super::Conditions;
use crate::{
    arm::Arm,
    paper::Shown,
    protocol::{Data, Protocol},
    study::{Group, Study},
    table::{Cell, Header, Row},
};

/// A column of a table of the paper: some data under some conditions, and the groups of it.
pub(super) struct Column<'a> {
    pub(super) study: &'a Study,
    pub(super) data: Data,
    pub(super) protocol: Protocol,
    pub(super) groups: Vec<&'a Group>,
    /// Whether data and protocol are the paper's.
    pub(super) is_papers: bool,
}

impl<'a> Column<'a> {
    /// The column of some data under the conditions of a part of the report.
    pub(super) fn new(conditions: &Conditions<'a>, data: Data) -> Self {
        let differs =
            !conditions.protocol.differences_from_paper().is_empty() || !data.differences_from_paper().is_empty();
        let (study, protocol) = (conditions.study, conditions.protocol.clone());
        Self { study, data, protocol, groups: conditions.groups.clone(), is_papers: !differs }
    }

    /// The arms of a kind, in order.
    fn arms(&self, wanted: impl Fn(&Arm) -> bool) -> impl Iterator<Item = &'a Arm> {
        self.groups.iter().map(|group| &group.arm).filter(move |arm| wanted(arm))
    }

    /// The cell of an arm; without one, how many runs of the kind were started.
    pub(super) fn cell(
        &self,
        arm: Option<&Arm>,
        wanted: impl Fn(&Arm) -> bool,
        shown: Shown,
        paper: Option<f64>,
    ) -> Cell {
        let group = self.groups.iter().find(|group| Some(&group.arm) == arm && group.data == self.data);
        if let Some(measured) = group.and_then(|group| shown.of(group)) {
            let same_setting = self.is_papers && arm.is_some_and(|arm| arm.differences_from_paper().is_empty());
            return Cell::Measured(measured.beside(paper, same_setting));
        }
        let like = |arm: &Arm, data: &Data, protocol: &Protocol| {
            wanted(arm) && data.is_like(&self.data) && *protocol == self.protocol
        };
        Cell::Missing { unfinished: self.study.unfinished_like(like), paper }
    }
}

/// The two measures of every column.
pub(super) fn headers(columns: &[Column]) -> Vec<Header> {
    columns.iter().flat_map(|_| Shown::ALL.map(|shown| Header::measure(shown.short(), shown.better()))).collect()
}

/// The rows of a kind of arm: one, one per variant if options differ, or an empty one if nothing was
/// run.
pub(super) fn rows<'a>(
    columns: &[Column<'a>],
    label: &str,
    wanted: impl Fn(&Arm) -> bool,
    paper: impl Fn(&Column, Shown) -> Option<f64>,
) -> Vec<(Option<&'a Arm>, Row)> {
    let arms: BTreeSet<&Arm> = columns.iter().flat_map(|column| column.arms(&wanted)).collect();
    let others: Vec<&Arm> = arms.iter().copied().collect();
    let row = |arm: Option<&'a Arm>| {
        let cells = columns
            .iter()
            .flat_map(|column| Shown::ALL.map(|shown| column.cell(arm, &wanted, shown, paper(column, shown))));
        let label = format!("{label}{}", arm.map_or(String::new(), |arm| arm.distinction(&others)));
        (arm, Row { label, begins_part: false, cells: cells.collect() })
    };
    if arms.is_empty() { vec![row(None)] } else { arms.into_iter().map(|arm| row(Some(arm))).collect() }
}

/// A method of the paper's tables.
#[derive(Clone)]
pub(super) struct Method {
    pub(super) id: String,
    pub(super) name: String,
    /// Whether "+ balanced" follows.
    pub(super) balanced: bool,
}

impl Method {
    pub(super) fn new(id: &str, name: &str, balanced: bool) -> Self {
        Self { id: id.into(), name: name.into(), balanced }
    }

    /// The rows of the method, and of the method with balanced retrieval with the change that makes.
    pub(super) fn rows(&self, columns: &[Column], paper: impl Fn(bool, &Column, Shown) -> Option<f64>) -> Vec<Row> {
        let is_own = |arm: &Arm| arm.method == self.id;
        let mut plain =
            rows(columns, &self.name, |arm| is_own(arm) && arm.is_plain(), |column, shown| paper(false, column, shown));
        plain[0].1.begins_part = self.balanced || self.id == "er";
        let mut balanced = Vec::new();
        if self.balanced {
            let wanted = |arm: &Arm| is_own(arm) && arm.is_balanced();
            balanced = rows(columns, "+ balanced", wanted, |column, shown| paper(true, column, shown));
            balanced.iter_mut().for_each(|(arm, row)| add_changes(row, base(*arm, &plain)));
        }
        plain.into_iter().chain(balanced).map(|(_, row)| row).collect()
    }
}

/// The row that another builds on: the one that differs in retrieval only.
fn base<'a>(arm: Option<&Arm>, plain: &'a [(Option<&Arm>, Row)]) -> Option<&'a Row> {
    let options = arm?.options();
    plain.iter().find(|(other, _)| other.is_some_and(|other| other.options() == options)).map(|(_, row)| row)
}

/// The change of each cell from that of the row it builds on.
fn add_changes(row: &mut Row, base: Option<&Row>) {
    for (cell, base) in row.cells.iter_mut().zip(base.into_iter().flat_map(|row| &row.cells)) {
        if let (Cell::Measured(ours), Some(base)) = (cell, base.measured()) {
            ours.change = Some(ours.value.mean - base.value.mean);
        }
    }
}

/// How cells are read, and how the runs differ from the paper's.
pub(super) fn notes(reading: &str, mut differences: Vec<String>, columns: &[Column]) -> Vec<String> {
    let data: BTreeSet<&Data> = columns.iter().map(|column| &column.data).collect();
    let is_run = |data: &&Data| columns.iter().flat_map(|column| &column.groups).any(|group| group.data == **data);
    differences.extend(data.into_iter().filter(is_run).flat_map(Data::differences_from_paper));
    let mut options: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for arm in columns.iter().flat_map(|column| column.arms(|_| true)) {
        for difference in arm.differences_from_paper() {
            options.entry(difference).or_default().insert(arm.label());
        }
    }
    differences.extend(
        options
            .into_iter()
            .map(|(difference, arms)| format!("{difference} in {}", arms.into_iter().collect::<Vec<_>>().join(", "))),
    );
    let different = (!differences.is_empty()).then(|| {
        format!("Different setting: {}. The paper's numbers are for orientation only.", differences.join("; "))
    });
    std::iter::once(reading.to_owned()).chain(different).collect()
}

/// How the cells of most of the paper's tables are read.
pub(super) const READING: &str = "Percent, mean ± sample standard deviation over seeds. The paper's number is beside ours: *reproduced* \
    if it is within the 95 % interval of our mean (Student's t), else ours is *above* or *below* it. An arrow is the change that balanced retrieval makes to the method. The \
    best is bold.";
