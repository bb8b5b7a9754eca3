//! Files and directories that appear whole or not at all: written beside their place, synced, renamed.
//!
//! What is being written has a name that nobody else uses, `NAME.rehearsal-PROCESS-NUMBER.partial`, and is locked. What a
//! killed process left is not: the next write to the same place removes it.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::lock::is_at;

const MARK: &str = ".rehearsal-";
const PARTIAL: &str = ".partial";
/// So much of a name is repeated: file systems limit the length.
const CHARACTERS: usize = 40;

/// Replaces a file by some bytes. See [`write_with`].
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Replaces a file by what `content` writes, without holding it in memory. Every reader, also after the machine has
/// stopped at any moment, finds the old file or the new one. If several processes write a file, one of them wins.
///
/// # Errors
/// `content` fails, or the file cannot be written; the old file is still there. If only the last step fails, syncing
/// the directory, the new file is there, but may be gone after the machine has stopped.
pub fn write_with(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let create = |beside: &Path| File::create_new(beside);
    let mut beside = Beside::new(path, create)?;
    content(&mut beside.held)?;
    beside.held.sync_all()?;
    beside.rename_to(path)
}

/// Makes a directory with what `content` writes into it.
///
/// # Errors
/// `content` fails, it cannot be written, or there is something at `path` already; nothing is left then.
pub fn directory_with<E: From<io::Error>>(path: &Path, content: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    let create = |beside: &Path| fs::create_dir(beside).and_then(|()| File::open(beside));
    let beside = Beside::new(path, create)?;
    content(&beside.path)?;
    // An empty directory would be replaced.
    match path.symlink_metadata() {
        Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists).into()),
        Err(_) => Ok(beside.rename_to(path)?),
    }
}

/// Whether this is the name of something that is being written, or that a killed process left.
pub fn is_partial(name: &OsStr) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.to_string_lossy();
    let marked = name.strip_suffix(PARTIAL).and_then(|name| name.rsplit_once(MARK));
    marked.and_then(|(_, numbers)| numbers.split_once('-')).is_some_and(|(one, other)| number(one) && number(other))
}

/// A file or a directory beside its place, removed unless it is renamed.
struct Beside {
    path: PathBuf,
    /// Open and locked.
    held: File,
}

