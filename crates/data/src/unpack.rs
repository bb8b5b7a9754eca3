//! Unpacks archives without trusting them: no entry may leave the target directory, be a link or a
//! device, or be larger than it says, and the number of bytes and files is limited. An archive is
//! unpacked under another name and renamed when it is complete.

mod sink;
mod tarball;
mod zipped;

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;
use rehearsal_files::{atomic, regular};

pub use crate::catalogue::{Kind, Limits};
pub use sink::MANIFEST;

use crate::{
    DataError, Progress, Unit,
    files::{unreadable, unwritable},
};
use sink::Sink;

/// An archive, and where it goes.
pub struct Unpacking<'a> {
    /// The archive.
    pub archive: &'a Path,
    /// What it is.
    pub kind: Kind,
    /// The most that it may unpack to.
    pub limits: Limits,
    /// The directory (of a [`Kind::Plain`]: the file) that it becomes; must not be there yet.
    pub to: &'a Path,
    /// Which entries are written, by their names in the archive.
    pub wanted: &'a dyn Fn(&str) -> bool,
    /// Is told the progress.
    pub progress: &'a dyn Progress,
}

impl Unpacking<'_> {
    /// Unpacks it. `to` appears when everything is there, with a [`MANIFEST`] of SHA-256 sums.
    ///
    /// # Errors
    /// The archive is damaged or hostile, or something cannot be read or written.
    pub fn run(&self) -> Result<(), DataError> {
        let beside = self.to.with_added_extension("unpacking");
        remove(&beside)?;
        let archive = regular::open(self.archive, self.limits.archive_bytes()).map_err(unreadable(self.archive))?;
        let unpacked = match self.kind {
            Kind::Plain => self.copy(archive, &beside),
            _ => self.unpack(archive, &beside),
        };
        unpacked.inspect_err(|_| drop(remove(&beside)))?;
        atomic::rename(&beside, self.to).map_err(unwritable(self.to))
    }

    /// A file that is used as it is.
    fn copy(&self, archive: File, beside: &Path) -> Result<(), DataError> {
        let mut copy = File::create_new(beside).map_err(unwritable(beside))?;
        let limited = &mut archive.take(self.limits.archive_bytes());
        match io::copy(limited, &mut copy).map_err(unwritable(beside))? {
            0 => Err(unreadable(self.archive)(io::Error::other("it is empty"))),
            _ => copy.sync_all().map_err(unwritable(beside)),
        }
    }

    fn unpack(&self, archive: File, beside: &Path) -> Result<(), DataError> {
        fs::create_dir_all(beside).map_err(unwritable(beside))?;
        let length = archive.metadata().map_err(unreadable(self.archive))?.len();
        let what = format!("unpacking {}", self.archive.file_name().unwrap_or_default().to_string_lossy());
        self.progress.begin(&what, Unit::Bytes, 0, Some(length));
        let mut sink = Sink::new(beside, self);
        let unpacked = self.entries(archive, &mut sink);
        self.progress.end();
        unpacked.and_then(|()| sink.finish())
    }

    fn entries(&self, archive: File, sink: &mut Sink) -> Result<(), DataError> {
        let counted = |inner| BufReader::with_capacity(1 << 18, Counted { inner, progress: self.progress });
        match self.kind {
            Kind::Plain => Ok(()),
            Kind::Tar => tarball::unpack(counted(archive), sink),
            Kind::TarGz => tarball::unpack(MultiGzDecoder::new(counted(archive)), sink),
            Kind::Zip => zipped::unpack(BufReader::new(archive), sink, self.progress),
        }
    }
}

/// Removes an incomplete file or directory of an earlier process.
pub(crate) fn remove(path: &Path) -> Result<(), DataError> {
    let removed = match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(file) if file.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(unwritable(path))
}

/// Reports the bytes that are read.
struct Counted<'a, R> {
    inner: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
