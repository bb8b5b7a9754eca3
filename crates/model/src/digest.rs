//! What tells one image from another.

use std::fmt;

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
        let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * Self::BYTES)?;
        let mut bytes = [0; Self::BYTES];
        bytes.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
        assert_eq!(sha256(b"abc")[..32], digest.to_string());
    }
}
