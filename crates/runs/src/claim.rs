//! Files that say which process holds a directory, for file systems without locks, or with locks for one machine
//! only: `.holders/1`, `.holders/2`, … each name a process.
//!
//! A process writes file n + 1 only if holder n has released the directory or is dead, and creates it exclusively: if
//! several processes try, one succeeds. Files are never removed, so a number is used once, and only the last counts.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use rehearsal_files::{atomic, regular};

use crate::{
    DirectoryError,
    files::HOLDERS,
    holder::{Holder, Knows, Life},
};

/// The limit for a file of a holder, in bytes.
const LARGEST: u64 = 1 << 16;
/// How often to read a file that is being written, or is not visible everywhere yet.
const TRIES: usize = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// This process holds a directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    holder: Holder,
}

/// The content of a file.
enum Said {
    Nothing,
    Holder(Holder),
    /// The file is incomplete.
    Half,
}

impl Claim {
    /// Takes a directory that no process holds. If the state of the last holder is unknown, `locked` decides: if this
    /// process could lock the directory, the holder is dead.
    pub(crate) fn take(directory: &Path, me: &Holder, knows: Knows, locked: bool) -> Result<Self, DirectoryError> {
        let place = directory.join(HOLDERS);
        fs::create_dir_all(&place).map_err(unwritable(&place))?;
        for _ in 0..TRIES {
            let last = last(&place);
            match read(&place.join(last.to_string()))? {
                Said::Nothing => {}
                Said::Holder(holder) => match (holder.life(me, knows), locked) {
                    (Life::Dead, _) | (Life::Unknown, true) => {}
                    (Life::Alive, _) => return Err(DirectoryError::Busy(directory.into())),
                    (Life::Unknown, false) => return Err(unclear(directory, last, &holder.host)),
                },
                Said::Half if locked => {}
                Said::Half => return Err(unclear(directory, last, "an unknown machine")),
            }
            let path = place.join((last + 1).to_string());
            match write(&path, me) {
                Ok(()) => return Ok(Self { path, holder: me.clone() }),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => std::thread::sleep(BETWEEN_TRIES),
                Err(error) => return Err(unwritable(&path)(error)),
            }
        }
        Err(DirectoryError::Busy(directory.into()))
    }

    /// Whether a directory has, or had, a holder.
    pub(crate) fn is_used(directory: &Path) -> bool {
        directory.join(HOLDERS).exists()
    }

    /// The last holder of a directory, unless it has released it.
    pub(crate) fn holder(directory: &Path) -> Option<Holder> {
        let place = directory.join(HOLDERS);
        match read(&place.join(last(&place).to_string())) {
            Ok(Said::Holder(holder)) if !holder.released => Some(holder),
            _ => None,
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let released = Holder { released: true, ..self.holder.clone() };
        // If it cannot be written, others find that this process has ended.
        let _ = atomic::write(&self.path, text(&released).as_bytes());
    }
}

/// The number of the last holder; 0 if there was none.
fn last(place: &Path) -> u64 {
    (1..u64::MAX).take_while(|number| place.join(number.to_string()).exists()).last().unwrap_or(0)
}

fn read(path: &Path) -> Result<Said, DirectoryError> {
    for _ in 0..TRIES {
        match regular::read_to_string(path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Said::Nothing),
            Err(error) => return Err(DirectoryError::Unreadable { path: path.into(), error }),
            Ok(text) => match serde_json::from_str(&text) {
                Ok(holder) => return Ok(Said::Holder(holder)),
                Err(_) => std::thread::sleep(BETWEEN_TRIES),
            },
        }
    }
    Ok(Said::Half)
}

/// Writes a new file.
fn write(path: &Path, holder: &Holder) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text(holder).as_bytes()).and_then(|()| file.sync_all())
}

fn text(holder: &Holder) -> String {
    serde_json::to_string(holder).expect("a holder is plain data") + "\n"
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> DirectoryError {
    move |error| DirectoryError::Unwritable { path: path.into(), error }
}

fn unclear(directory: &Path, number: u64, host: &str) -> DirectoryError {
    let file = directory.join(HOLDERS).join(number.to_string());
    DirectoryError::Unclear { directory: directory.into(), host: host.into(), file }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::holder::tests::elsewhere;

    fn take(directory: &Path, me: &Holder, knows: Knows) -> Result<Claim, DirectoryError> {
        Claim::take(directory, me, knows, false)
    }

    #[test]
    fn only_one_process_holds_it_until_it_releases_it() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (elsewhere("a", Some("1")), elsewhere("b", Some("2")));
        let first = take(directory.path(), &a, &|_| unreachable!()).unwrap();
        assert_eq!(Claim::holder(directory.path()), Some(a.clone()));
        let busy = take(directory.path(), &b, &|job| Some(job == "1")).unwrap_err();
        assert!(matches!(busy, DirectoryError::Busy(_)), "{busy}");
        drop(first);
        assert_eq!(Claim::holder(directory.path()), None);
        drop(take(directory.path(), &b, &|_| unreachable!()).unwrap());
        assert!(directory.path().join(".holders/2").exists() && !directory.path().join(".holders/3").exists());
    }

    #[test]
    fn a_holder_that_the_scheduler_does_not_know_is_dead() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (elsewhere("a", Some("1")), elsewhere("b", Some("2")));
        std::mem::forget(take(directory.path(), &a, &|_| unreachable!()).unwrap());
        let second = take(directory.path(), &b, &|_| Some(false)).unwrap();
        let busy = take(directory.path(), &a, &|job| Some(job == "2")).unwrap_err();
        assert!(matches!(busy, DirectoryError::Busy(_)), "{busy}");
        drop(second);
    }

    #[test]
    fn an_unknown_holder_is_an_error_unless_there_is_a_lock() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (elsewhere("a", None), elsewhere("b", None));
        std::mem::forget(take(directory.path(), &a, &|_| unreachable!()).unwrap());
        let said = take(directory.path(), &b, &|_| None).unwrap_err().to_string();
        assert!(said.contains("by a process on a") && said.ends_with(".holders/1"), "{said}");
        drop(Claim::take(directory.path(), &b, &|_| None, true).unwrap());
        // A process that died before it wrote its file.
        File::create_new(directory.path().join(".holders/3")).unwrap();
        let said = take(directory.path(), &b, &|_| None).unwrap_err().to_string();
        assert!(said.contains("an unknown machine") && said.ends_with(".holders/3"), "{said}");
        drop(Claim::take(directory.path(), &b, &|_| None, true).unwrap());
    }

    #[test]
    fn of_many_processes_that_try_one_holds_it() {
        let directory = tempfile::tempdir().unwrap();
        let dead = elsewhere("dead", Some("dead"));
        for _ in 0..10 {
            std::mem::forget(take(directory.path(), &dead, &|_| Some(false)).unwrap());
            let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let taken: usize = std::thread::scope(|scope| {
                let one = |i: usize| {
                    let me = elsewhere(&format!("host{i}"), Some(&i.to_string()));
                    let claim = take(directory.path(), &me, &|job| Some(job != "dead")).ok()?;
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(claim);
                    Some(())
                };
                let threads: Vec<_> = (0..6).map(|i| scope.spawn(move || one(i))).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).count()
            });
            assert!(taken >= 1);
            assert_eq!(most.into_inner(), 1, "two held it at once");
        }
    }
}
