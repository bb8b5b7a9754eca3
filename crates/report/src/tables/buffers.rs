//! Table 2: the methods by the size of the memory.

use std::collections::BTreeSet;

use super::columns::{Column, Method, READING, headers, notes};
use crate::{
    paper,
    protocol::Protocol,
    study::{Group, Study, Varied},
    table::{Header, Table},
    text::thousands,
};

/// One table for each protocol under which several sizes of the memory were run.
pub fn tables(study: &Study) -> Vec<Table> {
    let sets = study.by_memory();
    let mut protocols: Vec<&Protocol> = sets.iter().map(|set| &set.protocol).collect();
    protocols.dedup();
    let mut tables: Vec<Table> = Vec::new();
    for protocol in protocols {
        let prefix = if tables.is_empty() { String::new() } else { format!("p{}-", tables.len() + 1) };
        let sets: Vec<&Varied> = sets.iter().filter(|set| set.protocol == *protocol).collect();
        tables.extend(table(study, &sets, &prefix));
    }
    tables
}

fn table(study: &Study, sets: &[&Varied], prefix: &str) -> Option<Table> {
    let first = sets.first()?;
    let columns: Vec<Column> = sets.iter().flat_map(|set| columns(study, set)).collect();
    let groups: Vec<&Group> = sets.iter().flat_map(|set| &set.groups).copied().collect();
    let rows = methods(&groups).into_iter().flat_map(|method| {
        method.rows(&columns, |balanced, column, shown| {
            paper::buffer(&method.id, balanced, column.data.dataset(), column.protocol.memory()?, shown)
        })
    });
    let size = |column: &Column| Header::over(format!("memory {}", thousands(memory(&column.protocol))), 2);
    let mut data: Vec<Header> = Vec::new();
    for column in &columns {
        match data.last_mut() {
            Some(last) if last.text == column.data.label() => last.span += 2,
            _ => data.push(Header::over(column.data.label(), 2)),
        }
    }
    let title = format!("Methods by the size of the memory (the paper's Table 2): {}", first.label);
    let notes = notes(READING, first.protocol.differences_but_memory(), &columns);
    Table::new((format!("{prefix}table2-buffers"), title), notes, "Method", headers(&columns), rows.collect())
        .under(columns.iter().map(size).collect())
        .under(data)
        .with_best_of_columns()
        .if_any_runs()
}

fn memory(protocol: &Protocol) -> u64 {
    protocol.memory().map_or(0, |memory| memory as u64)
}

/// A column for every size of the memory, the smallest first.
fn columns<'a>(study: &'a Study, set: &Varied<'a>) -> Vec<Column<'a>> {
    let differs = !set.protocol.differences_but_memory().is_empty() || !set.data.differences_from_paper().is_empty();
    let sizes: BTreeSet<u64> = set.groups.iter().map(|group| memory(&group.protocol)).collect();
    let column = |size: u64| {
        let groups: Vec<&Group> = set.groups.iter().copied().filter(|group| memory(&group.protocol) == size).collect();
        let protocol = groups[0].protocol.clone();
        Column { study, data: set.data.clone(), protocol, groups, is_papers: !differs }
    };
    sizes.into_iter().map(column).collect()
}

/// The paper's three methods, then others that were run.
fn methods(groups: &[&Group]) -> Vec<Method> {
    let mut methods = [("er-ace", "ER-ACE"), ("cls-er", "CLS-ER"), ("pcr", "PCR")]
        .map(|(id, name)| Method::new(id, name, true))
        .to_vec();
    for arm in groups.iter().map(|group| &group.arm).filter(|arm| arm.is_plain() || arm.is_balanced()) {
        if !methods.iter().any(|method| method.id == arm.method) {
            methods.push(Method::new(&arm.method, arm.method_name(), true));
        }
    }
    methods
}
