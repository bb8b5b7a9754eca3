//! Image files of six formats, with their EXIF data: what is decoded has as many bytes as pixels.
#![no_main]

use rehearsal_data::{
    Interpolation,
    decode::{decode, fit},
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(picture) = decode(bytes) else { return };
    assert_eq!(picture.pixels.len(), 3 * picture.height * picture.width);
    if picture.pixels.len() < 1 << 20 {
        fit((&picture).into(), (8, 8), 0.875, Interpolation::Bicubic, &mut [0; 192]);
    }
});
