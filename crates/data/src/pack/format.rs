//! The layout of a pack.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use rehearsal_files::sha256::{finish, from_hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Entry, Listing};
use crate::{DataError, Dataset, Split, files::unreadable};

/// Bytes before the first image.
pub(super) const HEADER: usize = 4096;

/// Longer paths are not written into the header: it has no room if every letter must be escaped.
const LONGEST_ROOT: usize = HEADER / 8;

/// Images to a chunk: a few megabytes, written and counted at once.
pub(super) const CHUNK: usize = 128;

const FORMAT: &str = "rehearsal pack 3";

/// With a number behind it, the format of every version.
const FORMATS: &str = "rehearsal pack ";

/// Characters of a digest in hexadecimal.
const DIGEST: usize = 64;

/// The first line of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    format: String,
    /// SHA-256 of what the pack depends on: each file's path, size, time of change and label, and
    /// the size of the images.
    pub key: String,
    pub size: usize,
    pub images: usize,
    /// Whose images these are, so that an unused pack can be recognised.
    #[serde(default)]
    pub of: Option<Owner>,
}

/// The split of a data set, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub dataset: Dataset,
    pub test: bool,
    /// The real path of the directory that the user named.
    pub root: PathBuf,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub number: usize,
    /// Of the chunk's pixels.
    pub crc32: u32,
    /// SHA-256 of each of the chunk's files in hexadecimal, one after another.
    pub files: String,
    /// Files that are not images, by their place in the chunk, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bad: BTreeMap<u32, String>,
    /// CRC-32 of the rest of the line.
    #[serde(default)]
    line: u32,
}

impl Chunk {
    /// A chunk with the checksum of its pixels and the digests of its files.
    pub(super) fn new(number: usize, crc32: u32, files: String, bad: BTreeMap<u32, String>) -> Self {
        Self { number, crc32, files, bad, line: 0 }
    }

    /// SHA-256 of each file.
    pub(super) fn digests(&self) -> Vec<[u8; 32]> {
        self.files.as_bytes().chunks_exact(DIGEST).map(|digits| from_hex(digits).unwrap_or_default()).collect()
    }

    /// Whether it has a digest for each image.
    fn has_files(&self, images: usize) -> bool {
        self.files.len() == images * DIGEST && self.files.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// The line of the journal, with its checksum.
    pub(super) fn to_line(&self) -> serde_json::Result<String> {
        let sealed = Self { line: self.line_crc32()?, ..self.clone() };
        Ok(serde_json::to_string(&sealed)? + "\n")
    }

    /// Reads a line; `None` if its checksum is wrong.
    fn from_line(line: &[u8]) -> Option<Self> {
        let chunk: Self = serde_json::from_slice(line).ok()?;
        (chunk.line_crc32().ok()? == chunk.line).then_some(chunk)
    }

    fn line_crc32(&self) -> serde_json::Result<u32> {
        let open = Self { line: 0, ..self.clone() };
        Ok(crc32fast::hash(&serde_json::to_vec(&open)?))
    }
}

impl Header {
    /// The header of a pack in `directory`, of files with that stamp. Beside the data the key depends
    /// on paths below the data's root, so that a folder may be moved with its packs; elsewhere, among
    /// packs of other folders, it depends on the root, too.
    pub(crate) fn new(listing: &Listing, split: Split, size: usize, directory: &Path, stamp: &Stamp) -> Self {
        let Listing { root, dataset, .. } = listing;
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        let mut digest = Sha256::new();
        digest.update(FORMAT);
        digest.update((size as u64).to_le_bytes());
        if !directory.starts_with(root) {
            update_with_path(&mut digest, &real);
        }
        digest.update(stamp.0);
        let is_short = real.to_str().is_some_and(|path| path.len() < LONGEST_ROOT);
        let of = dataset.filter(|_| is_short);
        let of = of.map(|dataset| Owner { dataset, test: split == Split::Test, root: real });
        let images = listing.entries(split).len();
        Self { format: FORMAT.into(), key: finish(digest), size, images, of }
    }

    /// Whether a pack with the header `other` has the same images: a folder may have been moved.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let images = |header: &Self| (header.format.clone(), header.key.clone(), header.size, header.images);
        images(self) == images(other)
    }

    /// The file name of the pack.
    pub(super) fn file_name(&self, dataset: &str, split: Split) -> String {
        format!("{dataset}-{}-{}-{}.pack", split.name(), self.size, &self.key[..16])
    }

