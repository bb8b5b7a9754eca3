//! Tables as comma-separated values, one line per cell, so that any tool can filter and pivot them.

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

/// From `status` to `text`.
const FIELDS: usize = 15;
/// Where `difference` is among them.
const DIFFERENCE: usize = 8;

/// From `status` on.
fn fields(cell: &Cell) -> Vec<String> {
    let or_empty = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let none = String::new;
    let mut fields = match cell {
        Cell::Missing { paper, .. } => {
            let mut fields = vec![none(); FIELDS];
            fields[0] = "missing".into();
            fields[3] = "0".into();
            fields[6] = or_empty(*paper);
            fields
        }
        Cell::Measured(measured) => vec![
            "measured".into(),
            measured.value.mean.to_string(),
            or_empty(measured.value.deviation),
            measured.value.n.to_string(),
            or_empty(measured.change),
            measured.best.to_string(),
            or_empty(measured.paper.map(|(paper, _)| paper)),
            measured.paper.map_or("", |(_, verdict)| verdict.words()).into(),
        ]
        .into_iter()
        .chain(std::iter::repeat_n(none(), FIELDS - DIFFERENCE))
        .collect(),
        Cell::Difference { against, .. } => {
            let mut fields = vec![none(); FIELDS];
            fields[0] = "difference".into();
            let [low, high] = against.interval.map_or([None; 2], |ends| ends.map(Some));
            let numbers = [Some(against.mean), low, high, against.effect, Some(against.p), Some(against.holm)];
            fields[DIFFERENCE..].iter_mut().zip(numbers).for_each(|(field, number)| *field = or_empty(number));
            fields
        }
        Cell::Text { text, .. } => {
            let mut fields = vec![none(); FIELDS];
            fields[0] = "said".into();
            fields[FIELDS - 1].clone_from(text);
            fields
        }
    };
    let runs: Vec<String> = cell.runs().iter().map(|run| run.display().to_string()).collect();
    fields.push(runs.join(";"));
    fields
}

/// A field as it stands in the file. A spreadsheet would compute text that begins like a formula, and
/// names come from anywhere: it is shown an apostrophe before it.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let field = &field.replace(|c: char| c.is_control() && c != '\n', " ");
    let field = &if is_formula { format!("'{field}") } else { field.clone() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}
