//! Files that appear whole or not at all: written beside their place, synced, renamed.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Replaces a file by some bytes. See [`write_with`].
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Replaces a file by what `content` writes, without holding it in memory. Whoever looks, and
/// whenever the machine stops, finds the old file or the new one. Only one process at a time may
/// write a file: that is for the caller to see to.
///
/// It is written beside its place, as `….partial`. What an earlier process left there is removed; a
/// link that stands there is removed, too, not followed.
///
/// # Errors
/// `content` fails, or the file cannot be written; what was there before still is. If only the last
/// step fails, that of making the new name last on the disk, the new file is there, but may be gone
/// after the machine has stopped.
pub fn write_with(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let beside = path.with_added_extension("partial");
    let mut file = create_anew(&beside)?;
    let written = content(&mut file).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&beside, path)) {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    sync_directory(path.parent().unwrap_or(Path::new("")))
}

/// Puts a file that was written whole, or a directory, in another's place, and makes that last.
///
/// # Errors
/// It cannot be done; or, if only the last step fails, it is done but may not last.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_directory(to.parent().unwrap_or(Path::new("")))
}

/// A file that nobody else made, in the place of whatever stands there.
fn create_anew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

/// Makes the names in a directory last: a rename alone may be forgotten when the machine stops.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let path = if path == Path::new("") { Path::new(".") } else { path };
    match File::open(path).and_then(|directory| directory.sync_all()) {
        // A directory that may be written but not read, or a file system that syncs no directories:
        // nothing can be done.
        Err(error) if cannot_sync(error.kind()) => Ok(()),
        synced => synced,
    }
}

#[cfg(unix)]
fn cannot_sync(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

/// Other systems cannot open directories; their renames last by themselves or not at all.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
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
    fn what_fails_leaves_the_old_file_and_nothing_beside_it() {
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
    fn what_an_earlier_process_left_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file.partial"), "a longer rest").unwrap();
        write(&directory.path().join("file"), b"new").unwrap();
        assert_eq!(fs::read(directory.path().join("file")).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let precious = directory.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, directory.path().join("file.partial")).unwrap();
        write(&directory.path().join("file"), b"new").unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert!(!directory.path().join("file").is_symlink());
        assert_eq!(names(directory.path()), ["file", "precious"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_synced_is_told_unless_nothing_can_be_done() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(sync_directory(&directory.path().join("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(cannot_sync(io::ErrorKind::InvalidInput) && !cannot_sync(io::ErrorKind::Other));
        sync_directory(Path::new("")).unwrap();
    }
}
