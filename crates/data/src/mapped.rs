//! A file, mapped into memory: the one place of this crate with `unsafe`.

use std::{io, ops::Deref, path::Path};

use memmap2::Mmap;

use crate::regular;

/// The bytes of a file, read by the system when they are touched and shared by all processes that map it.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps a whole regular file of at most `limit` bytes.
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = regular::open(path, limit)?;
        // SAFETY: the bytes may be read while nobody changes them. We map only packs, which are renamed into place when complete and never
        // written again, and pickles of a data set, which nothing of ours writes after they are in place. Every access is checked against
        // the mapped length, and any bytes at all are valid `u8`s. What remains is a user who truncates a file under a running program:
        // that ends it with SIGBUS, as it would any program that maps files.
        #[allow(unsafe_code, reason = "see above")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
