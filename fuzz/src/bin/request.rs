//! What clients send to the server; the first byte chooses the parser.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((parser, bytes)) = bytes.split_first() {
        rehearsal_serve::fuzzing::parse(*parser, bytes);
    }
});
