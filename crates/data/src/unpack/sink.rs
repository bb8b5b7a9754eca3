//! Where entries go: checked, counted, hashed and written.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use rehearsal_files::sha256;
use sha2::{Digest, Sha256};

use super::{Limits, Unpacking};
use crate::{
    DataError,
    files::{sync_files, unwritable, write_whole},
    paths::safe,
};

/// The file of SHA-256 sums in an unpacked directory, as `sha256sum -c` reads it.
pub const MANIFEST: &str = "MANIFEST.sha256";

pub(super) struct Sink<'a> {
    root: PathBuf,
    unpacking: &'a Unpacking<'a>,
    bytes: u64,
    entries: u64,
    sums: BTreeMap<String, String>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(root: &Path, unpacking: &'a Unpacking) -> Self {
        Self { root: root.into(), unpacking, bytes: 0, entries: 0, sums: BTreeMap::new() }
    }

    /// The most bytes that may still be written.
    fn room(&self) -> u64 {
        self.unpacking.limits.bytes - self.bytes
    }

    pub(super) fn limits(&self) -> Limits {
        self.unpacking.limits
    }

    /// The archive is damaged.
    pub(super) fn damaged(&self, error: io::Error) -> DataError {
        DataError::Unreadable { path: self.unpacking.archive.into(), error }
    }

    /// The archive is refused because of an entry.
    pub(super) fn hostile(&self, entry: &str, why: impl Into<String>) -> DataError {
        DataError::Hostile { archive: self.unpacking.archive.into(), entry: entry.into(), why: why.into() }
    }

    /// Counts an entry and makes a path of its name.
    fn enter(&mut self, name: &str) -> Result<PathBuf, DataError> {
        self.entries += 1;
        if self.entries > self.unpacking.limits.entries {
            let why = format!("is one too many: at most {} entries are allowed", self.unpacking.limits.entries);
            return Err(self.hostile(name, why));
        }
        safe(name).map_err(|why| self.hostile(name, why))
    }

    /// A directory. It is created with the first file in it.
    pub(super) fn directory(&mut self, name: &str) -> Result<(), DataError> {
        self.enter(name).map(drop)
    }

    /// A file of `size` bytes, which `from` must give, and no more.
    pub(super) fn file(&mut self, name: &str, size: u64, mut from: impl Read) -> Result<(), DataError> {
        let path = self.enter(name)?;
        if path.as_os_str().is_empty() {
            return Err(self.hostile(name, "is a file without a name"));
        }
        if size > self.room() {
            let why = format!("makes the archive larger than the {} bytes allowed", self.unpacking.limits.bytes);
            return Err(self.hostile(name, why));
        }
        self.bytes += size;
        if !(self.unpacking.wanted)(name) {
            return Ok(());
        }
        let target = self.root.join(&path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(unwritable(&target))?;
        }
        let mut file = File::create(&target).map_err(unwritable(&target))?;
        let mut digest = Sha256::new();
        let mut left = size;
        let mut buffer = [0; 1 << 14];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(error)),
            };
            left = left.checked_sub(read as u64).ok_or_else(|| self.hostile(name, "is larger than it says"))?;
            digest.update(&buffer[..read]);
            file.write_all(&buffer[..read]).map_err(unwritable(&target))?;
        }
        if left > 0 {
            return Err(self.damaged(io::Error::new(io::ErrorKind::UnexpectedEof, format!("`{name}` is cut"))));
        }
        let path = path.to_string_lossy().replace('\\', "/");
        self.sums.insert(path, sha256::finish(digest));
        Ok(())
    }

    /// Syncs what was written and writes the manifest. An archive without files is refused.
    pub(super) fn finish(self) -> Result<(), DataError> {
        if self.sums.is_empty() {
            return Err(self.damaged(io::Error::other("it is empty")));
        }
        sync_files(&self.root, &self.sums.keys().map(String::as_str).collect::<Vec<_>>())?;
        let lines: String = self.sums.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect();
        write_whole(&self.root.join(MANIFEST), lines.as_bytes())
    }
}
