//! Which way up a photo is: cameras store what the sensor saw, and say beside it how they were held.

use image::{ImageDecoder, metadata::Orientation};

/// Some programs put this before the EXIF data of WebP and PNG, as it stands in JPEG.
const PREFIX: &[u8] = b"Exif\0\0";

/// How an image must be turned or mirrored. What cannot be read says nothing: a photo is shown as
/// it is stored rather than refused.
pub(super) fn of(decoder: &mut impl ImageDecoder) -> Orientation {
    match decoder.orientation() {
        Ok(Orientation::NoTransforms) | Err(_) => {}
        Ok(orientation) => return orientation,
    }
    let exif = decoder.exif_metadata().ok().flatten().unwrap_or_default();
    let prefixed = exif.strip_prefix(PREFIX).and_then(Orientation::from_exif_chunk);
    prefixed.unwrap_or(Orientation::NoTransforms)
}
