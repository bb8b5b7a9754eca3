//! A contact sheet: a row of images for every class, with its name.

mod font;

use image::{ImageFormat, RgbImage};

use crate::{DataError, Source, Split};

/// Pixels around everything.
const MARGIN: usize = 4;
const BACKGROUND: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [32, 32, 32];

/// The first `per_class` images of every class of a split, one row a class, its name at the left. Small images are shown enlarged.
///
/// # Errors
/// An image cannot be read.
pub fn sheet(source: &dyn Source, split: Split, per_class: usize) -> Result<Vec<u8>, DataError> {
    let shape = source.shape();
    let zoom = (48 / shape.height.max(shape.width).max(1)).max(1);
    let (height, width) = (shape.height * zoom, shape.width * zoom);
    let names = source.class_names();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(32);
    let left = MARGIN + longest * font::ADVANCE + MARGIN;
    let (row, column) = (height.max(font::HEIGHT) + MARGIN, width + MARGIN);
    let mut sheet = RgbImage::from_pixel(
        (left + per_class * column) as u32,
        (MARGIN + names.len() * row) as u32,
        image::Rgb(BACKGROUND),
    );
    let mut shown = vec![0; names.len()];
    for (class, name) in names.iter().enumerate() {
        let top = MARGIN + class * row + (height.saturating_sub(font::HEIGHT)) / 2;
        font::write(name, longest, |x, y| sheet.put_pixel((MARGIN + x) as u32, (top + y) as u32, image::Rgb(INK)));
    }
    for (index, &label) in source.labels(split).iter().enumerate() {
        let class = usize::from(label);
        if shown[class] == per_class {
            continue;
        }
        let (x, y) = (left + shown[class] * column, MARGIN + class * row);
        shown[class] += 1;
        let image = source.image(split, index)?;
        for (pixel, bytes) in image.chunks_exact(shape.channels).enumerate() {
            let colour = if shape.channels == 1 { [bytes[0]; 3] } else { [bytes[0], bytes[1], bytes[2]] };
            let (column, row) = (x + pixel % shape.width * zoom, y + pixel / shape.width * zoom);
            for (dx, dy) in (0..zoom * zoom).map(|i| (i % zoom, i / zoom)) {
                sheet.put_pixel((column + dx) as u32, (row + dy) as u32, image::Rgb(colour));
            }
        }
    }
    let mut png = std::io::Cursor::new(Vec::new());
    let written = sheet.write_to(&mut png, ImageFormat::Png);
    written.map_err(|error| DataError::Refused(format!("the sheet cannot be made: {error}")))?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Request, decode::decode};

    #[test]
    fn a_sheet_shows_the_very_pixels_in_rows_of_classes() {
        let source = Dataset::Embedded.open(&Request::default()).unwrap();
        let sheet = decode(&sheet(&*source, Split::Test, 3).unwrap()).unwrap();
        let left = MARGIN + "ankle boot".len() * font::ADVANCE + MARGIN;
        assert_eq!((sheet.height, sheet.width), (MARGIN + 10 * 32, left + 3 * 32));
        let trousers: Vec<usize> =
            source.labels(Split::Test).iter().enumerate().filter(|(_, label)| **label == 1).map(|(i, _)| i).collect();
        let image = source.image(Split::Test, trousers[2]).unwrap();
        for (y, x) in [(3, 14), (20, 8), (27, 27)] {
            let at = 3 * ((MARGIN + 32 + y) * sheet.width + left + 2 * 32 + x);
            assert_eq!(sheet.pixels[at], image[y * 28 + x], "third trousers, row {y}, column {x}");
        }
        let name = sheet.pixels[..3 * sheet.width * 36].chunks(3).filter(|pixel| *pixel == INK).count();
        assert!(name > 20, "the first class's name is written");
    }
}
