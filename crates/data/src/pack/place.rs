//! Where a pack is or will be made.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::text::thousands;

use super::{Header, Listing, Packing, Stamp};
use crate::{DataError, Split, files::unwritable, home, limits::megabytes, printable};

/// A pack of a split.
pub(super) struct Place {
    pub path: PathBuf,
    pub header: Header,
    /// It exists.
    pub is_made: bool,
}

/// Where the packs of both splits are. Before any is made, reports where and how large it will be.
pub(super) fn places(listing: &Listing, packing: &Packing) -> Result<[Place; 2], DataError> {
    let splits = [Wanted::new(listing, Split::Train, packing)?, Wanted::new(listing, Split::Test, packing)?];
    let missing = || splits.iter().filter(|wanted| wanted.existing.is_none());
    let images: usize = missing().map(|wanted| listing.entries(wanted.split).len()).sum();
    let directory = if missing().count() == 0 { Path::new("") } else { writable(packing.directories)? };
    if images > 0 {
        let (size, bytes) = (packing.size, megabytes(3 * packing.size * packing.size * images));
        let (count, into) = (thousands(images), directory.display());
        packing.progress.say(&printable(&format!("packing {count} images of {size}×{size} into {into} ({bytes})")));
    }
    let place = |Wanted { split, stamp, existing }| {
        existing.unwrap_or_else(|| Place::new(listing, split, &stamp, packing, directory))
    };
    Ok(splits.map(place))
}

/// A split whose pack is needed.
struct Wanted {
    split: Split,
    stamp: Stamp,
    /// Its pack, if it exists.
    existing: Option<Place>,
}

impl Wanted {
    fn new(listing: &Listing, split: Split, packing: &Packing) -> Result<Self, DataError> {
        let stamp = Stamp::new(listing, split)?;
        let places = packing.directories.iter();
        let mut places = places.map(|directory| Place::new(listing, split, &stamp, packing, directory));
        Ok(Self { existing: places.find(|place| place.is_made), split, stamp })
    }
}

impl Place {
    fn new(listing: &Listing, split: Split, stamp: &Stamp, packing: &Packing, directory: &Path) -> Self {
        let header = Header::new(listing, split, packing.size, directory, stamp);
        let path = directory.join(header.file_name(packing.name, split));
        Self { is_made: path.exists(), path, header }
    }
}

/// The first directory that is writable, created if it does not exist. The error is that of the last.
fn writable(directories: &[PathBuf]) -> Result<&Path, DataError> {
    let mut refused = None;
    for directory in directories {
        match try_to_write(directory) {
            Ok(()) => return Ok(directory),
            // A full disk is an error: nobody asked to fill another one.
            Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                return Err(unwritable(directory)(error));
            }
            Err(error) => refused = Some(unwritable(directory)(error)),
        }
    }
    Err(refused.unwrap_or_else(|| DataError::Refused("there is no place for packed images".into())))
}

fn try_to_write(directory: &Path) -> io::Result<()> {
    // Beside the images, where somebody may have put a link to another directory.
    if home::is_hidden(directory) && directory.ancestors().take(2).any(Path::is_symlink) {
        return Err(io::Error::other("it is a link"));
    }
    fs::create_dir_all(directory)?;
    check_access(directory)
}

/// Asks the system, because a test file would be left behind if the process is killed.
#[cfg(unix)]
fn check_access(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?)
}

/// Writes a test file, because Windows has no call that answers the question.
#[cfg(not(unix))]
fn check_access(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!("{}.pack.partial", std::process::id()));
    fs::File::create_new(&path).and_then(|_| fs::remove_file(&path))
}
