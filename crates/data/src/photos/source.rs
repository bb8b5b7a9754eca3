//! Where the bytes of a photo are: in a file, or in memory.

use std::{path::Path, sync::Arc};

use super::Photo;
use crate::{DataError, PhotoFile};

/// A photo that can be read.
pub trait PhotoSource: Sync {
    /// Its path, by which messages name it.
    fn path(&self) -> &Path;

    /// Its bytes.
    ///
    /// # Errors
    /// As [`PhotoFile::read`].
    fn read(&self) -> Result<PhotoFile<'_>, DataError> {
        PhotoFile::read(self.path())
    }
}

impl<P: AsRef<Path> + Sync> PhotoSource for P {
    fn path(&self) -> &Path {
        self.as_ref()
    }
}

impl PhotoSource for Photo {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self) -> Result<PhotoFile<'_>, DataError> {
        match &self.bytes {
            Some(bytes) => Ok(PhotoFile::in_memory(&self.path, Arc::clone(bytes))),
            None => PhotoFile::read(&self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_memory_need_no_file_and_have_the_same_digest() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.png");
        std::fs::write(&path, b"bytes").unwrap();
        let there = Photo { path, class: "a".into(), bytes: None };
        let here = Photo { path: "upload/a.png".into(), class: "a".into(), bytes: Some((*b"bytes").into()) };
        assert_eq!(here.read().unwrap().sha256, there.read().unwrap().sha256);
        let gone = Photo { bytes: None, ..here };
        assert!(matches!(gone.read(), Err(DataError::Unreadable { path, .. }) if path.ends_with("a.png")));
    }
}
