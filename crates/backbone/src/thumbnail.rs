//! A small picture of a photo, for people who look at what a model remembers.

use std::{io::Cursor, sync::Arc};

use image::{ExtendedColorType, ImageEncoder, RgbImage, codecs::jpeg::JpegEncoder, imageops};
use rehearsal_data::ImageShape;

/// Height and width.
const SIZE: u32 = 96;
/// 2 to 4 kB a photo.
const QUALITY: u8 = 70;

/// A JPEG file of an image in colour; empty if it is not of this shape.
pub(crate) fn thumbnail(pixels: &[u8], shape: ImageShape) -> Arc<[u8]> {
    let image = RgbImage::from_raw(shape.width as u32, shape.height as u32, pixels.to_vec());
    let encoded = image.and_then(|image| {
        let small = imageops::thumbnail(&image, SIZE.min(image.width()), SIZE.min(image.height()));
        let mut file = Cursor::new(Vec::new());
        let encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
        let (width, height) = small.dimensions();
        encoder.write_image(&small, width, height, ExtendedColorType::Rgb8).ok()?;
        Some(file.into_inner())
    });
    encoded.unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_a_small_jpeg() {
        let shape = ImageShape { height: 224, width: 224, channels: 3 };
        let pixels: Vec<u8> = (0..shape.bytes()).map(|i| (i / 600 % 256) as u8).collect();
        let file = thumbnail(&pixels, shape);
        let picture = rehearsal_data::decode::decode(&file).unwrap();
        assert_eq!((picture.height, picture.width), (96, 96));
        assert!(file.len() < 4000, "{}", file.len());
        assert!(thumbnail(&pixels[1..], shape).is_empty());
    }
}
