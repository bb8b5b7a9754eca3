//! Keeping other processes away. A lock ends with the process that holds it, however that process ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;

use crate::regular;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Why a file is not locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("another process has locked it")]
    Busy,
    /// The file cannot be opened or made, or is not a regular file.
    #[error(transparent)]
    Unwritable(io::Error),
    /// The file system cannot say whether another process holds it.
    #[error("it cannot be locked: {0}")]
    Unlockable(io::Error),
}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Unwritable(error) | LockError::Unlockable(error) => error,
            LockError::Busy => Self::new(io::ErrorKind::WouldBlock, error),
        }
    }
}

/// Locks the file at `path`, which is made if it is missing, and waits for another process for as long as `patience`.
/// The lock is held until the file is closed.
///
/// Short patience is useful even if nobody should hold it: a killed process may leave a lock behind for a moment,
/// because a program that it had just started holds its open files until it runs.
///
/// # Errors
/// Another process holds it, or it cannot be opened or locked.
pub fn lock(path: &Path, patience: Duration) -> Result<File, LockError> {
    let begun = Instant::now();
    loop {
        let file = regular::open_to_write(path).map_err(LockError::Unwritable)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(file),
            // The process that held it has removed or renamed it: another file is the lock now.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => thread::sleep(LOOK_EVERY),
            Err(TryLockError::WouldBlock) => return Err(LockError::Busy),
            Err(TryLockError::Error(error)) => return Err(LockError::Unlockable(error)),
        }
    }
}

/// Locks a directory itself. None if directories cannot be opened or locked on this system: then nothing keeps others
/// away.
///
/// # Errors
/// Only [`LockError::Busy`].
pub fn directory(path: &Path) -> Result<Option<File>, LockError> {
    let Ok(held) = File::open(path) else { return Ok(None) };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => Err(LockError::Busy),
        locked => Ok(locked.ok().map(|()| held)),
    }
}

/// Whether a file is missing, or is there and no process holds a lock on it. It is not made.
pub fn is_free(path: &Path) -> bool {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether an error of locking says that the file system has no locks. ENOSYS and EOPNOTSUPP are Lustre's way to say
/// it, ENOLCK is that of NFS; the number of the last is that of Linux.
pub fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || (cfg!(target_os = "linux") && error.raw_os_error() == Some(37))
}

/// Whether the open file is the one that stands at the path.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |about: std::fs::Metadata| (about.dev(), about.ino());
    file.metadata().ok().map(identity) == std::fs::metadata(path).ok().map(identity)
}

/// Windows does not remove a file that is open.
#[cfg(not(unix))]
pub fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SHORT: Duration = Duration::from_millis(30);
    const LONG: Duration = Duration::from_mins(1);

    /// Does something with a held lock after a while.
    fn later(held: File, what: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
        thread::spawn(move || {
            thread::sleep(2 * LOOK_EVERY);
            what();
            drop(held);
        })
    }

    #[test]
    fn a_lock_is_waited_for_but_not_for_ever() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        assert!(is_free(&path) && !path.exists());
        let first = lock(&path, Duration::ZERO).unwrap();
        assert!(matches!(lock(&path, Duration::ZERO), Err(LockError::Busy)) && !is_free(&path));
        let begun = Instant::now();
        assert!(matches!(lock(&path, SHORT), Err(LockError::Busy)));
        assert!(begun.elapsed() >= SHORT);
        let releasing = later(first, || ());
        drop(lock(&path, LONG).unwrap());
        releasing.join().unwrap();
        assert!(is_free(&path));
    }

    #[test]
    fn a_locked_file_keeps_its_content() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log");
        fs::write(&path, "lines").unwrap();
        drop(lock(&path, Duration::ZERO).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"lines");
    }

    #[cfg(unix)]
    #[test]
    fn the_lock_is_the_file_that_stands_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let first = lock(&path, Duration::ZERO).unwrap();
        let removing = later(first, {
            let path = path.clone();
            move || fs::remove_file(path).unwrap()
        });
        let second = lock(&path, LONG).unwrap();
        removing.join().unwrap();
        assert!(is_at(&second, &path));
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_a_lock() {
        let place = tempfile::tempdir().unwrap();
        assert!(matches!(lock(place.path(), LONG), Err(LockError::Unwritable(_))), "a directory");
        let fifo = place.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let error = lock(&fifo, LONG).unwrap_err();
        assert!(matches!(&error, LockError::Unwritable(error) if regular::is_irregular(error)), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_is_held_by_one() {
        let place = tempfile::tempdir().unwrap();
        let first = directory(place.path()).unwrap();
        assert!(first.is_some() && matches!(directory(place.path()), Err(LockError::Busy)));
        drop(first);
        assert!(directory(place.path()).unwrap().is_some());
        assert!(directory(&place.path().join("none")).unwrap().is_none());
    }

    #[test]
    fn a_file_system_without_locks_is_known_by_its_error() {
        let enolck = io::Error::from_raw_os_error(37);
        assert!(has_no_locks(&enolck) == cfg!(target_os = "linux") && !has_no_locks(&io::Error::other("")));
        assert!(has_no_locks(&io::ErrorKind::Unsupported.into()));
    }
}
