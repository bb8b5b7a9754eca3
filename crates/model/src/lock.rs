//! Who may change a model: one process at a time. The lock ends with the process that holds it,
//! however that ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::ModelError;

/// How long a lock that another holds is waited for. A killed process may leave one behind for a
/// moment: a program that it had just started holds its open files until it runs.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Locks the file `name` of a model's directory, which is made if it is missing.
pub(crate) fn lock(directory: &Path, name: &str) -> Result<File, ModelError> {
    let path = directory.join(name);
    let begun = Instant::now();
    loop {
        let unwritable = |error| ModelError::Unwritable { path: path.clone(), error };
        // For reading, too: to open a FIFO for writing alone is to wait.
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let file = opened.map_err(unwritable)?;
        if !file.metadata().map_err(unwritable)?.is_file() {
            return Err(unwritable(io::Error::other("it is no regular file")));
        }
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            // Whoever held it has removed it: what stands there now is another.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(LOOK_EVERY),
            Err(TryLockError::WouldBlock) => return Err(ModelError::Busy { path: directory.into() }),
            Err(TryLockError::Error(error)) => return Err(ModelError::Unlockable { path, error }),
        }
    }
}

/// Whether the open file is the one that stands at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |about: std::fs::Metadata| (about.dev(), about.ino());
    file.metadata().ok().map(identity) == std::fs::metadata(path).ok().map(identity)
}

/// Other systems remove no file that is open.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_comes_while_it_is_let_go_gets_it_and_another_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let first = lock(place.path(), "lock").unwrap();
        assert!(matches!(lock(place.path(), "lock"), Err(ModelError::Busy { .. })));
        let letting_go = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(first);
        });
        drop(lock(place.path(), "lock").unwrap());
        letting_go.join().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_was_removed_is_none() {
        let place = tempfile::tempdir().unwrap();
        let first = lock(place.path(), "lock").unwrap();
        let removing = thread::spawn({
            let path = place.path().join("lock");
            move || {
                thread::sleep(Duration::from_millis(100));
                std::fs::remove_file(path).unwrap();
                drop(first);
            }
        });
        let second = lock(place.path(), "lock").unwrap();
        removing.join().unwrap();
        assert!(is_at(&second, &place.path().join("lock")));
    }
}
