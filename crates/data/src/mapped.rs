//! A file, mapped into memory: the only `unsafe` block of this crate.

use std::{fs::File, io, ops::Deref, path::Path};

use memmap2::Mmap;
use rehearsal_files::regular;

/// The bytes of a file, read by the system when they are touched and shared by all processes that
/// map it.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    /// The same file, for its length.
    file: File,
}

impl Mapped {
    /// Maps a whole regular file of at most `limit` bytes.
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = regular::open(path, limit)?;
        // SAFETY: the bytes may be read while nobody changes them. We map only packs, which are
        // renamed into place when complete and never written again, and pickles of a data set,
        // which we do not write once they are in place. Every access is checked against the mapped
        // length, and any byte is a valid `u8`. If a user truncates the file while the program
        // runs, SIGBUS ends the program, unless `is_whole` notices it first.
        #[allow(unsafe_code, reason = "see above")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { map, file })
    }

    /// Whether the file still has all the bytes that were mapped. The file can still be truncated
    /// between this call and an access: the call makes that rare, not impossible.
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
