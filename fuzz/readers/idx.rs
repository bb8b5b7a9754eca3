//! Files of Fashion-MNIST.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rehearsal_data::idx;

fuzz_target!(|bytes: &[u8]| {
    let _ = idx::images(bytes, Path::new("x"));
    let _ = idx::labels(bytes, 10, Path::new("x"));
});
