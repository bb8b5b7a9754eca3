//! Digests in hexadecimal.

use sha2::{Digest, Sha256};

/// A digest in hexadecimal.
pub(crate) fn hexadecimal(digest: Sha256) -> String {
    hex(&digest.finalize())
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
    bytes.iter().flat_map(digits).collect()
}
