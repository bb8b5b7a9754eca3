//! Columns of text that align in every script: a letter may take two columns of a terminal, or none.

use std::io;

use unicode_width::UnicodeWidthStr;

/// Rows as aligned lines, two spaces between columns. Columns for which `right` is true are right-aligned; empty
/// columns are left out.
pub fn columns(rows: &[Vec<String>], right: &[bool]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let cell = |(column, cell): (usize, &String)| {
        let space = " ".repeat(widths[column] - cell.width());
        if right.get(column) == Some(&true) { format!("{space}{cell}") } else { format!("{cell}{space}") }
    };
    let is_there = |(column, _): &(usize, &String)| widths[*column] > 0;
    let line = |row: &Vec<String>| row.iter().enumerate().filter(is_there).map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

/// The number of terminal columns of a text.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// The columns of the terminal; none if standard output is not a terminal.
pub fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// A name in at most `most` columns. A longer name keeps its beginning and its end, which distinguishes classes that
/// are named by their paths.
pub fn clipped(name: &str, most: usize) -> String {
    if display_width(name) <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(1);
    let head = taken(name.chars(), room.div_ceil(2));
    let tail = taken(name.chars().rev(), room - display_width(&head));
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

/// The first letters that fit into the columns.
fn taken(letters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut text = String::new();
    for letter in letters {
        text.push(letter);
        if display_width(&text) > columns {
            text.pop();
            break;
        }
    }
    text
}

/// A text padded with spaces to a number of columns.
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
    fn an_empty_column_takes_no_place() {
        let rows = [["a", "", "b"], ["cd", "", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, &[]), ["a   b", "cd"]);
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(clipped("sneakers", 8), "sneakers");
        assert_eq!(clipped("bags/leather/brown/small", 15), "bags/le…n/small");
        assert_eq!(clipped("東京の猫東京の猫", 8), "東京…猫", "no letter is cut in half");
        for most in 1..12 {
            assert!(display_width(&clipped("東京の猫 in a boot", most)) <= most);
        }
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
