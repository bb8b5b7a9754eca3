//! Columns that align by how wide letters are shown, in every script.

use unicode_width::UnicodeWidthStr;

/// Rows as lines, every column but the last as wide as its widest cell, two spaces between. Cells of
/// a column for which `right` is true stand at the right.
pub fn columns(rows: &[Vec<String>], right: &[bool]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let cell = |(column, cell): (usize, &String)| {
        let space = " ".repeat(widths[column] - cell.width());
        if right.get(column) == Some(&true) { format!("{space}{cell}") } else { format!("{cell}{space}") }
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_display_width() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let lines = columns(&[row(&["楓", "5", "a"]), row(&["maple", "12", ""]), row(&["é"])], &[false, true]);
        assert_eq!(lines, ["楓      5  a", "maple  12", "é"]);
    }
}
