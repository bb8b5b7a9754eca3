//! Numbers and names for people: grouped digits, lines of a certain width, names that are safe to print.

use std::fmt::{Display, Write};

/// 30000 as `30,000`, of an unsigned number.
pub fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// `1 image`, `30,000 images`.
pub fn plural(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(number)) }
}

/// Breaks a text at its spaces into lines that fit. A word that does not fit has a line of its own.
pub fn wrap(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}")).filter(|line| fits(line));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) => *line = longer,
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// In lines of at most `width` characters. See [`wrap`].
pub fn wrap_at(text: &str, width: usize) -> Vec<String> {
    wrap(text, |line| line.chars().count() <= width)
}

/// `text` for a terminal: characters that could move the cursor, change colours, hide or reorder text (control
/// characters, and Unicode's marks of direction and separators of lines) are written as `\u{1b}`. Letters of every
/// script stay as they are.
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

/// `text` as nothing but text in HTML, XML and their quoted attributes.
pub fn escaped_html(text: &str) -> String {
    // XML cannot hold control characters, not even escaped.
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 30_000, 1_234_567].map(thousands), ["0", "999", "1,000", "30,000", "1,234,567"]);
    }

    #[test]
    fn lines_fit_unless_a_word_does_not() {
        assert_eq!(wrap_at("to be or not interesting é é é é", 6), ["to be", "or not", "interesting", "é é é", "é"]);
        assert!(wrap_at("", 6).is_empty());
        assert_eq!(wrap("a b c", |line| !line.contains('b')), ["a", "b", "c"]);
    }

    #[test]
    fn names_are_text_in_a_page() {
        assert_eq!(escaped_html("<b>\"a\" & b\x1b"), "&lt;b&gt;&quot;a&quot; &amp; b\u{fffd}");
    }

    #[test]
    fn escape_sequences_are_shown_and_letters_stay() {
        assert_eq!(printable("maple_tree, Ahorn, 楓, 🍁"), "maple_tree, Ahorn, 楓, 🍁");
        assert_eq!(printable("\x1b[31mred\x1b[0m"), "\\u{1b}[31mred\\u{1b}[0m");
        assert_eq!(printable("a\nb\r\t\x07\x7f"), "a\\u{a}b\\u{d}\\u{9}\\u{7}\\u{7f}");
        assert_eq!(printable("\u{9b}2J\u{202e}gpj\u{2028}"), "\\u{9b}2J\\u{202e}gpj\\u{2028}");
    }
}
