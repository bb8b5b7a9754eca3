//! Table 1: methods, with and without balanced retrieval, on every data set.

use super::{Conditions, distinction, reading_notes, variants};
use crate::{
    arm::Arm,
    paper::{self, Shown},
    protocol::{Data, PAPER_DATA},
    table::{Cell, Header, Row, Table},
};

/// The paper's rows: methods, and whether "+ Ours" follows.
const PAPER_ROWS: [(&str, &str, bool); 7] = [
    ("er", "ER", false),
    ("a-gem", "A-GEM", false),
    ("der++", "DER++", false),
    ("aser", "ASER", false),
    ("er-ace", "ER-ACE", true),
    ("cls-er", "CLS-ER", true),
    ("pcr", "PCR", true),
];

pub fn table(conditions: &Conditions) -> Option<Table> {
    let columns = columns(conditions);
    let mut rows = Vec::new();
    for method in methods(conditions) {
        let plain = rows_of(conditions, &columns, &method, false);
        if method.balanced {
            let mut balanced = rows_of(conditions, &columns, &method, true);
            for (arm, row) in &mut balanced {
                add_changes(row, base(*arm, &plain));
            }
            rows.extend(plain.into_iter().chain(balanced).map(|(_, row)| row));
        } else {
            rows.extend(plain.into_iter().map(|(_, row)| row));
        }
    }
    let absent: Vec<&str> = PAPER_DATA
        .iter()
        .filter(|(id, ..)| !columns.iter().any(|data| data.dataset() == *id))
        .map(|(_, name, ..)| *name)
        .collect();
    let absent = (!absent.is_empty()).then(|| format!("No runs under these conditions: {}.", absent.join(", ")));
    let data = columns.iter().map(|data| Header::over(data.label(), 2)).collect();
    let measures = columns.iter().flat_map(|_| Shown::ALL.map(|shown| Header::measure(shown.short(), shown.better())));
    let mut table = Table {
        id: format!("{}table1-methods", conditions.prefix),
        title: format!("Methods with and without balanced retrieval (the paper's Table 1): {}", conditions.label),
        notes: [Some(reading_notes()), conditions.difference_note(), absent].into_iter().flatten().collect(),
        corner: "Method".into(),
        headers: vec![data, measures.collect()],
        rows,
    };
    table.mark_best_of_columns();
    table.has_runs().then_some(table)
}

struct Method {
    id: String,
    name: String,
    balanced: bool,
}

/// Fine-tuning first, the paper's rows, then other methods that were run, the upper bound last.
fn methods(conditions: &Conditions) -> Vec<Method> {
    let arms = conditions.arms();
    let was_run = |id: &str, balanced: bool| arms.iter().any(|arm| arm.method == id && is(arm, balanced));
    let extra = |arm: &&&Arm| !PAPER_ROWS.iter().any(|(id, ..)| *id == arm.method) && is(arm, false);
    let mut methods: Vec<Method> = Vec::new();
    for arm in arms.iter().filter(extra) {
        let (id, name) = (arm.method.clone(), arm.method_name().to_owned());
        if !methods.iter().any(|method| method.id == id) {
            methods.push(Method { balanced: was_run(&id, true), id, name });
        }
    }
    let before = methods.iter().take_while(|method| method.id == "fine-tune").count();
    let paper = PAPER_ROWS.iter().map(|&(id, name, balanced)| Method {
        id: id.into(),
        name: name.into(),
        balanced: balanced || was_run(id, true),
    });
    methods.splice(before..before, paper);
    methods
}

fn is(arm: &Arm, balanced: bool) -> bool {
    if balanced { arm.is_balanced() } else { arm.is_plain() }
}

/// What was learned; under the paper's own conditions all six of its data sets, run or not.
fn columns(conditions: &Conditions) -> Vec<Data> {
    let found = conditions.data();
    let mut columns: Vec<Data> = found.iter().map(|&data| data.clone()).collect();
    if conditions.protocol.differences_from_paper().is_empty() {
        let absent = PAPER_DATA.iter().filter(|(id, ..)| !found.iter().any(|data| data.dataset() == *id));
        columns.extend(absent.map(|(id, _, classes, tasks)| whole(id, *classes, *tasks)));
        columns.sort();
    }
    columns
}

/// A data set as the paper takes it, of which there is no run.
fn whole(dataset: &str, classes: usize, tasks: usize) -> Data {
    let settings = [("dataset", dataset.into()), ("classes", classes.into()), ("tasks", tasks.into())];
    Data::from_settings(&settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The rows of a method: one, or one per variant.
fn rows_of<'a>(
    conditions: &Conditions<'a>,
    columns: &[Data],
    method: &Method,
    balanced: bool,
) -> Vec<(Option<&'a Arm>, Row)> {
    let wanted = |arm: &Arm| arm.method == method.id && is(arm, balanced);
    let variants = variants(&conditions.groups, wanted);
    let row = |arm: Option<&'a Arm>| {
        let cells = columns.iter().flat_map(|data| {
            Shown::ALL.map(|shown| {
                let paper = paper::method(&method.id, balanced, data.dataset(), shown);
                conditions.cell(arm, wanted, data, shown, paper)
            })
        });
        let label = if balanced { "+ balanced" } else { &method.name };
        let label = format!("{label}{}", distinction(arm, &variants));
        let begins_part = !balanced && (method.balanced || method.id == "er") && arm == variants[0];
        (arm, Row { label, begins_part, cells: cells.collect() })
    };
    variants.iter().map(|&arm| row(arm)).collect()
}

/// The row that another builds on: the one that differs in who is replayed only.
pub(super) fn base<'a>(arm: Option<&Arm>, plain: &'a [(Option<&Arm>, Row)]) -> Option<&'a Row> {
    let options = arm?.options();
    plain.iter().find(|(other, _)| other.is_some_and(|other| other.options() == options)).map(|(_, row)| row)
}

/// The change of each cell from that of the row it builds on.
pub(super) fn add_changes(row: &mut Row, base: Option<&Row>) {
    for (cell, base) in row.cells.iter_mut().zip(base.into_iter().flat_map(|row| &row.cells)) {
        if let (Cell::Measured(ours), Some(base)) = (cell, base.measured()) {
            ours.change = Some(ours.value.mean - base.value.mean);
        }
    }
}
