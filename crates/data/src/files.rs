//! Reading and writing whole files, with errors that name them.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rehearsal_files::{atomic, regular};
use sha2::{Digest, Sha256};

use crate::DataError;

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

/// Replaces a file, whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    atomic::write(path, bytes).map_err(unwritable(path))
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
    directories.iter().try_for_each(|directory| atomic::sync_directory(directory).map_err(unwritable(directory)))
}

pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> DataError {
    move |error| DataError::Unreadable { path: path.into(), error }
}

pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> DataError {
    move |error| DataError::Unwritable { path: path.into(), error }
}
