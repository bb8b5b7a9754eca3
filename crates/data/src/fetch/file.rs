//! One file, downloaded or copied, that appears in its place only after it was checked.

use std::{fs, path::Path};

use rehearsal_files::{atomic, regular};

use super::{Timeouts, check, http, lock_directory};
use crate::{
    DataError, Progress,
    catalogue::{Checksum, PublishedFile},
    files::{unreadable, unwritable},
    unpack::remove,
};

impl PublishedFile {
    /// Downloads it to a directory, which is made; it has the official name there. Bytes that arrived
    /// before are not fetched again. Nothing is done if the right file is there. With a `mirror`, a
    /// file of the same name below that address is fetched instead.
    ///
    /// # Errors
    /// It cannot be fetched or written, or is not what was published.
    pub fn download(
        &self,
        directory: &Path,
        mirror: Option<&str>,
        timeouts: Timeouts,
        progress: &dyn Progress,
    ) -> Result<(), DataError> {
        let url = mirror.map(|mirror| format!("{}/{}", mirror.trim_end_matches('/'), self.name));
        let url = url.as_deref().unwrap_or(self.url);
        let _lock = lock_directory(directory)?;
        let target = Target { url, to: &directory.join(self.name), limit: self.bytes, timeouts, progress };
        target.fetch(|path| self.check(path, progress))
    }

    /// Copies it to a directory, which is made, from a file of any name.
    ///
    /// # Errors
    /// It cannot be read or written, or is not what was published.
    pub fn copy(&self, from: &Path, directory: &Path, progress: &dyn Progress) -> Result<(), DataError> {
        self.check(from, progress)?;
        let _lock = lock_directory(directory)?;
        let to = directory.join(self.name);
        let copy = |to: &mut fs::File| {
            let copied = regular::open(from, self.bytes).and_then(|mut from| std::io::copy(&mut from, to))?;
            if copied == self.bytes { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
        };
        atomic::write_with(&to, copy).map_err(unwritable(&to))
    }

    /// Refuses a file of another size or with another SHA-256.
    ///
    /// # Errors
    /// It cannot be read, or is not what was published.
    pub fn check(&self, path: &Path, progress: &dyn Progress) -> Result<(), DataError> {
        let found = regular::open(path, u64::MAX).and_then(|file| file.metadata()).map_err(unreadable(path))?.len();
        if found != self.bytes {
            return Err(DataError::Length { path: path.into(), expected: self.bytes, found });
        }
        check(path, Checksum::Sha256(self.sha256), self.bytes, progress)
    }
}

/// Where a download goes.
pub(super) struct Target<'a> {
    pub url: &'a str,
    /// The whole file; it has the extension `partial` until it was checked.
    pub to: &'a Path,
    /// The most bytes that are accepted.
    pub limit: u64,
    pub timeouts: Timeouts,
    pub progress: &'a dyn Progress,
}

impl Target<'_> {
    /// Downloads the file, unless it is there and passes `check`. If a resumed download does not pass,
    /// it starts over once.
    pub(super) fn fetch<T>(&self, check: impl Fn(&Path) -> Result<T, DataError>) -> Result<T, DataError> {
        let partial = &self.to.with_added_extension("partial");
        if self.to.exists() {
            match check(self.to) {
                Ok(checked) => return Ok(checked),
                Err(_) => remove(self.to)?,
            }
        }
        if let Some(directory) = self.to.parent() {
            fs::create_dir_all(directory).map_err(unwritable(directory))?;
        }
        let &Self { url, limit, timeouts, progress, .. } = self;
        let download = http::Download { url, to: partial, limit, timeouts, progress };
        let resumed = download.run()?;
        let mut checked = check(partial);
        if checked.is_err() && resumed {
            progress.say("the resumed download does not have the published checksum: starting over");
            http::forget(partial)?;
            download.run()?;
            checked = check(partial);
        }
        let checked = match checked {
            Ok(checked) => checked,
            Err(error) => {
                http::forget(partial)?;
                return Err(error);
            }
        };
        atomic::rename(partial, self.to).map_err(unwritable(self.to))?;
        http::forget(partial)?;
        Ok(checked)
    }
}
