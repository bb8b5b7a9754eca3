//! Table 1: methods, with and without balanced retrieval, on every data set.

use super::{
    Conditions,
    columns::{Column, Method, READING, headers, notes},
};
use crate::{
    arm::Arm,
    paper,
    protocol::{Data, PAPER_DATA},
    table::{Header, Table},
};

/// The paper's rows: methods, and whether "+ Ours" follows.
const PAPER_ROWS: [(&str, &str, bool); 7] = [
    ("er", "ER", false),
    ("a-gem", "A-GEM", false),
    ("der-pp", "DER++", false),
    ("aser", "ASER", false),
    ("er-ace", "ER-ACE", true),
    ("cls-er", "CLS-ER", true),
    ("pcr", "PCR", true),
];

pub fn table(conditions: &Conditions) -> Option<Table> {
    let columns: Vec<Column> = data(conditions).into_iter().map(|data| Column::new(conditions, data)).collect();
    let rows = methods(conditions).into_iter().flat_map(|method| {
        method
            .rows(&columns, |balanced, column, shown| paper::method(&method.id, balanced, column.data.dataset(), shown))
    });
    let absent: Vec<&str> = PAPER_DATA
        .iter()
        .filter(|(id, ..)| !columns.iter().any(|column| column.data.dataset() == *id))
        .map(|(_, name, ..)| *name)
        .collect();
    let absent = (!absent.is_empty()).then(|| format!("No runs under these conditions: {}.", absent.join(", ")));
    let notes =
        notes(READING, conditions.protocol.differences_from_paper(), &columns).into_iter().chain(absent).collect();
    let title = format!("Methods with and without balanced retrieval (the paper's Table 1): {}", conditions.label);
    let data = columns.iter().map(|column| Header::over(column.data.label(), 2)).collect();
    Table::new((conditions.id("table1-methods"), title), notes, "Method", headers(&columns), rows.collect())
        .under(data)
        .with_best_of_columns()
        .if_any_runs()
}

/// Fine-tuning first, the paper's rows, then other methods that were run, the upper bound last.
fn methods(conditions: &Conditions) -> Vec<Method> {
    let arms = conditions.arms();
    let was_run = |id: &str| arms.iter().any(|arm| arm.method == id && arm.is_balanced());
    let is_extra = |arm: &&&Arm| !PAPER_ROWS.iter().any(|(id, ..)| *id == arm.method) && arm.is_plain();
    let mut methods: Vec<Method> = arms
        .iter()
        .filter(is_extra)
        .map(|arm| Method::new(&arm.method, arm.method_name(), was_run(&arm.method)))
        .collect();
    methods.dedup_by(|one, other| one.id == other.id);
    let before = methods.iter().take_while(|method| method.id == "fine-tune").count();
    let paper = PAPER_ROWS.iter().map(|&(id, name, balanced)| Method::new(id, name, balanced || was_run(id)));
    methods.splice(before..before, paper);
    methods
}

/// The data that was learned; under the paper's own conditions all six of its data sets, run or not.
fn data(conditions: &Conditions) -> Vec<Data> {
    let mut found: Vec<Data> = conditions.data().into_iter().cloned().collect();
    if conditions.protocol.differences_from_paper().is_empty() {
        let absent = PAPER_DATA.iter().filter(|(id, ..)| !found.iter().any(|data| data.dataset() == *id));
        let absent: Vec<Data> = absent.map(|(id, _, classes, tasks)| whole(id, *classes, *tasks)).collect();
        found.extend(absent);
        found.sort();
    }
    found
}

/// A data set as the paper takes it, of which there is no run.
fn whole(dataset: &str, classes: usize, tasks: usize) -> Data {
    let settings = [("dataset", dataset.into()), ("classes", classes.into()), ("tasks", tasks.into())];
    Data::from_settings(&settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
