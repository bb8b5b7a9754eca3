//! The packed cache: every image of a split, decoded and resized once, in one file that is mapped
//! into memory.
//!
//! ```text
//! header   one line of JSON, filled with spaces to 4,096 bytes: key, shape, how many images
//! images   [count, height, width, channels] bytes; zeros if a file is not an image
//! journal  one line of JSON per chunk: CRC-32 of its pixels, SHA-256 of each file it was made
//!          from, which of them were bad, CRC-32 of the line
//! ```
//!
//! Lines are compared with their checksums when a pack is opened, pixels when the first image of
//! their chunk is used.
//!
//! While it is made, images and journal are two files (`….pack.partial`, `….pack.journal`). A chunk
//! is complete when its line is in the journal and its pixels have the line's CRC: after a kill, the
//! next process continues after the last complete chunk. At the end the journal is appended to the
//! images, and the file is synced and renamed: a `.pack` is always complete. When files change,
//! another pack is made.

mod checked;
mod format;
mod make;
mod place;
mod writer;

use std::path::{Path, PathBuf};

use rehearsal_files::sha256::finish;
use sha2::{Digest, Sha256};

use checked::Checked;
pub(crate) use format::{Chunk, Header, Owner, Stamp};
use place::Place;

use crate::{
    DataError, Dataset, Image, ImageShape, Progress, Skipped, Source, Split, files::unreadable, mapped::Mapped,
    photos::Ignored,
};

/// One image file and what it shows.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file.
    pub path: PathBuf,
    /// Its class.
    pub label: u16,
    /// Its domain; 0 if there are none.
    pub domain: u16,
}

/// The image files of a data set.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// The names of the domains; empty if there are none.
    pub domain_names: Vec<String>,
    /// The training images.
    pub train: Vec<Entry>,
    /// The test images.
    pub test: Vec<Entry>,
    /// Files among them that are not read.
    pub ignored: Vec<Ignored>,
    /// Some class is a folder inside a folder, and its name is a path.
    pub nested: bool,
    /// The directory of the data set, as the user gave it.
    pub root: PathBuf,
    /// Which data set it is, if it is in the catalogue.
    pub dataset: Option<Dataset>,
}

impl Listing {
    /// The images of a split.
    pub fn entries(&self, split: Split) -> &[Entry] {
        match split {
            Split::Train => &self.train,
            Split::Test => &self.test,
        }
    }
}

/// How a listing is packed.
pub struct Packing<'a> {
    /// The data set's name, for the file's.
    pub name: &'a str,
    /// Height and width of the packed images.
    pub size: usize,
    /// Skip files that are not images.
    pub skip_bad: bool,
    /// Number of threads; `None` for one per core.
    pub threads: Option<usize>,
    /// Where packs may be; new ones are made in the first that is writable.
    pub directories: &'a [PathBuf],
    /// Is told the progress.
    pub progress: &'a dyn Progress,
}

/// Opens the packs of a listing, and makes them if they are not there.
///
/// # Errors
/// A file is not an image (unless they are skipped), or the pack cannot be written or read.
pub fn open(listing: Listing, packing: &Packing) -> Result<Packed, DataError> {
    let mut digest = Sha256::new();
    let mut skipped = Vec::new();
    let [train, test] = place::places(&listing, packing)?;
    let mut part = |split: Split, place: Place| -> Result<Part, DataError> {
        let part = part(listing.entries(split), split, place, packing)?;
        digest.update(split.name());
        digest.update(&part.files);
        skipped.extend(part.skipped.iter().cloned());
        Ok(part)
    };
    let parts = [part(Split::Train, train)?, part(Split::Test, test)?];
    let shape = ImageShape { height: packing.size, width: packing.size, channels: 3 };
    let Listing { class_names, domain_names, ignored, .. } = listing;
    Ok(Packed { shape, class_names, domain_names, parts, sha256: finish(digest), skipped, ignored })
}

