//! Reading and writing whole files, with errors that name them.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{DataError, regular};

/// The largest file of records or text that is read: no data set has one of more than 200 MB.
const LARGEST: u64 = 1 << 30;

/// A file's bytes, added to `digest`. `expected` says, for the error, what the file should have
/// been.
pub(crate) fn read_into(path: &Path, expected: &str, digest: &mut Sha256) -> Result<Vec<u8>, DataError> {
    let bytes = read(path, expected)?;
    digest.update(&bytes);
    Ok(bytes)
}

/// A file's bytes. `expected` says, for the error, what the file should have been.
pub(crate) fn read(path: &Path, expected: &str) -> Result<Vec<u8>, DataError> {
    regular::read(path, LARGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing { path: path.into(), expected: expected.into() },
        _ => unreadable(path)(error),
    })
}

/// A text file's lines, without empty ones.
pub(crate) fn lines(path: &Path, expected: &str) -> Result<Vec<String>, DataError> {
    let bytes = read(path, expected)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect())
}

/// Everything in `directory`, sorted, without hidden files.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, DataError> {
    Ok(all_entries(directory)?.into_iter().filter(|path| !is_hidden(path)).collect())
}

/// Everything in `directory`, sorted.
pub(crate) fn all_entries(directory: &Path) -> Result<Vec<PathBuf>, DataError> {
    let entries = fs::read_dir(directory).map_err(unreadable(directory))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable(directory)));
    let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Whether its name begins with a point.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The directories in `directory`, sorted, without hidden ones.
pub(crate) fn directories(directory: &Path) -> Result<Vec<PathBuf>, DataError> {
    Ok(entries(directory)?.into_iter().filter(|path| path.is_dir()).collect())
}

/// A path's last component as text.
pub(crate) fn name(path: &Path) -> Result<&str, DataError> {
    path.file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| DataError::Folder { path: path.into(), why: "its name is not UTF-8".into() })
}

/// Writes a file beside its place, syncs it, and renames it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let beside = path.with_added_extension("partial");
    let write = || {
        // Never through what stands there: it may be a link to something else.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        rename(&beside, path)
    };
    write().map_err(unwritable(path))
}

/// Renames, and syncs the directory that holds the new name.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    to.parent().map_or(Ok(()), sync_directory)
}

/// Syncs the names in a directory, where the system has a way to.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        // The directory of a relative name without one is the current one.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Syncs all that was written below `root`: with the whole file system, in one go. Thousands of
/// files one by one would take minutes.
#[cfg(target_os = "linux")]
pub(crate) fn sync_files(root: &Path, _: &[&str]) -> Result<(), DataError> {
    let synced = File::open(root).and_then(|directory| Ok(rustix::fs::syncfs(directory)?));
    synced.map_err(unwritable(root))
}

/// Syncs files below `root`, given by their paths in it, and the directories that hold them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_files(root: &Path, files: &[&str]) -> Result<(), DataError> {
    let mut directories = std::collections::BTreeSet::from([root.to_path_buf()]);
    for file in files {
        let path = root.join(file);
        let synced = File::options().write(true).open(&path).and_then(|file| file.sync_all());
        synced.map_err(unwritable(&path))?;
        directories.extend(Path::new(file).ancestors().skip(1).map(|above| root.join(above)));
    }
    directories.iter().try_for_each(|directory| sync_directory(directory).map_err(unwritable(directory)))
}

/// Reads to the end, but not beyond `limit` bytes.
pub(crate) fn read_limited(mut from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> DataError {
    move |error| DataError::Unreadable { path: path.into(), error }
}

pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> DataError {
    move |error| DataError::Unwritable { path: path.into(), error }
}
