//! IDX files, as Fashion-MNIST comes.
#![no_main]

use std::path::Path;

use rehearsal_data::idx;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = idx::images(bytes, Path::new("x"));
    let _ = idx::labels(bytes, 10, Path::new("x"));
});
