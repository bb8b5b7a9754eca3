//! Columns of text that line up in every script: a letter may take two columns of a terminal, or
//! none.

use unicode_width::UnicodeWidthStr;

/// How many columns of a terminal a text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// A text with spaces behind it, up to so many columns.
pub fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

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
