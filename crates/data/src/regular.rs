//! Regular files only: a FIFO would wait for a writer for ever, a device may have no end.

use std::{
    error::Error,
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

use thiserror::Error;

/// Why something that can be opened is not read.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Irregular {
    /// A directory, FIFO, socket or device.
    #[error("it is no regular file")]
    Kind,
    /// A file that is larger than any of its kind.
    #[error("it has more than {limit} bytes, the most that is read")]
    Large {
        /// In bytes.
        limit: u64,
    },
}

impl From<Irregular> for io::Error {
    fn from(irregular: Irregular) -> Self {
        Self::new(io::ErrorKind::InvalidData, irregular)
    }
}

/// Whether an error says what a file is, rather than that it could not be read.
pub(crate) fn is_irregular(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Irregular>)
}

/// Opens a regular file of at most `limit` bytes for reading. It is opened without waiting, and
/// what it is is asked of the descriptor: nobody can put something else in its place in between.
pub(crate) fn open(path: &Path, limit: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Irregular::Kind.into());
    }
    if about.len() > limit {
        return Err(Irregular::Large { limit }.into());
    }
    Ok(file)
}

/// The bytes of a regular file of at most `limit` bytes, also if it grows while it is read.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path, limit)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Irregular::Large { limit }.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("five");
        std::fs::write(&file, "hello").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"hello");
        let large = read(&file, 4).unwrap_err();
        assert!(is_irregular(&large) && large.to_string().contains("more than 4 bytes"), "{large}");
        assert!(!is_irregular(&read(&directory.path().join("none"), 4).unwrap_err()));
        #[cfg(unix)]
        {
            assert!(is_irregular(&read(directory.path(), 4).unwrap_err()), "a directory");
            assert!(is_irregular(&read(Path::new("/dev/zero"), 4).unwrap_err()), "a device");
            assert!(is_irregular(&open(Path::new("/dev/null"), 4).unwrap_err()), "a device");
        }
    }
}
