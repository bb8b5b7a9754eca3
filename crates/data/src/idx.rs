//! The idx format of MNIST: a big-endian header, then bytes.

use std::path::Path;

use crate::DataError;

/// Images of an idx3 file.
pub struct Images<'a> {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// One image after another, row by row.
    pub pixels: &'a [u8],
}

/// Bytes before the first pixel.
pub(crate) const IMAGES_HEADER: usize = 16;

/// The number of images in the header of an idx3 file.
pub(crate) fn count(bytes: &[u8], path: &Path) -> Result<usize, DataError> {
    header::<3>(bytes, 0x0803, path).map(|[count, ..]| count)
}

/// Reads an idx3 file of bytes: `00 00 08 03`, count, height, width, pixels. `path` is for errors.
///
/// # Errors
/// The bytes are not an idx3 file, or there are no images or no pixels.
pub fn images<'a>(bytes: &'a [u8], path: &Path) -> Result<Images<'a>, DataError> {
    let [count, height, width] = header(bytes, 0x0803, path)?;
    if count == 0 || height == 0 || width == 0 {
        let found = format!("{count} of {height}×{width}");
        return Err(malformed(path, 4, "images with pixels".into(), found));
    }
    let pixels = body(bytes, IMAGES_HEADER, count.checked_mul(height).and_then(|n| n.checked_mul(width)), path)?;
    Ok(Images { height, width, pixels })
}

/// Reads an idx1 file of labels below `classes`: `00 00 08 01`, count, labels. `path` is for
/// errors.
///
/// # Errors
/// The bytes are not an idx1 file, or a label is too large.
pub fn labels(bytes: &[u8], classes: usize, path: &Path) -> Result<Vec<u16>, DataError> {
    let [count] = header(bytes, 0x0801, path)?;
    let labels = body(bytes, 8, Some(count), path)?;
    match labels.iter().position(|&label| usize::from(label) >= classes) {
        None => Ok(labels.iter().map(|&label| u16::from(label)).collect()),
        Some(at) => Err(malformed(path, 8 + at, format!("a label below {classes}"), labels[at].to_string())),
    }
}

/// The `N` sizes behind the magic number.
fn header<const N: usize>(bytes: &[u8], magic: u32, path: &Path) -> Result<[usize; N], DataError> {
    let word = |index: usize| {
        let at = 4 * index;
        match bytes.get(at..at + 4) {
            Some(&[a, b, c, d]) => Ok(u32::from_be_bytes([a, b, c, d])),
            _ => Err(malformed(
                path,
                bytes.len(),
                format!("a header of {} bytes", 4 * (N + 1)),
                "the end of the file".into(),
            )),
        }
    };
    let found = word(0)?;
    if found != magic {
        return Err(malformed(path, 0, format!("the magic number {magic:#010x}"), format!("{found:#010x}")));
    }
    let mut sizes = [0; N];
    for (index, size) in sizes.iter_mut().enumerate() {
        *size = word(index + 1)? as usize;
    }
    Ok(sizes)
}

/// Everything after the header, which must be `length` bytes.
fn body<'a>(bytes: &'a [u8], start: usize, length: Option<usize>, path: &Path) -> Result<&'a [u8], DataError> {
    let body = &bytes[start..];
    match length {
        Some(length) if length == body.len() => Ok(body),
        Some(length) => Err(malformed(
            path,
            bytes.len().min(start.saturating_add(length)),
            format!("{length} bytes after the header"),
            body.len().to_string(),
        )),
        None => Err(malformed(path, 4, "sizes that fit in memory".into(), "larger ones".into())),
    }
}

fn malformed(path: &Path, offset: usize, expected: String, found: String) -> DataError {
    DataError::Malformed { path: path.into(), offset: offset as u64, expected, found }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TWO_BY_THREE: [u8; 22] = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 10, 20, 30, 40, 50, 60];

    #[test]
    fn reads_a_non_square_image() {
        let images = images(&TWO_BY_THREE, Path::new("x")).unwrap();
        assert_eq!((images.height, images.width, images.pixels), (2, 3, &[10, 20, 30, 40, 50, 60][..]));
    }

    #[test]
    fn a_cut_file_and_a_wrong_label_say_where() {
        let error = images(&TWO_BY_THREE[..20], Path::new("x")).err().unwrap().to_string();
        assert_eq!(error, "x, byte 20: expected 6 bytes after the header, found 4");
        let error = labels(&[0, 0, 8, 1, 0, 0, 0, 2, 3, 10], 10, Path::new("y")).unwrap_err().to_string();
        assert_eq!(error, "y, byte 9: expected a label below 10, found 10");
    }

    #[test]
    fn images_without_pixels_and_files_without_images_are_refused() {
        for sizes in [[0, 2, 3], [1, 0, 3], [1, 2, 0]] {
            let bytes: Vec<u8> =
                [0x0803, sizes[0], sizes[1], sizes[2]].iter().flat_map(|n: &u32| n.to_be_bytes()).collect();
            let error = images(&bytes, Path::new("x")).err().unwrap().to_string();
            assert!(error.starts_with("x, byte 4: expected images with pixels"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..40), magic: bool) {
            if magic && bytes.len() > 4 {
                bytes[..4].copy_from_slice(&TWO_BY_THREE[..4]);
            }
            let _ = images(&bytes, Path::new("x"));
            let _ = labels(&bytes, 10, Path::new("x"));
        }
    }
}
