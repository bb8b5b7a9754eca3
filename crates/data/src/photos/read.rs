//! Decodes photos.

use std::path::Path;

use rayon::prelude::*;
use rehearsal_files::regular::{self, is_irregular};

use super::PhotoSource;
use crate::{
    DataError, Image, ImageShape, Preprocessing, Progress, Unit,
    decode::{LARGEST_FILE, Picture, decode},
    files::unreadable,
};

/// A photo, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// In the requested shape.
    pub image: Image,
    /// Of the file's bytes.
    pub sha256: [u8; 32],
}

/// Decodes an image file, turns it as EXIF says, crops the largest centred part with the shape's
/// proportions and resizes it, in grey or in colour.
///
/// # Errors
/// The file cannot be read ([`DataError::Unreadable`]), or is not an image ([`DataError::Image`]).
pub fn read(path: &Path, shape: ImageShape) -> Result<Decoded, DataError> {
    Preprocessing::plain(shape).load(path)
}

/// Height and width of an image file, turned as EXIF says.
///
/// # Errors
/// As [`read`].
pub fn size(path: &Path) -> Result<(usize, usize), DataError> {
    picture(path).map(|picture| (picture.height, picture.width))
}

/// An image file as it is, turned as EXIF says.
///
/// # Errors
/// As [`read`].
pub fn picture(path: &Path) -> Result<Picture, DataError> {
    let bad = |why: String| DataError::Image { path: path.into(), why };
    decode(&bytes(path)?.map_err(bad)?).map_err(bad)
}

/// Decodes many on all threads; the results have the order of `paths`.
pub fn read_all<P: PhotoSource>(
    paths: &[P],
    shape: ImageShape,
    progress: &dyn Progress,
) -> Vec<Result<Decoded, DataError>> {
    progress.begin("reading images", Unit::Items, 0, Some(paths.len() as u64));
    let one = |path: &P| {
        let decoded = path.read().and_then(|file| Preprocessing::plain(shape).load_file(&file));
        progress.advance(1);
        decoded
    };
    // One image at a time: they differ in size, and a thread that finishes early takes the next.
    let decoded = paths.par_iter().with_max_len(1).map(one).collect();
    progress.end();
    decoded
}

/// The bytes of an image file; the inner error says why it cannot be an image.
pub(crate) fn bytes(path: &Path) -> Result<Result<Vec<u8>, String>, DataError> {
    match regular::read(path, LARGEST_FILE) {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(error) if is_irregular(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(unreadable(path)(error)),
    }
}
