//! A lock that keeps other processes from a directory. It ends with the process that holds it,
//! however that ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

use crate::DirectoryError;

/// How a lock is tried for: [`File::try_lock`], but in tests.
pub(crate) type TryLock = fn(&File) -> Result<(), TryLockError>;

/// Opens a file of a directory for reading and writing and locks it: one who has that file has the directory.
/// It is made if it is missing, and what stands in it stays.
pub(crate) fn lock(directory: &Path, name: &str, try_lock: TryLock) -> Result<File, DirectoryError> {
    let path = directory.join(name);
    let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
    let file = opened.map_err(|error| DirectoryError::Unwritable { path: path.clone(), error })?;
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    if !is_file {
        return Err(DirectoryError::Unwritable { path, error: io::Error::other("it is no regular file") });
    }
    match try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DirectoryError::Busy(directory.into())),
        Err(TryLockError::Error(error)) => Err(DirectoryError::Unlockable { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_one_has_it_and_nothing_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("log"), "lines").unwrap();
        let first = lock(directory.path(), "log", File::try_lock).unwrap();
        let second = lock(directory.path(), "log", File::try_lock).unwrap_err();
        assert!(matches!(&second, DirectoryError::Busy(path) if path == directory.path()), "{second}");
        drop(first);
        lock(directory.path(), "log", File::try_lock).unwrap();
        assert_eq!(fs::read(directory.path().join("log")).unwrap(), b"lines");
    }

    #[test]
    fn a_file_system_without_locks_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let unsupported = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        let error = lock(directory.path(), "log", unsupported).unwrap_err().to_string();
        assert!(
            error.contains("log cannot be locked") && error.contains("a file system that supports locks"),
            "{error}"
        );
    }
}
