//! Files that a user names, to be written.

use std::{fs, io, path::Path};

use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use rehearsal_data::ImageShape;
use rehearsal_files::atomic;

/// Writes a file whole or not at all; writes directly to a path that is not a file, such as `/dev/stdout`.
///
/// # Errors
/// It cannot be written; a file that was there still is.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.metadata() {
        Ok(about) if !about.is_file() => fs::write(path, bytes),
        _ => atomic::write(path, bytes),
    }
}

/// Writes pixels as a PNG file. `image::save_buffer` does not report a full disk.
///
/// # Errors
/// It cannot be written.
pub fn write_png(path: &Path, pixels: &[u8], shape: ImageShape) -> io::Result<()> {
    let colour = if shape.channels == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    let mut png = Vec::new();
    let encoded = PngEncoder::new(&mut png).write_image(pixels, shape.width as u32, shape.height as u32, colour);
    encoded.map_err(io::Error::other)?;
    fs::write(path, png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_devices_written_to() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sheet.png");
        for text in ["old", "new"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(write(place.path(), b"").is_err(), "a directory is not replaced");
        #[cfg(unix)]
        write(Path::new("/dev/null"), b"x").unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

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
