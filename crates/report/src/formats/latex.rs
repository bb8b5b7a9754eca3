//! Tables as LaTeX with booktabs, in the paper's manner: best in bold, changes as arrows, the
//! paper's number in grey.

use std::fmt::Write;

use crate::table::{Cell, Header, Measured, Row, Table};

/// The table as a `table*`, with what it needs said at the top.
pub fn table(table: &Table) -> String {
    let mut text = String::from("% needs \\usepackage{booktabs,graphicx,xcolor}\n\\begin{table*}\n\\centering\n");
    let mut line = |line: &str| writeln!(text, "{line}").expect("a string takes all");
    line(&format!("\\caption{{{}}}", escaped(&table.title)));
    line(&format!("\\label{{tab:{}}}", table.id));
    line("\\resizebox{\\linewidth}{!}{%");
    line(&format!("\\begin{{tabular}}{{l{}}}", "c".repeat(table.columns())));
    line("\\toprule");
    for (i, headers) in table.headers.iter().enumerate() {
        let last = i + 1 == table.headers.len();
        line(&header(if last { &table.corner } else { "" }, headers));
        if !last {
            line(&rules(headers));
        }
    }
    line("\\midrule");
    for (i, row) in table.rows.iter().enumerate() {
        if i > 0 && row.begins_part {
            line("\\midrule");
        }
        line(&self::row(row));
    }
    line("\\bottomrule");
    line("\\end{tabular}}");
    for note in &table.notes {
        line(&format!("\\par\\smallskip{{\\footnotesize {}\\par}}", escaped(&note.replace('*', ""))));
    }
    line("\\end{table*}");
    text
}

fn header(corner: &str, headers: &[Header]) -> String {
    let cell = |header: &Header| {
        let arrow = symbols(header.arrow());
        let text = format!(
            "\\textit{{{}}}{}",
            escaped(&header.text),
            if arrow.is_empty() { arrow } else { format!(" {arrow}") }
        );
        if header.span > 1 { format!("\\multicolumn{{{}}}{{c}}{{{text}}}", header.span) } else { text }
    };
    let cells: Vec<String> = headers.iter().map(cell).collect();
    format!("{} & {} \\\\", escaped(corner), cells.join(" & "))
}

/// Lines under headers that span columns.
fn rules(headers: &[Header]) -> String {
    let mut column = 2;
    let mut rules = String::new();
    for header in headers {
        write!(rules, "\\cmidrule(lr){{{column}-{}}}", column + header.span - 1).expect("a string takes all");
        column += header.span;
    }
    rules
}

fn row(row: &Row) -> String {
    let cells: Vec<String> = row.cells.iter().map(cell).collect();
    let label = match row.label.strip_prefix("+ ") {
        Some(name) => format!("$+$ \\textbf{{{}}}", escaped(name)),
        None => escaped(&row.label),
    };
    format!("{label} & {} \\\\", cells.join(" & "))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Missing { paper, .. } => above("--".into(), paper.map(|paper| format!("{paper:.2}"))),
        Cell::Measured(measured) => measure(measured),
        Cell::Difference { against, .. } => {
            let mut lines = against.text().into_iter().map(|line| symbols(&line));
            let first = lines.next().unwrap_or_default();
            above(first, Some(lines.collect::<Vec<_>>().join(", ")))
        }
        Cell::Text { text, .. } => escaped(text),
    }
}

fn measure(measured: &Measured) -> String {
    let decimals = measured.decimals;
    let mean = format!("{:.decimals$}", measured.value.mean).replace('-', "$-$");
    let mut text = if measured.best { format!("\\textbf{{{mean}}}") } else { mean };
    if let Some(deviation) = measured.value.deviation {
        write!(text, "{{\\scriptsize$\\pm${deviation:.decimals$}}}").expect("a string takes all");
    }
    if let Some(change) = measured.change {
        let arrow = if change < 0.0 { "\\downarrow" } else { "\\uparrow" };
        write!(text, "{{\\scriptsize$\\,{arrow}$\\,{:.2}}}", change.abs()).expect("a string takes all");
    }
    above(text, measured.paper.map(|(paper, verdict)| format!("{paper:.2}, {}", verdict.words())))
}

/// Ours above the paper's number, which is small and grey.
fn above(ours: String, paper: Option<String>) -> String {
    match paper {
        Some(paper) => format!("\\shortstack{{{ours}\\\\{{\\tiny\\color{{gray}}{paper}}}}}"),
        None => ours,
    }
}

fn escaped(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
            '\\' => "\\textbackslash{}".into(),
            '~' => "\\textasciitilde{}".into(),
            '^' => "\\textasciicircum{}".into(),
            '<' => "\\textless{}".into(),
            '>' => "\\textgreater{}".into(),
            c if c.is_control() => " ".into(),
            other => other.to_string(),
        })
        .collect();
    symbols(&escaped)
}

/// What plain LaTeX has no letter for.
fn symbols(text: &str) -> String {
    [
        ("↑", "$\\uparrow$"),
        ("↓", "$\\downarrow$"),
        ("±", "$\\pm$"),
        ("−", "$-$"),
        ("–", "--"),
        ("χ²", "$\\chi^2$"),
        ("2ⁿ", "$2^n$"),
        ("→", "$\\to$"),
        ("×", "$\\times$"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (symbol, latex)| text.replace(symbol, latex))
}
