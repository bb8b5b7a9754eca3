//! Tables as Markdown.

use std::fmt::Write;

use crate::table::{Cell, Measured, Table};

/// The table with its caption above and its notes below.
pub fn table(table: &Table) -> String {
    let mut text = format!("### {}\n\n", escaped(&table.title));
    line(
        &mut text,
        &table.corner,
        table.column_names().iter().zip(arrows(table)).map(|(name, arrow)| format!("{name} {arrow}")),
    );
    line(&mut text, "---", std::iter::repeat_n("---:".to_owned(), table.columns()));
    for row in &table.rows {
        line(&mut text, &row.label, row.cells.iter().map(cell));
    }
    for note in &table.notes {
        write!(text, "\n{}\n", escaped(note)).expect("a string takes all");
    }
    text
}

fn arrows(table: &Table) -> Vec<&'static str> {
    table.headers.last().into_iter().flatten().map(crate::table::Header::arrow).collect()
}

fn line(text: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| escaped(cell.trim())).collect();
    writeln!(text, "| {} | {} |", escaped(first), cells.join(" | ")).expect("a string takes all");
}

/// Text as it stands in Markdown: neither a column, nor HTML, nor a link, nor a line of its own.
/// Stars stay: notes are set in bold with them.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '[' | ']' | '`' => escaped.extend(['\\', c]),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Missing { unfinished, paper } => {
            let paper = paper.map_or(String::new(), |paper| format!(" (paper {paper:.2})"));
            let begun = if *unfinished > 0 { format!(", {unfinished} unfinished") } else { String::new() };
            format!("missing{begun}{paper}")
        }
        Cell::Measured(measured) => measure(measured),
        Cell::Difference { against, .. } => against.text().join(", ").replacen(", [", " [", 1),
        Cell::Text { text, .. } => text.clone(),
    }
}

fn measure(measured: &Measured) -> String {
    let mut text = measured.text();
    if measured.best {
        text = format!("**{text}**");
    }
    if let Some(change) = measured.change {
        let arrow = if change < 0.0 { "↓" } else { "↑" };
        write!(text, " {arrow}{:.2}", change.abs()).expect("a string takes all");
    }
    if let Some((paper, verdict)) = measured.paper {
        write!(text, " (paper {paper:.2}: {})", verdict.words()).expect("a string takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_stay_text() {
        assert_eq!(escaped("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(escaped("a|b [c](d) `e` & f\n# g"), "a\\|b \\[c\\](d) \\`e\\` &amp; f # g");
        assert_eq!(escaped("**best** 1.0 ± 0.1"), "**best** 1.0 ± 0.1");
    }
}
