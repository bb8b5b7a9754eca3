//! A file that is fetched as it is.

/// A file that is published at one address, with its size and SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    /// Its official address.
    pub url: &'static str,
    /// Its name: the last part of the address.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: &'static str,
}
