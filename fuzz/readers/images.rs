//! Images of any format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rehearsal_data::decode::{decode, fit};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(picture) = decode(bytes) {
        assert_eq!(picture.pixels.len(), 3 * picture.height * picture.width);
        if picture.pixels.len() < 1 << 22 {
            fit(&picture, 8, &mut [0; 192]);
        }
    }
});