impl Beside {
    fn new(place: &Path, create: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        remove_left(place);
        loop {
            let number = NUMBER.fetch_add(1, Relaxed);
            let path = place.with_file_name(format!("{}{}-{number}{PARTIAL}", beginning(place)?, process::id()));
            let held = match create(&path) {
                // A process of that number on another machine.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            let beside = Self { path, held };
            match beside.held.try_lock() {
                // Another process took it for left before it was locked, and removes it.
                Err(TryLockError::WouldBlock) => {}
                Ok(()) if !is_at(&beside.held, &beside.path) => {}
                // Where there are no locks, nothing is taken for left.
                _ => return Ok(beside),
            }
        }
    }

    /// The lock is held until then.
    fn rename_to(self, place: &Path) -> io::Result<()> {
        rename(&self.path, place)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// What the names of partial files of a place begin with.
fn beginning(place: &Path) -> io::Result<String> {
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
    Ok(name.chars().take(CHARACTERS).collect::<String>() + MARK)
}

/// Removes what killed processes left beside a place.
fn remove_left(place: &Path) {
    let Ok(beginning) = beginning(place) else { return };
    for entry in fs::read_dir(parent(place)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_of_place = || name.to_string_lossy().starts_with(&beginning) && is_partial(&name);
        // A link is not opened.
        if is_of_place() && entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
            // Held until it is removed: who is about to lock it then sees that it is gone.
            let held = File::open(entry.path()).ok().filter(|file| file.try_lock().is_ok());
            if held.is_some() {
                remove(&entry.path());
            }
        }
    }
}

/// What cannot be removed stays.
fn remove(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Renames a synced file, or a directory, and syncs the directory that holds the new name.
///
/// # Errors
/// It cannot be renamed; or, if only the last step fails, it is renamed but may not last.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_parent(to)
}

/// Makes the names in a directory last: a rename alone may be lost when the machine stops.
///
/// This is the one policy for directories that cannot be synced. A directory that may be written but not read, and a
/// file system that cannot sync directories, are not errors: nothing can be done. Systems other than Unix cannot open
/// directories, so nothing is done there.
///
/// # Errors
/// Syncing fails in another way.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    // The parent of a relative name without directories.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match File::open(path).and_then(|directory| directory.sync_all()) {
        Err(error) if cannot_sync(error.kind()) => Ok(()),
        synced => synced,
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    sync_directory(parent(path))
}

fn cannot_sync(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, b"old").unwrap();
        write_with(&path, |file| {
            file.write_all(b"ne")?;
            assert_eq!(fs::read(&path)?, b"old", "until it is whole");
            file.write_all(b"w")
        })
        .unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(directory.path())), (b"new".to_vec(), vec!["file".to_owned()]));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, b"old").unwrap();
        let full = |file: &mut File| file.write_all(b"half").and(Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(write_with(&path, full).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!((fs::read(&path).unwrap(), names(directory.path())), (b"old".to_vec(), vec!["file".to_owned()]));

        let taken = directory.path().join("directory");
        fs::create_dir(&taken).unwrap();
        assert!(write(&taken, b"").is_err(), "a directory is not replaced");
        assert_eq!(names(directory.path()), ["directory", "file"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        for name in ["file.partial", "file.rehearsal-x-1.partial", "other.rehearsal-1-1.partial"] {
            fs::write(place(name), "the user's").unwrap();
        }
        let before = names(directory.path());
        fs::write(place("file.rehearsal-1-1.partial"), "a longer rest").unwrap();
        fs::create_dir(place("file.rehearsal-1-2.partial")).unwrap();
        fs::write(place("file.rehearsal-1-2.partial/x"), "a rest").unwrap();
        let running = File::create(place("file.rehearsal-1-3.partial")).unwrap();
        running.try_lock().unwrap();
        write(&place("file"), b"new").unwrap();
        assert_eq!(fs::read(place("file")).unwrap(), b"new");
        let mut after = names(directory.path());
        assert!(after.contains(&"file.rehearsal-1-3.partial".into()), "another process writes it");
        after.retain(|name| name != "file" && name != "file.rehearsal-1-3.partial");
        assert_eq!(after, before);
    }

    #[test]
    fn a_directory_appears_whole_and_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("remembered");
        let write = |inside: &Path| fs::write(inside.join("x"), "x");
        directory_with(&place, |inside| {
            assert!(!place.exists(), "until it is whole");
            write(inside)
        })
        .unwrap();
        assert_eq!(names(&place), ["x"]);
        assert_eq!(directory_with(&place, write).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let failed =
            directory_with(&directory.path().join("no"), |inside| write(inside).and(Err(io::Error::other(""))));
        assert!(failed.is_err());
        assert_eq!(names(directory.path()), ["remembered"]);
    }

    #[test]
    fn several_processes_leave_one_whole_file_each_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::thread::scope(|scope| {
            for byte in 0..8u8 {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| write(path, &[byte; 1000]).unwrap()));
            }
        });
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() == 1000 && bytes.iter().all(|byte| *byte == bytes[0]));
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[test]
    fn the_longest_names_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let name = "é".repeat(127);
        write(&directory.path().join(&name), b"x").unwrap();
        assert_eq!(names(directory.path()), [name]);
    }

    #[test]
    fn directories_are_renamed_too() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
        fs::create_dir(&from).unwrap();
        rename(&from, &to).unwrap();
        assert_eq!(names(directory.path()), ["to"]);
        assert_eq!(rename(&from, &to).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_synced_is_an_error_unless_nothing_can_be_done() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(sync_directory(&directory.path().join("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(cannot_sync(io::ErrorKind::InvalidInput) && !cannot_sync(io::ErrorKind::Other));
        sync_directory(Path::new("")).unwrap();
    }
}
