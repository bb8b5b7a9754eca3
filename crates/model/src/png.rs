//! PNG files.

use std::{fs, io, path::Path};

use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use rehearsal_data::ImageShape;

/// Writes pixels as a PNG file. `image::save_buffer` would not report a full disk.
///
/// # Errors
/// It cannot be written.
pub fn write_png(path: &Path, pixels: &[u8], shape: ImageShape) -> io::Result<()> {
    fs::write(path, encode_png(pixels, shape)?)
}

/// Pixels as the bytes of a PNG file.
///
/// # Errors
/// There are not as many pixels as the shape says.
pub fn encode_png(pixels: &[u8], shape: ImageShape) -> io::Result<Vec<u8>> {
    let colour = if shape.channels == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    let mut png = Vec::new();
    let encoded = PngEncoder::new(&mut png).write_image(pixels, shape.width as u32, shape.height as u32, colour);
    encoded.map_err(io::Error::other)?;
    Ok(png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_come_back_and_a_full_disk_is_told() {
        let place = tempfile::tempdir().unwrap();
        let (path, shape) = (place.path().join("a.png"), ImageShape { height: 1, width: 2, channels: 3 });
        write_png(&path, &[1, 2, 3, 4, 5, 6], shape).unwrap();
        let picture = rehearsal_data::decode::decode(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((picture.width, picture.pixels), (2, vec![1, 2, 3, 4, 5, 6]));
        #[cfg(target_os = "linux")]
        assert!(write_png(Path::new("/dev/full"), &[0; 6], shape).is_err());
    }
}