fn part(entries: &[Entry], split: Split, place: Place, packing: &Packing) -> Result<Part, DataError> {
    let Place { path, header, is_made } = place;
    if !is_made {
        make::make(&path, entries, &header, split, packing)?;
    }
    let map = Mapped::open(&path, u64::MAX).map_err(unreadable(&path))?;
    let chunks = format::read(&map, &header, &path)?;
    let images = Checked::new(map, header, &path, &chunks);
    Part::new(images, &chunks, entries, packing.skip_bad)
}

/// A split of a packed data set.
#[derive(Debug)]
struct Part {
    images: Checked,
    labels: Vec<u16>,
    domains: Vec<u16>,
    /// The place of each image in the pack: files that are not images have a place, but no index.
    places: Vec<u32>,
    /// The file of each image.
    paths: Vec<PathBuf>,
    skipped: Vec<Skipped>,
    /// Labels, domains and the digests of all files.
    files: Vec<u8>,
}

impl Part {
    fn new(images: Checked, chunks: &[Chunk], entries: &[Entry], skip_bad: bool) -> Result<Self, DataError> {
        let (mut labels, mut domains, mut places, mut paths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut skipped, mut files) = (Vec::new(), Vec::new());
        for (chunk, entries) in chunks.iter().zip(entries.chunks(format::CHUNK)) {
            let digests = chunk.digests().into_iter().fold(Sha256::new(), Sha256::chain_update);
            files.extend(finish(digests).as_bytes());
            for (index, entry) in entries.iter().enumerate() {
                files.extend(entry.label.to_le_bytes());
                files.extend(entry.domain.to_le_bytes());
                let path = entry.path.clone();
                match chunk.bad.get(&(index as u32)).cloned() {
                    Some(why) if skip_bad => skipped.push(Skipped { path, why }),
                    Some(why) => return Err(DataError::Image { path, why }),
                    None => {
                        places.push((chunk.number * format::CHUNK + index) as u32);
                        labels.push(entry.label);
                        domains.push(entry.domain);
                        paths.push(path);
                    }
                }
            }
        }
        Ok(Self { images, labels, domains, places, paths, skipped, files })
    }
}

/// A data set of image files, packed and mapped.
#[derive(Debug)]
pub struct Packed {
    shape: ImageShape,
    class_names: Vec<String>,
    domain_names: Vec<String>,
    /// Of [`Split::BOTH`].
    parts: [Part; 2],
    sha256: String,
    skipped: Vec<Skipped>,
    ignored: Vec<Ignored>,
}

impl Source for Packed {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        &self.class_names
    }

    fn labels(&self, split: Split) -> &[u16] {
        &self.parts[split as usize].labels
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let part = &self.parts[split as usize];
        part.images.image(part.places[index] as usize)
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn file(&self, split: Split, index: usize) -> Option<&Path> {
        self.parts[split as usize].paths.get(index).map(PathBuf::as_path)
    }

    fn domain_names(&self) -> &[String] {
        &self.domain_names
    }

    fn domains(&self, split: Split) -> &[u16] {
        if self.domain_names.is_empty() { &[] } else { &self.parts[split as usize].domains }
    }

    fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }
}

/// Compares every chunk of a pack with its CRC, and returns the ranges of images of bad chunks;
/// `None` if another version of this program made the pack.
///
/// # Errors
/// The file is not a pack.
pub fn verify(path: &Path) -> Result<Option<Vec<std::ops::Range<usize>>>, DataError> {
    let map = Mapped::open(path, u64::MAX).map_err(unreadable(path))?;
    if Header::is_of_another_version(&map) {
        return Ok(None);
    }
    let header = Header::read(&map, path)?;
    let chunks = format::read(&map, &header, path)?;
    let bad = chunks.iter().filter(|chunk| crc32fast::hash(header.pixels(&map, chunk.number)) != chunk.crc32);
    Ok(Some(bad.map(|chunk| header.images_of(chunk.number)).collect()))
}
