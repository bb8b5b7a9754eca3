//! Names on contact sheets, in the font of the reports.

use image::GrayImage;
use rehearsal_report::drawing::{self, Letters};

/// The height of letters in pixels: as high as the rows of the smallest images allow.
const SIZE: usize = 18;

/// Draws a name in DejaVu Sans: 255 is ink. Letters that the font lacks are transliterated; a name
/// that is too long to draw is empty.
pub fn draw_text(text: &str) -> GrayImage {
    let Letters { width, height, ink } = drawing::letters(text, SIZE).unwrap_or_default();
    GrayImage::from_raw(width as u32, height as u32, ink).expect("a byte for each pixel")
}
