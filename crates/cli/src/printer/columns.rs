//! Columns of text that line up in every script: a letter may take two columns of a terminal, or
//! none.

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

/// How many columns of a terminal a text takes.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// A text with spaces behind it, up to so many columns.
pub fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(display_width(text))))
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

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        assert_eq!(padded("cat", 6), "cat   ");
        assert_eq!(padded("猫", 6), "猫    ");
        assert_eq!(padded("кошка", 6), "кошка ");
        assert_eq!(padded("cafe\u{301}", 6), "cafe\u{301}  ", "an accent stands over its letter");
        assert_eq!(padded("🍁", 6), "🍁    ");
        assert_eq!(padded("longer", 3), "longer");
    }
}
