//! Names from files, made safe to print.

use std::fmt::Write;

/// `text` for a terminal: characters that could move the cursor, change colours, hide or reorder text
/// (control characters, Unicode's direction marks and line separators) are written as `\u{1b}`.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_safe(character) {
            safe.push(character);
        } else {
            write!(safe, "{}", character.escape_unicode()).expect("a String takes everything");
        }
    }
    safe
}

fn is_safe(character: char) -> bool {
    let reorders =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let separates = matches!(character, '\u{2028}' | '\u{2029}');
    !character.is_control() && !reorders && !separates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_letters_stay() {
        assert_eq!(printable("maple_tree, Ahorn, 楓, 🍁"), "maple_tree, Ahorn, 楓, 🍁");
        assert_eq!(printable("\x1b[31mred\x1b[0m"), "\\u{1b}[31mred\\u{1b}[0m");
        assert_eq!(printable("a\nb\r\t\x07\x7f"), "a\\u{a}b\\u{d}\\u{9}\\u{7}\\u{7f}");
        assert_eq!(printable("\u{9b}2J\u{202e}gpj\u{2028}"), "\\u{9b}2J\\u{202e}gpj\\u{2028}");
    }
}
