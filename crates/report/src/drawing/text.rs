//! How wide a text is. Figures are laid out for DejaVu Sans, which the program carries, so that
//! they look the same on a machine without fonts.

use std::sync::LazyLock;

use skrifa::{FontRef, MetadataProvider, instance::LocationRef, prelude::Size};

/// What SVG files ask for: the font they are laid out for, then others of about its width.
pub const FAMILY: &str = "DejaVu Sans, Verdana, Bitstream Vera Sans, sans-serif";

static FONT: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::new(dejavu::sans::regular()).expect("the font inside the program is whole"));

/// Whether the font has a letter.
pub fn has(letter: char) -> bool {
    FONT.charmap().map(letter).is_some()
}

/// Pixels that a text of some size takes.
pub fn width(text: &str, size: f64) -> f64 {
    let metrics = FONT.glyph_metrics(Size::new(size as f32), LocationRef::default());
    let glyphs = FONT.charmap();
    text.chars().map(|c| f64::from(glyphs.map(c).and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(0.0))).sum()
}

/// The text in lines that are no wider than some pixels, broken at spaces, and within a word only
/// if it is wider than a line.
pub fn wrapped(text: &str, size: f64, widest: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= widest => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(broken(word, size, widest)),
        }
    }
    lines
}

/// A word in pieces that are no wider than some pixels; a letter is never broken.
fn broken(word: &str, size: f64, widest: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        match pieces.last_mut() {
            Some(piece) if piece.is_empty() || width(&format!("{piece}{letter}"), size) <= widest => piece.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        assert!(width("WWW", 12.0) > 2.0 * width("iii", 12.0));
        assert!((width("accuracy", 24.0) - 2.0 * width("accuracy", 12.0)).abs() < 1e-3);
        assert!(["±", "−", "↑", "χ"].iter().all(|symbol| width(symbol, 12.0) > 3.0), "the font has them");
    }

    #[test]
    fn lines_break_at_spaces_and_lose_nothing() {
        let text = "one two three four five six";
        let lines = wrapped(text, 12.0, 60.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 12.0) <= 60.0));
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn a_word_wider_than_a_line_is_broken() {
        let lines = wrapped("a supercalifragilistic word", 12.0, 60.0);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 60.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), "asupercalifragilisticword");
        assert_eq!(wrapped("wide", 12.0, 1.0), ["w", "i", "d", "e"]);
    }
}
