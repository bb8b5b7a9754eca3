//! Keeps other processes from a directory: by a lock, which ends with the process that holds it, even
//! if that is killed. If the file system has no locks, and in jobs of Slurm, where locks may be valid
//! for one machine only, by a [`Claim`].

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use rehearsal_files::{lock::has_no_locks, regular};

use crate::{
    DirectoryError,
    claim::Claim,
    holder::{Holder, Knows, Life, slurm_knows},
};

/// Tries to lock a file: [`File::try_lock`], except in tests.
pub(crate) type TryLock = fn(&File) -> Result<(), TryLockError>;

/// How a process locks a directory, and how it asks about other processes.
pub(crate) struct Means<'a> {
    pub(crate) me: Holder,
    pub(crate) try_lock: TryLock,
    /// Whether a job of Slurm is running.
    pub(crate) knows: Knows<'a>,
}

impl Means<'static> {
    /// The means of this process.
    pub(crate) fn real() -> Self {
        Self { me: Holder::this_process(), try_lock: File::try_lock, knows: &slurm_knows }
    }
}

/// Keeps other processes from a directory until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The locked file.
    pub(crate) file: File,
    pub(crate) claim: Option<Claim>,
}

/// Opens a file of a directory for reading and writing and locks it, which locks the directory.
/// The file is created if it is missing, and its content is kept.
pub(crate) fn lock(directory: &Path, name: &str, means: &Means) -> Result<Lock, DirectoryError> {
    let file = open(directory, name)?;
    let locked = try_lock(directory, name, &file, means)?;
    let claim = if !locked || means.me.job.is_some() || Claim::is_used(directory) {
        Some(Claim::take(directory, &means.me, means.knows, locked)?)
    } else {
        None
    };
    Ok(Lock { file, claim })
}

/// Whether another process is known to hold a directory.
pub(crate) fn is_busy(directory: &Path, name: &str, means: &Means) -> bool {
    let locked = match open(directory, name) {
        Ok(file) => matches!(try_lock(directory, name, &file, means), Err(DirectoryError::Busy(_))),
        Err(_) => false,
    };
    let alive = |holder: Holder| holder.life(&means.me, means.knows) == Life::Alive;
    locked || Claim::holder(directory).is_some_and(alive)
}

fn open(directory: &Path, name: &str) -> Result<File, DirectoryError> {
    let path = directory.join(name);
    regular::open_to_write(&path).map_err(|error| DirectoryError::Unwritable { path, error })
}

/// Whether the file could be locked: false if the file system has no locks.
fn try_lock(directory: &Path, name: &str, file: &File, means: &Means) -> Result<bool, DirectoryError> {
    match (means.try_lock)(file) {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Err(DirectoryError::Busy(directory.into())),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(false),
        Err(TryLockError::Error(error)) => Err(DirectoryError::Unlockable { path: directory.join(name), error }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{fs, io};

    use super::*;
    use crate::holder::tests::elsewhere;

    /// A process of another machine, on a file system without locks.
    pub(crate) fn without_locks<'a>(host: &str, job: Option<&str>, knows: Knows<'a>) -> Means<'a> {
        let try_lock = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        Means { me: elsewhere(host, job), try_lock, knows }
    }

    fn real() -> Means<'static> {
        Means { me: Holder { job: None, ..Holder::this_process() }, ..Means::real() }
    }

    #[test]
    fn only_one_process_holds_it_and_no_content_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("log"), "lines").unwrap();
        let first = lock(directory.path(), "log", &real()).unwrap();
        let second = lock(directory.path(), "log", &real()).unwrap_err();
        assert!(matches!(&second, DirectoryError::Busy(path) if path == directory.path()), "{second}");
        assert!(is_busy(directory.path(), "log", &real()));
        drop(first);
        assert!(!is_busy(directory.path(), "log", &real()));
        drop(lock(directory.path(), "log", &real()).unwrap());
        assert_eq!(fs::read(directory.path().join("log")).unwrap(), b"lines");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "a lock alone is enough on one machine");
    }

    #[test]
    fn without_locks_a_directory_is_held_by_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let running = |job: &str| Some(job == "1");
        let (a, b) = (without_locks("a", Some("1"), &running), without_locks("b", Some("2"), &running));
        let first = lock(directory.path(), "log", &a).unwrap();
        assert!(matches!(lock(directory.path(), "log", &b), Err(DirectoryError::Busy(_))));
        assert!(is_busy(directory.path(), "log", &b));
        // Killed: the scheduler no longer knows it.
        std::mem::forget(first);
        let ended = |_: &str| Some(false);
        let b = without_locks("b", Some("2"), &ended);
        assert!(!is_busy(directory.path(), "log", &b));
        lock(directory.path(), "log", &b).unwrap();
    }

    #[test]
    fn locks_for_one_machine_only_do_not_let_two_nodes_in() {
        let directory = tempfile::tempdir().unwrap();
        let on = |host: &str, job: &str, knows| Means { me: elsewhere(host, Some(job)), try_lock: |_| Ok(()), knows };
        let first = lock(directory.path(), "log", &on("a", "1", &|_| unreachable!())).unwrap();
        assert!(matches!(lock(directory.path(), "log", &on("b", "2", &|_| Some(true))), Err(DirectoryError::Busy(_))));
        std::mem::forget(first);
        drop(lock(directory.path(), "log", &on("b", "2", &|_| None)).unwrap());
    }

    #[test]
    fn a_lock_that_fails_in_another_way_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let fails: TryLock = |_| Err(TryLockError::Error(io::Error::other("it is broken")));
        let error = lock(directory.path(), "log", &Means { try_lock: fails, ..real() }).unwrap_err().to_string();
        assert!(error.contains("log cannot be locked: it is broken"), "{error}");
        assert!(!directory.path().join(".holders").exists());
    }
}
