//! A file, mapped into memory: the one place of this crate with `unsafe`.

use std::{fs::File, io, ops::Deref, path::Path};

use memmap2::Mmap;

use crate::regular;

/// The bytes of a file, read by the system when they are touched and shared by all processes that
/// map it.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    /// The same file, to ask it for its length.
    file: File,
}

impl Mapped {
    /// Maps a whole regular file of at most `limit` bytes.
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = regular::open(path, limit)?;
        // SAFETY: the bytes may be read while nobody changes them. We map only packs, which are
        // renamed into place when complete and never written again, and pickles of a data set,
        // which nothing of ours writes after they are in place. Every access is checked against the
        // mapped length, and any bytes at all are valid `u8`s. What remains is a user who truncates
        // a file under a running program: that ends it with SIGBUS, as it would any program that
        // maps files, unless `is_whole` was asked in time.
        #[allow(unsafe_code, reason = "see above")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { map, file })
    }

    /// Whether the file still has all the bytes that were mapped. Someone who truncates it between
    /// this question and a look at the bytes still ends the program: the question makes that rare,
    /// not impossible.
    pub(crate) fn is_whole(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.len() >= self.map.len() as u64)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}
