//! The orientation of a photo, from its EXIF data.

use image::{ImageDecoder, metadata::Orientation};

/// Some programs write this before the EXIF data of WebP and PNG, as JPEG has it.
const PREFIX: &[u8] = b"Exif\0\0";

/// How an image must be rotated or mirrored. EXIF data that cannot be read are ignored.
pub(super) fn of(decoder: &mut impl ImageDecoder) -> Orientation {
    match decoder.orientation() {
        Ok(Orientation::NoTransforms) | Err(_) => {}
        Ok(orientation) => return orientation,
    }
    let exif = decoder.exif_metadata().ok().flatten().unwrap_or_default();
    let prefixed = exif.strip_prefix(PREFIX).and_then(Orientation::from_exif_chunk);
    prefixed.unwrap_or(Orientation::NoTransforms)
}
