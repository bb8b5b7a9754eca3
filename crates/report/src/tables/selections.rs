//! The supplement's comparison of instance selection: PCR with every retrieval.

use super::{
    Conditions,
    columns::{Column, READING, headers, notes, rows},
};
use crate::{
    arm::Arm,
    paper::{self, Shown},
    protocol::Data,
    study::Group,
    table::{Header, Table},
};

/// The paper's rows in its order, and the opposite of MIR.
const ROWS: [(&str, &str); 7] = [
    ("balanced", "PCR + balanced"),
    ("mir", "PCR + MIR"),
    ("imir", "PCR + IMIR"),
    ("gss", "PCR + GSS"),
    ("aser", "PCR + ASER"),
    ("memory-match", "PCR + memory match"),
    ("random", "PCR + random"),
];

pub fn table(conditions: &Conditions) -> Option<Table> {
    let is_selection = |arm: &Arm| arm.method == "pcr" && arm.selection().is_some();
    let is_compared = |data: &&Data| {
        let here = |group: &&&Group| group.data == **data && is_selection(&group.arm);
        conditions.groups.iter().filter(here).count() >= 2
    };
    let columns: Vec<Column> =
        conditions.data().into_iter().filter(is_compared).map(|data| Column::new(conditions, data.clone())).collect();
    let of_kind = |&(selection, label): &(&'static str, &str)| {
        let wanted = |arm: &Arm| arm.method == "pcr" && arm.selection() == Some(selection);
        let paper = |column: &Column, shown: Shown| match shown {
            Shown::Accuracy => paper::selection(selection, column.data.dataset()),
            Shown::Forgetting => None,
        };
        rows(&columns, label, wanted, paper).into_iter().map(|(_, row)| row).collect::<Vec<_>>()
    };
    let title = format!("PCR by instance selection (the paper's supplement): {}", conditions.label);
    let notes = notes(READING, conditions.protocol.differences_from_paper(), &columns);
    let data = columns.iter().map(|column| Header::over(column.data.label(), 2)).collect();
    let rows = ROWS.iter().flat_map(of_kind).collect();
    Table::new((conditions.id("selections"), title), notes, "Method", headers(&columns), rows)
        .under(data)
        .with_best_of_columns()
        .if_any_runs()
}
