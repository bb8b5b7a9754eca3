//! A photo of a session.

use rehearsal_data::Image;

use crate::Digest;

/// An image of a class, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// Its class.
    pub class: String,
    /// The path of its file, by which it can be removed.
    pub source: String,
    /// The pixels, in the shape of the session.
    pub image: Image,
    /// Its identity: the digest of its file.
    pub digest: Digest,
}
