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

/// Replaces a file by what `content` writes, without holding it in memory. Every reader, also after the machine has
/// stopped at any moment, finds the old file or the new one. The caller makes sure that only one process at a time
/// writes a file.
///
/// The file is written beside its place, as `….partial`. Anything that stands there is removed; a link is not followed.
///
/// # Errors
/// `content` fails, or the file cannot be written; the old file is still there. If only the last step fails, syncing
/// the directory, the new file is there, but may be gone after the machine has stopped.
pub fn write_with(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let beside = path.with_added_extension("partial");
    let mut file = create_new(&beside)?;
    let written = content(&mut file).and_then(|()| file.sync_all());
    drop(file);
    if let Err(error) = written.and_then(|()| fs::rename(&beside, path)) {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    sync_parent(path)
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
    sync_directory(path.parent().unwrap_or(Path::new("")))
}

fn cannot_sync(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

/// A new file, in place of anything that stands there.
fn create_new(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
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
    fn a_partial_file_of_an_earlier_process_is_removed() {
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
