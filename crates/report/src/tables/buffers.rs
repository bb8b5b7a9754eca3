//! Table 2: the methods by the size of the memory.

use std::collections::BTreeSet;

use super::{
    distinction,
    methods::{add_changes, base},
    variants,
};
use crate::{
    arm::Arm,
    paper::{self, Shown},
    protocol::{Data, Protocol, thousands},
    study::{Group, Study},
    table::{Cell, Header, Row, Table},
};

/// One table for each protocol under which more than one size of memory was run.
pub fn tables(study: &Study) -> Vec<Table> {
    let all: BTreeSet<Protocol> = study.groups.iter().map(|group| group.protocol.but_memory()).collect();
    let mut tables: Vec<Table> = Vec::new();
    let (reestimated, as_trained): (Vec<&Protocol>, Vec<&Protocol>) = all.iter().partition(|one| one.is_reestimated());
    for protocol in as_trained.into_iter().chain(reestimated) {
        let prefix = if tables.is_empty() { String::new() } else { format!("p{}-", tables.len() + 1) };
        tables.extend(table(study, protocol, &all, &prefix));
    }
    tables
}

struct Column<'a> {
    data: &'a Data,
    memory: u64,
}

fn table(study: &Study, protocol: &Protocol, all: &BTreeSet<Protocol>, prefix: &str) -> Option<Table> {
    let has_memory = |group: &&Group| group.protocol.but_memory() == *protocol && memory(group).is_some();
    let groups: Vec<&Group> = study.groups.iter().filter(has_memory).collect();
    let columns = columns(&groups);
    if columns.is_empty() {
        return None;
    }
    let mut rows: Vec<Row> = Vec::new();
    for (method, name) in methods(&groups) {
        let rows_of = |balanced: bool| -> Vec<(Option<&Arm>, Row)> {
            let wanted = |arm: &Arm| arm.method == method && if balanced { arm.is_balanced() } else { arm.is_plain() };
            let variants = variants(&groups, wanted);
            let row = |arm: Option<&Arm>| {
                let cells = columns.iter().flat_map(|column| {
                    Shown::ALL.map(|shown| {
                        let paper =
                            paper::buffer(&method, balanced, column.data.dataset(), column.memory as f64, shown);
                        cell(&groups, column, arm, shown, paper, protocol)
                    })
                });
                let label = if balanced { "+ balanced" } else { &name };
                let label = format!("{label}{}", distinction(arm, &variants));
                Row { label, begins_part: !balanced, cells: cells.collect() }
            };
            variants.iter().map(|&arm| (arm, row(arm))).collect()
        };
        let (plain, mut balanced) = (rows_of(false), rows_of(true));
        for (arm, row) in &mut balanced {
            add_changes(row, base(*arm, &plain));
        }
        rows.extend(plain.into_iter().chain(balanced).map(|(_, row)| row));
    }
    let among: Vec<Protocol> = all.iter().cloned().collect();
    let mut differences = protocol.differences_but_memory();
    differences.extend(
        columns
            .iter()
            .map(|column| column.data)
            .collect::<BTreeSet<_>>()
            .iter()
            .flat_map(|data| data.differences_from_paper()),
    );
    let arms: BTreeSet<&Arm> = groups.iter().map(|group| &group.arm).collect();
    differences.extend(super::options_note(&arms.into_iter().collect::<Vec<_>>()));
    let different = (!differences.is_empty()).then(|| format!("Different setting: {}.", differences.join("; ")));
    let mut table = Table {
        id: format!("{prefix}table2-buffers"),
        title: format!("Methods by the size of the memory (the paper's Table 2): {}", protocol.label(&among)),
        notes: [Some(super::reading_notes()), different].into_iter().flatten().collect(),
        corner: "Method".into(),
        headers: headers(&columns),
        rows,
    };
    table.mark_best_of_columns();
    table.has_runs().then_some(table)
}

fn headers(columns: &[Column]) -> Vec<Vec<Header>> {
    let mut data: Vec<Header> = Vec::new();
    for column in columns {
        match data.last_mut() {
            Some(last) if last.text == column.data.label() => last.span += 2,
            _ => data.push(Header::over(column.data.label(), 2)),
        }
    }
    let sizes = columns.iter().map(|column| Header::over(format!("memory {}", thousands(column.memory)), 2)).collect();
    let measures = columns.iter().flat_map(|_| Shown::ALL.map(|shown| Header::measure(shown.short(), shown.better())));
    vec![data, sizes, measures.collect()]
}

fn memory(group: &Group) -> Option<u64> {
    group.protocol.memory().filter(|&memory| memory > 0.0).map(|memory| memory as u64)
}

/// The data sets that were run at more than one size, each with every size that was run.
fn columns<'a>(groups: &[&'a Group]) -> Vec<Column<'a>> {
    let data: BTreeSet<&Data> = groups.iter().map(|group| &group.data).collect();
    let sizes = |data: &Data| -> BTreeSet<u64> {
        groups.iter().filter(|group| group.data == *data).filter_map(|group| memory(group)).collect()
    };
    let varied = data.into_iter().filter(|data| sizes(data).len() >= 2);
    varied.flat_map(|data| sizes(data).into_iter().map(move |memory| Column { data, memory })).collect()
}

/// The paper's three, then others that were run with both retrievals.
fn methods(groups: &[&Group]) -> Vec<(String, String)> {
    let named = |id: &str, name: &str| (id.to_owned(), name.to_owned());
    let mut methods = vec![named("er-ace", "ER-ACE"), named("cls-er", "CLS-ER"), named("pcr", "PCR")];
    for arm in groups.iter().map(|group| &group.arm).filter(|arm| arm.is_plain() || arm.is_balanced()) {
        if !methods.iter().any(|(id, _)| *id == arm.method) {
            methods.push(named(&arm.method, arm.method_name()));
        }
    }
    methods
}

fn cell(
    groups: &[&Group],
    column: &Column,
    arm: Option<&Arm>,
    shown: Shown,
    paper: Option<f64>,
    protocol: &Protocol,
) -> Cell {
    let wanted =
        |group: &&&Group| Some(&group.arm) == arm && group.data == *column.data && memory(group) == Some(column.memory);
    let same_setting = protocol.differences_but_memory().is_empty()
        && column.data.differences_from_paper().is_empty()
        && arm.is_some_and(|arm| arm.differences_from_paper().is_empty());
    match groups.iter().find(wanted).and_then(|group| shown.of(group)) {
        Some(measured) => Cell::Measured(measured.beside(paper, same_setting)),
        None => Cell::Missing { unfinished: 0, paper },
    }
}
