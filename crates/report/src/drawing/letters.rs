//! A text in pixels, in the font that the program carries, and what to write where the font has no
//! letters.

use std::borrow::Cow;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::Tree,
};

use super::{RenderError, canvas::escaped, png, text};

/// A text in pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// How much of each pixel is ink: `[height, width]`, 0 to 255.
    pub ink: Vec<u8>,
}

/// Draws a text whose letters are `size` pixels high, from the left edge.
///
/// # Errors
/// It is too large.
pub fn letters(written: &str, size: usize) -> Result<Letters, RenderError> {
    let written = drawable(written);
    let (height, baseline) = (size + size / 2, size + size / 8);
    // Letters that join are of another width: there is room, and what is empty is cut off.
    let width = (2.0 * text::width(&written, size as f64)).ceil() as usize + size;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
         <text x=\"0\" y=\"{baseline}\" font-size=\"{size}\">{}</text></svg>",
        escaped(&written)
    );
    let tree = Tree::from_str(&svg, &png::options()).map_err(|error| RenderError::new(&error))?;
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| RenderError::new(&"the text is too long"))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    let alpha: Vec<u8> = pixels.pixels().iter().map(|pixel| pixel.alpha()).collect();
    let last = |row: &[u8]| row.iter().rposition(|&ink| ink > 0).map_or(0, |column| column + 1);
    let used = alpha.chunks(width).map(last).max().unwrap_or(0);
    let ink = alpha.chunks(width).flat_map(|row| &row[..used]).copied().collect();
    Ok(Letters { width: used, height, ink })
}

/// A text in letters that the font has. Others are transliterated (猫 is written Mao, 🍁 maple
/// leaf), and what nobody can spell is written as its number, U+0F3FF.
pub fn drawable(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(is_drawn) {
        return text.into();
    }
    let mut drawn = String::new();
    let mut after_spelled = false;
    for letter in text.chars() {
        let is_own = is_drawn(letter);
        // Spelled words stand apart from what follows, but for its marks.
        if after_spelled {
            drawn.truncate(drawn.trim_end().len());
            if letter.is_alphanumeric() {
                drawn.push(' ');
            }
        }
        if is_own {
            drawn.push(letter);
        } else {
            match deunicode::deunicode_char(letter) {
                // No marks of SVG: they would be taken for such.
                Some(spelled) => drawn.push_str(&spelled.replace(['<', '>', '&', '"'], " ")),
                None => drawn.push_str(&format!("U+{:04X}", u32::from(letter))),
            }
        }
        after_spelled = !is_own;
    }
    drawn.trim_end().to_owned().into()
}

/// Whether the font has a letter, or it is one that is never seen.
fn is_drawn(letter: char) -> bool {
    letter.is_ascii() || text::has(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_font_has_stays_and_the_rest_is_spelled() {
        for text in ["ankle boot", "Ärmel", "кошка", "γάτα", "قطة", "חתול", "cafe\u{301}"] {
            assert_eq!(drawable(text), text);
        }
        assert_eq!(drawable("猫"), "Mao");
        assert_eq!(drawable("花猫/室内"), "Hua Mao/Shi Nei");
        assert_eq!(drawable("🍁"), "maple leaf");
        assert_eq!(drawable("\u{f3ff}"), "U+F3FF", "of private use");
    }

    #[test]
    fn letters_are_drawn_from_the_left_edge_and_nothing_else_is() {
        let [narrow, wide] = ["i", "WWWWWWWW"].map(|text| letters(text, 16).unwrap());
        assert!(narrow.width < 10 && wide.width > 100, "{} and {}", narrow.width, wide.width);
        assert_eq!((wide.height, wide.ink.len()), (24, 24 * wide.width));
        assert!(wide.ink.iter().filter(|&&ink| ink > 200).count() > 300, "there is ink");
        assert_eq!(letters("", 16).unwrap().ink.len(), 0);
        assert!(letters("<&>", 16).unwrap().width > 20, "as it stands");
    }
}
