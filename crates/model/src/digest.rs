//! The identity of a photo.

use std::fmt;

use rehearsal_files::sha256::{from_hex, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The first half of a SHA-256. The digest of a file is the identity of a photo: under another name,
/// or in a model of another size, it is the same photo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; Self::BYTES]);

impl Digest {
    /// How many bytes it has.
    pub const BYTES: usize = 16;

    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_sha256(Sha256::digest(bytes).into())
    }

    /// Of bytes whose SHA-256 is known.
    pub fn from_sha256(sha256: [u8; 32]) -> Self {
        Self(*sha256.first_chunk().expect("sixteen of thirty-two bytes"))
    }

    /// A number that decides the side of the holdout split.
    #[cfg(feature = "scratch")]
    pub(crate) fn number(self) -> u64 {
        u64::from_le_bytes(self.0[..8].try_into().expect("eight of sixteen bytes"))
    }

    /// Its bytes.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    /// As [`Digest::bytes`] gave it.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        from_hex(text.as_bytes()).map(Self).ok_or("the digest of an image is malformed")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
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
        assert_eq!(Digest::try_from(digest.to_string()), Ok(digest));
        assert!(Digest::try_from("ba78".to_owned()).is_err() && Digest::try_from("x".repeat(32)).is_err());
    }
}
