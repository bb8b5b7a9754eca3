//! A small picture of a photo, for people who look at what a model remembers.

use std::{io::Cursor, sync::Arc};

use image::{ExtendedColorType, ImageEncoder, RgbImage, codecs::jpeg::JpegEncoder, imageops};
use rehearsal_data::ImageShape;

/// The longest side of the thumbnails that a model remembers.
pub(crate) const REMEMBERED: u32 = 96;
/// 2 to 4 kB a photo of 96 × 96 pixels.
const QUALITY: u8 = 70;

/// A JPEG file of an image in colour, no side longer than `longest`; empty if the image is not of this shape.
pub fn thumbnail(pixels: &[u8], shape: ImageShape, longest: u32) -> Arc<[u8]> {
    let image = RgbImage::from_raw(shape.width as u32, shape.height as u32, pixels.to_vec());
    let encoded = image.and_then(|image| {
        let (width, height) = small(image.width(), image.height(), longest);
        let small = imageops::thumbnail(&image, width, height);
        let mut file = Cursor::new(Vec::new());
        let encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
        encoder.write_image(&small, width, height, ExtendedColorType::Rgb8).ok()?;
        Some(file.into_inner())
    });
    encoded.unwrap_or_default().into()
}

/// Width and height with the same proportions, neither more than `longest` nor more than they were.
fn small(width: u32, height: u32, longest: u32) -> (u32, u32) {
    let scale = (f64::from(longest) / f64::from(width.max(height).max(1))).min(1.0);
    let scaled = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
    (scaled(width), scaled(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_a_small_jpeg() {
        let shape = ImageShape { height: 224, width: 224, channels: 3 };
        let pixels: Vec<u8> = (0..shape.bytes()).map(|i| (i / 600 % 256) as u8).collect();
        let file = thumbnail(&pixels, shape, REMEMBERED);
        let picture = rehearsal_data::decode::decode(&file).unwrap();
        assert_eq!((picture.height, picture.width), (96, 96));
        assert!(file.len() < 4000, "{}", file.len());
        assert!(thumbnail(&pixels[1..], shape, REMEMBERED).is_empty());
    }

    #[test]
    fn a_thumbnail_has_the_proportions_of_its_photo_and_is_not_larger() {
        assert_eq!(
            [(640, 480), (480, 640), (10_000, 1), (20, 10)].map(|(w, h)| small(w, h, 96)),
            [(96, 72), (72, 96), (96, 1), (20, 10)]
        );
    }
}
