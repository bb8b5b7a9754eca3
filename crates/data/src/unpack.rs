//! Archives are hostile: no entry may leave the target directory, be a link or a device, or be
//! larger than it says; the whole is limited in bytes and files. An archive is unpacked beside its
//! place and renamed when complete, so that nothing half unpacked is taken for whole.

mod path;
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

pub(crate) use path::safe;
pub use sink::MANIFEST;

use crate::{
    DataError, Progress, Unit,
    files::{unreadable, unwritable},
};
use sink::Sink;

/// What a downloaded file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file to be used as it is.
    Plain,
    /// A tar archive.
    Tar,
    /// A tar archive, compressed by gzip.
    TarGz,
    /// A zip archive.
    Zip,
}

/// The most that an archive may unpack to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files and directories.
    pub entries: u64,
}

impl Limits {
    /// The most bytes that the archive itself may have: names, headers and padding come on top of
    /// the files, at most 1,024 bytes an entry, and extensions.
    pub(crate) fn archive_bytes(self) -> u64 {
        let overhead = self.entries.saturating_mul(4096).saturating_add(1 << 20);
        self.bytes.saturating_add(overhead)
    }
}

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
    /// Who hears how far it is.
    pub progress: &'a dyn Progress,
}

impl Unpacking<'_> {
    /// Unpacks it. `to` appears when everything is there, together with a [`MANIFEST`] of SHA-256
    /// sums.
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
            0 => Err(unreadable(self.archive)(io::Error::other("there is nothing in it"))),
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

/// Removes what an earlier process left half done.
pub(crate) fn remove(path: &Path) -> Result<(), DataError> {
    let removed = match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(file) if file.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(unwritable(path))
}

/// Tells how much was read.
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
