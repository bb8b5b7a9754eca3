//! Tables as comma-separated values, one line per cell, for tools that filter and pivot.

use std::fmt::Write;

use crate::table::{Cell, Table};

/// The table's cells, row by row.
pub fn table(table: &Table) -> String {
    let mut text = String::from(
        "row,column,status,value,deviation,n,change,best,paper,verdict,difference,low,high,effect,p,holm,text,runs\n",
    );
    let columns = table.column_names();
    let mut part = String::new();
    for row in &table.rows {
        let dependent = row.is_dependent();
        let label = if dependent { format!("{part} {}", row.label) } else { row.label.clone() };
        if !dependent {
            part.clone_from(&row.label);
        }
        for (column, cell) in columns.iter().zip(&row.cells) {
            let fields = [vec![label.clone(), column.clone()], fields(cell)].concat();
            let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
            writeln!(text, "{}", fields.join(",")).expect("a string takes all");
        }
    }
    text
}

/// The fields from `status` on.
fn fields(cell: &Cell) -> Vec<String> {
    let or_empty = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let (mut plain, status) = ("", status(cell));
    let (mut measure, mut difference) = (vec![String::new(); 7], vec![String::new(); 6]);
    match cell {
        Cell::Missing { paper, .. } => {
            measure[2] = "0".into();
            measure[5] = or_empty(*paper);
        }
        Cell::Measured(measured) => {
            measure = vec![
                measured.value.mean.to_string(),
                or_empty(measured.value.deviation),
                measured.value.n.to_string(),
                or_empty(measured.change),
                measured.best.to_string(),
                or_empty(measured.paper.map(|(paper, _)| paper)),
                measured.paper.map_or("", |(_, verdict)| verdict.words()).into(),
            ];
        }
        Cell::Difference { against, .. } => {
            let [low, high] = against.interval.map_or([None; 2], |ends| ends.map(Some));
            let numbers = [Some(against.mean), low, high, against.effect, Some(against.p), Some(against.holm)];
            difference = numbers.map(or_empty).to_vec();
        }
        Cell::Text { text, .. } => plain = text,
    }
    let runs: Vec<String> = cell.runs().iter().map(|run| run.display().to_string()).collect();
    [vec![status.into()], measure, difference, vec![plain.into(), runs.join(";")]].concat()
}

fn status(cell: &Cell) -> &'static str {
    match cell {
        Cell::Missing { .. } => "missing",
        Cell::Measured(_) => "measured",
        Cell::Difference { .. } => "difference",
        Cell::Text { .. } => "text",
    }
}

/// An escaped field. Text that a spreadsheet would run as a formula gets an apostrophe before it.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let field = &field.replace(|c: char| c.is_control() && c != '\n', " ");
    let field = &if is_formula { format!("'{field}") } else { field.clone() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}
