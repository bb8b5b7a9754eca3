//! A contact sheet: a row of images for each class, with its name, in as many columns as make the
//! sheet about square.

use image::{GrayImage, ImageFormat, Rgb, RgbImage};

use crate::{DataError, ImageShape, Source, Split};

/// Pixels around everything.
const MARGIN: usize = 4;
/// Pixels between two columns of rows.
const GUTTER: usize = 24;
/// Smaller images are enlarged.
const SMALLEST: usize = 48;
/// Characters of a name that are drawn.
const LONGEST_NAME: usize = 32;
/// Pixels of the largest sheet: three bytes each in memory.
const MOST_PIXELS: usize = 1 << 28;
/// Black, not quite.
const INK: u8 = 32;

/// A PNG of the first `per_class` images of every class of a split: one row per class, its name at
/// the left. `draw_text` draws a name: 0 is paper and 255 is ink.
///
/// # Errors
/// An image cannot be read, or the sheet would be too large.
pub fn sheet(
    source: &dyn Source,
    split: Split,
    per_class: usize,
    draw_text: &dyn Fn(&str) -> GrayImage,
) -> Result<Vec<u8>, DataError> {
    let names: Vec<GrayImage> = source.class_names().iter().map(|name| draw_text(&readable(name))).collect();
    let layout = Layout::new(source.shape(), &names, per_class);
    layout.check()?;
    let mut sheet = RgbImage::from_pixel(layout.width() as u32, layout.height() as u32, Rgb([255; 3]));
    for (class, name) in names.iter().enumerate() {
        let (left, top) = layout.name(class);
        for (x, y, ink) in name.enumerate_pixels() {
            let shade = 255 - (u32::from(ink.0[0]) * u32::from(255 - INK) + 127) / 255;
            sheet.put_pixel(left as u32 + x, top as u32 + y, Rgb([shade as u8; 3]));
        }
    }
    let mut shown = vec![0; names.len()];
    for (index, &label) in source.labels(split).iter().enumerate() {
        let class = usize::from(label);
        if shown[class] < per_class {
            layout.draw(&source.image(split, index)?, layout.image(class, shown[class]), &mut sheet);
            shown[class] += 1;
        }
    }
    let mut png = std::io::Cursor::new(Vec::new());
    let written = sheet.write_to(&mut png, ImageFormat::Png);
    written.map_err(|error| DataError::Refused(format!("the sheet cannot be made: {error}")))?;
    Ok(png.into_inner())
}

