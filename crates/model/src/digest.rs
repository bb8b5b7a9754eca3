//! What tells one image from another.

use std::fmt;

use rehearsal_files::sha256::{from_hex, hex};
use sha2::{Digest as _, Sha256};

/// The first half of the SHA-256 of an image's pixels, as the model sees them: the same photo under
/// another name, or with other metadata, has the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Self::BYTES]);

impl Digest {
    /// How many bytes it has.
    pub const BYTES: usize = 16;

    /// Of an image.
    pub fn of(image: &[u8]) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(&Sha256::digest(image)[..Self::BYTES]);
        Self(bytes)
    }

    /// As a number that is as good as drawn: what an image's side depends on.
    pub(crate) fn number(self) -> u64 {
        u64::from_le_bytes(self.0[..8].try_into().expect("eight of sixteen bytes"))
    }

    pub(crate) fn bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// From what [`fmt::Display`] writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        from_hex(text.as_bytes()).map(Self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_bytes_and_comes_back_from_its_text() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223", "FIPS 180-2, first half");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!((Digest::parse("ba78"), Digest::parse(&"x".repeat(32))), (None, None));
    }
}
