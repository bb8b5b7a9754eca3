//! Text in pixels, in the embedded font, and what to write for characters that the font lacks.

use std::borrow::Cow;

use super::{RenderError, png::pixels, text};
use crate::text::escaped;

/// A text in pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The opacity of each pixel: `[height, width]`, 0 to 255.
    pub ink: Vec<u8>,
}

/// Draws a text of a font size in pixels, from the left edge.
///
/// # Errors
/// The text is too long.
pub fn letters(written: &str, size: usize) -> Result<Letters, RenderError> {
    let written = drawable(written);
    let (height, baseline) = (size + size / 2, size + size / 8);
    // Ligatures have another width: there is room, and empty columns are cut off.
    let width = (2.0 * text::width(&written, size as f64)).ceil() as usize + size;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
         <text x=\"0\" y=\"{baseline}\" font-size=\"{size}\">{}</text></svg>",
        escaped(&written)
    );
    let alpha: Vec<u8> = pixels(&svg, 1.0)?.pixels().iter().map(|pixel| pixel.alpha()).collect();
    let last = |row: &[u8]| row.iter().rposition(|&ink| ink > 0).map_or(0, |column| column + 1);
    let used = alpha.chunks(width).map(last).max().unwrap_or(0);
    let ink = alpha.chunks(width).flat_map(|row| &row[..used]).copied().collect();
    Ok(Letters { width: used, height, ink })
}

/// A text in characters that the font has. Others are transliterated (猫 becomes Mao, 🍁 maple leaf),
/// or written as their code point, U+F3FF.
pub fn drawable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_drawn) {
        return text.into();
    }
    let mut drawn = String::new();
    let mut after_spelled = false;
    for letter in text.chars() {
        // Transliterated words are separated from the next word, not from punctuation.
        if after_spelled {
            drawn.truncate(drawn.trim_end().len());
            if letter.is_alphanumeric() {
                drawn.push(' ');
            }
        }
        after_spelled = !is_drawn(letter);
        match deunicode::deunicode_char(letter) {
            _ if !after_spelled => drawn.push(letter),
            // Not markup of SVG.
            Some(spelled) => drawn.push_str(&spelled.replace(['<', '>', '&', '"'], " ")),
            None => drawn.push_str(&format!("U+{:04X}", u32::from(letter))),
        }
    }
    drawn.trim_end().to_owned().into()
}

/// Whether the font has a character, or it is a control character.
fn is_drawn(letter: char) -> bool {
    letter.is_ascii() || text::has(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_the_font_lacks_are_transliterated() {
        for text in ["ankle boot", "Ärmel", "кошка", "γάτα", "قطة", "חתול", "cafe\u{301}"] {
            assert_eq!(drawable(text), text);
        }
        assert_eq!(drawable("猫"), "Mao");
        assert_eq!(drawable("花猫/室内"), "Hua Mao/Shi Nei");
        assert_eq!(drawable("🍁"), "maple leaf");
        assert_eq!(drawable("\u{f3ff}"), "U+F3FF", "a private-use character");
    }

    #[test]
    fn letters_are_drawn_from_the_left_edge() {
        let [narrow, wide] = ["i", "WWWWWWWW"].map(|text| letters(text, 16).unwrap());
        assert!(narrow.width < 10 && wide.width > 100, "{} and {}", narrow.width, wide.width);
        assert_eq!((wide.height, wide.ink.len()), (24, 24 * wide.width));
        assert!(wide.ink.iter().filter(|&&ink| ink > 200).count() > 300, "there is ink");
        assert_eq!(letters("", 16).unwrap().ink.len(), 0);
        assert!(letters("<&>", 16).unwrap().width > 20, "not taken for markup");
    }
}