/// `maple_tree` as `maple tree`; long names are shortened.
fn readable(name: &str) -> String {
    let name = name.replace('_', " ");
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// The places of names and images in pixels, as (left, top).
struct Layout {
    shape: ImageShape,
    /// How often each pixel of an image is repeated, horizontally and vertically.
    zoom: usize,
    per_class: usize,
    /// Of the longest and of the highest name.
    name_width: usize,
    name_height: usize,
    /// Classes in a column.
    rows: usize,
    /// Columns of classes.
    columns: usize,
}

impl Layout {
    fn new(shape: ImageShape, names: &[GrayImage], per_class: usize) -> Self {
        let zoom = SMALLEST.div_ceil(shape.height.max(shape.width).max(1));
        let name_width = names.iter().map(|name| name.width() as usize).max().unwrap_or(0);
        let name_height = names.iter().map(|name| name.height() as usize).max().unwrap_or(0);
        let mut layout = Self { shape, zoom, per_class, name_width, name_height, rows: names.len(), columns: 1 };
        while layout.width() < layout.height() && layout.rows > 1 {
            layout.columns += 1;
            layout.rows = names.len().div_ceil(layout.columns);
        }
        layout
    }

    /// Refuses a sheet that is too large.
    fn check(&self) -> Result<(), DataError> {
        let (width, height) = (self.width(), self.height());
        if width.saturating_mul(height) <= MOST_PIXELS {
            return Ok(());
        }
        let why = format!("the sheet would have {width}×{height} pixels: choose fewer images of each class");
        Err(DataError::Refused(why))
    }

    fn width(&self) -> usize {
        self.columns * self.column() + MARGIN - GUTTER
    }

    fn height(&self) -> usize {
        MARGIN + self.rows * self.row()
    }

    /// From one column of classes to the next.
    fn column(&self) -> usize {
        MARGIN + self.name_width + MARGIN + self.per_class * self.step() - MARGIN + GUTTER
    }

    /// From one class to the one below.
    fn row(&self) -> usize {
        (self.shape.height * self.zoom).max(self.name_height) + MARGIN
    }

    /// From one image to the next.
    fn step(&self) -> usize {
        self.shape.width * self.zoom + MARGIN
    }

    fn corner(&self, class: usize) -> (usize, usize) {
        (class / self.rows * self.column() + MARGIN, class % self.rows * self.row() + MARGIN)
    }

    /// The place of a class's name: in the middle of its row.
    fn name(&self, class: usize) -> (usize, usize) {
        let (left, top) = self.corner(class);
        (left, top + (self.row() - MARGIN - self.name_height) / 2)
    }

    /// The place of an image of a class.
    fn image(&self, class: usize, number: usize) -> (usize, usize) {
        let (left, top) = self.corner(class);
        (left + self.name_width + MARGIN + number * self.step(), top)
    }

    /// Draws an image, enlarged.
    fn draw(&self, image: &[u8], (left, top): (usize, usize), sheet: &mut RgbImage) {
        for (pixel, bytes) in image.chunks_exact(self.shape.channels).enumerate() {
            let colour = if let [red, green, blue] = *bytes { Rgb([red, green, blue]) } else { Rgb([bytes[0]; 3]) };
            let (x, y) = (left + pixel % self.shape.width * self.zoom, top + pixel / self.shape.width * self.zoom);
            for (dx, dy) in (0..self.zoom * self.zoom).map(|i| (i % self.zoom, i / self.zoom)) {
                sheet.put_pixel((x + dx) as u32, (y + dy) as u32, colour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Request, decode::decode};

    /// A bar of ink, ten pixels for each character.
    fn bar(text: &str) -> GrayImage {
        GrayImage::from_pixel(10 * text.chars().count() as u32, 14, image::Luma([255]))
    }

    #[test]
    fn a_sheet_shows_the_exact_pixels_in_rows_of_classes() {
        let source = Dataset::Embedded.open(&Request::default()).unwrap();
        let sheet = decode(&sheet(&*source, Split::Test, 10, &bar).unwrap()).unwrap();
        let left = MARGIN + 10 * "ankle boot".len() + MARGIN;
        assert_eq!((sheet.height, sheet.width), (MARGIN + 10 * 60, left + 10 * 60), "enlarged twice");
        let trousers: Vec<usize> =
            source.labels(Split::Test).iter().enumerate().filter(|(_, label)| **label == 1).map(|(i, _)| i).collect();
        let image = source.image(Split::Test, trousers[2]).unwrap();
        for (y, x) in [(3, 14), (20, 8), (27, 27)] {
            let at = 3 * ((MARGIN + 60 + 2 * y) * sheet.width + left + 2 * 60 + 2 * x);
            assert_eq!(sheet.pixels[at], image[y * 28 + x], "third trousers, row {y}, column {x}");
        }
        let ink = |x: usize, y: usize| sheet.pixels[3 * (y * sheet.width + x)];
        let middle = MARGIN + 28;
        assert_eq!((ink(MARGIN, middle), ink(MARGIN + 69, middle)), (INK, INK), "`t-shirt` is drawn");
        assert_eq!((ink(MARGIN + 70, middle), ink(MARGIN, middle - 8)), (255, 255), "and ends");
    }

    #[test]
    fn a_sheet_that_is_too_large_is_refused() {
        let layout = |classes: usize, size: usize| {
            let names = vec![bar("a"); classes];
            Layout::new(ImageShape { height: size, width: size, channels: 3 }, &names, 100)
        };
        assert!(layout(100, 32).check().is_ok());
        let why = layout(300, 1024).check().unwrap_err().to_string();
        assert!(why.contains("pixels: choose fewer images of each class"), "{why}");
    }

    #[test]
    fn many_classes_are_in_columns_and_do_not_overlap() {
        let names = vec![bar("a maple tree"); 100];
        let shape = ImageShape { height: 32, width: 32, channels: 3 };
        let layout = Layout::new(shape, &names, 10);
        assert!(layout.columns > 1 && layout.columns * layout.rows >= 100);
        assert!(layout.height() <= layout.width() && layout.width() < 2 * layout.height());
        let places: std::collections::BTreeSet<_> = (0..100).map(|class| layout.image(class, 9)).collect();
        assert_eq!(places.len(), 100);
        let (right, bottom) = (layout.width() - MARGIN, layout.height() - MARGIN);
        assert!(places.iter().all(|(x, y)| x + 64 <= right && y + 64 <= bottom), "all within the sheet");
        assert_eq!(layout.image(99, 9).0 + 64, right, "no empty column at the right");
        assert_eq!(Layout::new(shape, &names[..1], 1).columns, 1);
        assert_eq!(Layout::new(shape, &[], 10).rows, 0);
    }
}
