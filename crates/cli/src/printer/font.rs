//! Names on contact sheets, in the font of the reports.

use rehearsal_data::preview::{Dots, Lettering, Letters};
use rehearsal_report::drawing;

/// Pixels of a letter: as high as the rows of the smallest images allow.
const SIZE: usize = 18;

/// DejaVu Sans; letters that it lacks are spelled in others.
pub struct Font;

impl Lettering for Font {
    fn letters(&self, text: &str) -> Letters {
        match drawing::letters(text, SIZE) {
            Ok(drawing::Letters { width, height, ink }) => Letters { width, height, ink },
            // Longer than any name: in dots it has an end too.
            Err(_) => Dots.letters(text),
        }
    }
}
