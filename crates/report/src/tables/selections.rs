//! The supplement's comparison of instance selection: PCR with every retrieval.

use super::{Conditions, distinction, reading_notes, variants};
use crate::{
    arm::Arm,
    paper::{self, Shown},
    study::Group,
    table::{Header, Row, Table},
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
    let columns: Vec<_> = conditions
        .data()
        .into_iter()
        .filter(|data| {
            let of_pcr = |group: &&&Group| group.arm.method == "pcr" && group.data == **data;
            conditions.groups.iter().filter(of_pcr).filter(|group| group.arm.selection().is_some()).count() >= 2
        })
        .collect();
    let rows = |&(selection, label): &(&str, &str)| {
        let wanted = |arm: &Arm| arm.method == "pcr" && arm.selection() == Some(selection);
        let variants = variants(&conditions.groups, wanted);
        let row = |arm: Option<&Arm>| Row {
            label: format!("{label}{}", distinction(arm, &variants)),
            begins_part: false,
            cells: columns
                .iter()
                .flat_map(|data| {
                    Shown::ALL.map(|shown| {
                        let paper = match shown {
                            Shown::Accuracy => paper::selection(selection, data.dataset()),
                            Shown::Forgetting => None,
                        };
                        conditions.cell(arm, wanted, data, shown, paper)
                    })
                })
                .collect(),
        };
        variants.iter().map(|&arm| row(arm)).collect::<Vec<_>>()
    };
    let measures = columns.iter().flat_map(|_| Shown::ALL.map(|shown| Header::measure(shown.short(), shown.better())));
    let mut table = Table {
        id: format!("{}selections", conditions.prefix),
        title: format!("PCR by instance selection (the paper's supplement): {}", conditions.label),
        notes: [Some(reading_notes()), conditions.difference_note()].into_iter().flatten().collect(),
        corner: "Method".into(),
        headers: vec![columns.iter().map(|data| Header::over(data.label(), 2)).collect(), measures.collect()],
        rows: ROWS.iter().flat_map(rows).collect(),
    };
    table.mark_best_of_columns();
    table.has_runs().then_some(table)
}
