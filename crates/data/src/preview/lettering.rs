//! Names on a sheet: letters are pixels of ink.

use image::{Rgb, RgbImage};

/// Who can write names.
pub trait Lettering {
    /// A text in pixels.
    fn letters(&self, text: &str) -> Letters;
}

/// A text in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letters {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// How much of each pixel is ink: `[height, width]`, 0 to 255.
    pub ink: Vec<u8>,
}

impl Letters {
    /// Draws the text in one colour on another, from (left, top).
    pub(super) fn draw(&self, (left, top): (usize, usize), ink: Rgb<u8>, paper: Rgb<u8>, sheet: &mut RgbImage) {
        for (index, &share) in self.ink.iter().enumerate().filter(|(_, share)| **share > 0) {
            let (x, y) = (left + index % self.width, top + index / self.width);
            let mixed = |channel: usize| {
                let [ink, paper] = [ink, paper].map(|colour| u32::from(colour[channel]));
                let share = u32::from(share);
                ((ink * share + paper * (255 - share) + 127) / 255) as u8
            };
            sheet.put_pixel(x as u32, y as u32, Rgb([0, 1, 2].map(mixed)));
        }
    }
}