    /// The first bytes of the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a header is plain data");
        bytes.resize(HEADER - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Reads the first bytes of a file.
    pub(crate) fn read(bytes: &[u8], path: &Path) -> Result<Self, DataError> {
        let header = bytes.get(..HEADER).and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        let sane = |header: &Self| header.format == FORMAT && header.size < 1 << 15 && header.images < 1 << 32;
        header.filter(sane).ok_or_else(|| damaged(path, 0, "the header of a pack"))
    }

    /// Whether a file is a pack that another version of this program made.
    pub(super) fn is_of_another_version(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Any {
            format: String,
        }
        let any = bytes.get(..HEADER).and_then(|bytes| serde_json::from_slice::<Any>(bytes).ok());
        any.is_some_and(|any| any.format != FORMAT && any.format.starts_with(FORMATS))
    }

    fn image_bytes(&self) -> usize {
        3 * self.size * self.size
    }

    /// How many chunks there are.
    pub(super) fn chunks(&self) -> usize {
        self.images.div_ceil(CHUNK)
    }

    /// Which images a chunk holds.
    pub(super) fn images_of(&self, chunk: usize) -> Range<usize> {
        let begin = (chunk * CHUNK).min(self.images);
        begin..(begin + CHUNK).min(self.images)
    }

    /// Where a chunk's pixels are in the file.
    pub(super) fn place_of(&self, chunk: usize) -> Range<usize> {
        let Range { start, end } = self.images_of(chunk);
        HEADER + start * self.image_bytes()..HEADER + end * self.image_bytes()
    }

    /// Where an image's pixels are in the file.
    pub(super) fn place_of_image(&self, index: usize) -> Range<usize> {
        HEADER + index * self.image_bytes()..HEADER + (index + 1) * self.image_bytes()
    }

    /// A chunk's pixels.
    pub(super) fn pixels<'a>(&self, pack: &'a [u8], chunk: usize) -> &'a [u8] {
        &pack[self.place_of(chunk)]
    }

    /// Where the images end and the journal begins.
    pub(super) fn end(&self) -> usize {
        HEADER + self.images * self.image_bytes()
    }
}

/// The chunks of a complete pack, which must have the header `expected`.
pub(super) fn read(pack: &[u8], expected: &Header, path: &Path) -> Result<Vec<Chunk>, DataError> {
    if !Header::read(pack, path)?.is_of(expected) {
        return Err(damaged(path, 0, "the header of the pack that its name says"));
    }
    let end = expected.end();
    let chunks = journal(pack.get(end..).unwrap_or_default());
    let is_whole = |chunk: &Chunk| chunk.has_files(expected.images_of(chunk.number).len());
    let whole = chunks.len() == expected.chunks() && chunks.iter().all(is_whole);
    if whole { Ok(chunks) } else { Err(damaged(path, end, "a line for each chunk")) }
}

/// SHA-256 of path, size, time of change and label of each file of a split: it changes if a file
/// does.
pub(crate) struct Stamp([u8; 32]);

impl Stamp {
    /// Of the files as they are on disk now.
    pub(crate) fn new(listing: &Listing, split: Split) -> Result<Self, DataError> {
        let mut digest = Sha256::new();
        for Entry { path, label, domain } in listing.entries(split) {
            let file = path.metadata().map_err(unreadable(path))?;
            let changed =
                file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            update_with_path(&mut digest, path.strip_prefix(&listing.root).unwrap_or(path));
            digest.update(file.len().to_le_bytes());
            digest.update(changed.as_nanos().to_le_bytes());
            digest.update(label.to_le_bytes());
            digest.update(domain.to_le_bytes());
        }
        Ok(Self(digest.finalize().into()))
    }
}

/// Adds a path to a digest.
fn update_with_path(digest: &mut Sha256, path: &Path) {
    let path = path.as_os_str().as_encoded_bytes();
    digest.update((path.len() as u64).to_le_bytes());
    digest.update(path);
}

/// The lines of a journal up to the first that is cut, damaged or out of order.
pub(super) fn journal(bytes: &[u8]) -> Vec<Chunk> {
    let whole = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let lines = whole.map(Chunk::from_line);
    lines.enumerate().map_while(|(number, chunk)| chunk.filter(|chunk| chunk.number == number)).collect()
}

/// A pack that is not what it should be.
pub(super) fn damaged(path: &Path, offset: usize, expected: &str) -> DataError {
    let found = "something else; remove the file to make it again".into();
    DataError::Malformed { path: path.into(), offset: offset as u64, expected: expected.into(), found }
}
