//! Zip archives.

use std::io::{self, Read, Seek};

use zip::{ZipArchive, result::ZipError};

use super::sink::Sink;
use crate::{DataError, Progress};

pub(super) fn unpack(reader: impl Read + Seek, sink: &mut Sink, progress: &dyn Progress) -> Result<(), DataError> {
    let mut archive = ZipArchive::new(reader).map_err(|error| damaged(error, sink))?;
    if archive.len() as u64 > sink.limits().entries {
        return Err(sink.hostile("", format!("has {} entries, more than allowed", archive.len())));
    }
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| damaged(error, sink))?;
        let name = entry.name().map_err(|error| damaged(error, sink))?.into_owned();
        let (size, compressed) = (entry.size(), entry.compressed_size());
        if entry.is_symlink() {
            return Err(sink.hostile(&name, "is a link"));
        }
        if entry.is_dir() {
            sink.directory(&name)?;
        } else {
            sink.file(&name, size, entry)?;
        }
        progress.advance(compressed);
    }
    Ok(())
}

fn damaged(error: ZipError, sink: &Sink) -> DataError {
    sink.damaged(match error {
        ZipError::Io(error) => error,
        error => io::Error::other(error),
    })
}
