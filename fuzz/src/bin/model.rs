//! Files of saved learners, sealed again after every change, so that what lies behind the checksum is
//! reached: what is loaded predicts, or it is refused.
#![no_main]

use std::fs;

use rehearsal::Learner;
use rehearsal_fuzz::place;
use sha2::{Digest, Sha256};

const BEFORE: &[u8] = br#"{\"sha256\":\""#;
const DIGITS: usize = 64;

/// The file with the checksum that it should have.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    let Some(at) = file.windows(BEFORE.len()).position(|window| window == BEFORE).map(|at| at + BEFORE.len()) else {
        return file;
    };
    if let Some(digits) = file.get_mut(at..at + DIGITS) {
        digits.fill(b'0');
        let sum: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
        file[at..at + DIGITS].copy_from_slice(sum.as_bytes());
    }
    file
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = place().join("model.safetensors");
    fs::write(&path, sealed(bytes)).expect("it can be written");
    let Ok(learner) = Learner::load(&path) else { return };
    if learner.shape().bytes() < 1 << 12 {
        let image = vec![7; learner.shape().bytes()];
        let _ = learner.predict(&[image.into()]);
    }
});
