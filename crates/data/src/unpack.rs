//! Archives are hostile: no entry may leave the target directory, be a link or a device, or be larger than it says; the whole is limited in
//! bytes and files. An archive is unpacked beside its place and renamed when complete, so that nothing half unpacked is taken for whole.

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
    /// Unpacks it. `to` appears when everything is there, together with a [`MANIFEST`] of SHA-256 sums.
    ///
    /// # Errors
    /// The archive is damaged or hostile, or something cannot be read or written.
    pub fn run(&self) -> Result<(), DataError> {
        let beside = self.to.with_added_extension("unpacking");
        remove(&beside)?;
        if self.kind == Kind::Plain {
            fs::copy(self.archive, &beside).map_err(unwritable(&beside))?;
        } else {
            fs::create_dir_all(&beside).map_err(unwritable(&beside))?;
            let length = fs::metadata(self.archive).map_err(unreadable(self.archive))?.len();
            let what = format!("unpacking {}", self.archive.file_name().unwrap_or_default().to_string_lossy());
            self.progress.begin(&what, Unit::Bytes, 0, Some(length));
            let mut sink = Sink::new(&beside, self);
            let unpacked = self.entries(&mut sink);
            self.progress.end();
            unpacked.and_then(|()| sink.finish()).inspect_err(|_| {
                let _ = fs::remove_dir_all(&beside);
            })?;
        }
        fs::rename(&beside, self.to).map_err(unwritable(self.to))
    }

    fn entries(&self, sink: &mut Sink) -> Result<(), DataError> {
        let file = File::open(self.archive).map_err(unreadable(self.archive))?;
        let reader = BufReader::with_capacity(1 << 18, Counted { inner: file, progress: self.progress });
        match self.kind {
            Kind::Plain => Ok(()),
            Kind::Tar => tarball::unpack(reader, sink),
            Kind::TarGz => tarball::unpack(MultiGzDecoder::new(reader), sink),
            Kind::Zip => {
                let file = File::open(self.archive).map_err(unreadable(self.archive))?;
                zipped::unpack(BufReader::new(file), sink, self.progress)
            }
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
