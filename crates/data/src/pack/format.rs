//! What stands where in a pack.

use std::{collections::BTreeMap, ops::Range, path::Path, time::UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Entry;
use crate::{DataError, Split, digest::hexadecimal, files::unreadable};

/// Bytes before the first image.
pub(super) const HEADER: usize = 4096;

/// Images to a chunk: a few megabytes, written and counted at once.
pub(super) const CHUNK: usize = 128;

const FORMAT: &str = "rehearsal pack 2";

/// The first line of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    format: String,
    /// SHA-256 of what the pack depends on: each file's path, size, time of change and label, and
    /// the size of the images.
    key: String,
    pub size: usize,
    pub images: usize,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub number: usize,
    /// Of the chunk's pixels.
    pub crc32: u32,
    /// Of the chunk's files, one digest after another.
    pub sha256: String,
    /// Files that are no images, by their place in the chunk, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bad: BTreeMap<u32, String>,
    /// CRC-32 of the rest of the line.
    #[serde(default)]
    line: u32,
}

impl Chunk {
    /// A chunk of pixels with that checksum, of files with those.
    pub(super) fn new(number: usize, crc32: u32, sha256: String, bad: BTreeMap<u32, String>) -> Self {
        Self { number, crc32, sha256, bad, line: 0 }
    }

    /// As it stands in the journal, with the checksum of the line.
    pub(super) fn to_line(&self) -> serde_json::Result<String> {
        let sealed = Self { line: self.line_crc32()?, ..self.clone() };
        Ok(serde_json::to_string(&sealed)? + "\n")
    }

    /// Reads a line, if it has the checksum that it says.
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
    /// The header of a pack of `entries` as they are on disk now.
    pub(super) fn new(entries: &[Entry], size: usize) -> Result<Self, DataError> {
        let mut digest = Sha256::new();
        digest.update(FORMAT);
        digest.update((size as u64).to_le_bytes());
        for Entry { path, label, domain } in entries {
            let file = path.metadata().map_err(unreadable(path))?;
            let changed =
                file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            let name = path.as_os_str().as_encoded_bytes();
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name);
            digest.update(file.len().to_le_bytes());
            digest.update(changed.as_nanos().to_le_bytes());
            digest.update(label.to_le_bytes());
            digest.update(domain.to_le_bytes());
        }
        Ok(Self { format: FORMAT.into(), key: hexadecimal(digest), size, images: entries.len() })
    }

    /// What the pack's file is called.
    pub(super) fn file_name(&self, dataset: &str, split: Split) -> String {
        format!("{dataset}-{}-{}-{}.pack", split.name(), self.size, &self.key[..16])
    }

    /// As it stands at the beginning of the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a header is plain data");
        bytes.resize(HEADER - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Reads what stands at the beginning of a file.
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Self, DataError> {
        let header = bytes.get(..HEADER).and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        let sane = |header: &Self| header.format == FORMAT && header.size < 1 << 15 && header.images < 1 << 32;
        header.filter(sane).ok_or_else(|| damaged(path, 0, "the header of a pack"))
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
    if Header::read(pack, path)? != *expected {
        return Err(damaged(path, 0, "the header of the pack that its name says"));
    }
    let end = expected.end();
    let chunks = journal(pack.get(end..).unwrap_or_default());
    if chunks.len() == expected.chunks() { Ok(chunks) } else { Err(damaged(path, end, "a line for each chunk")) }
}

/// The lines of a journal up to the first that is cut, damaged or out of order.
pub(super) fn journal(bytes: &[u8]) -> Vec<Chunk> {
    let whole = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let lines = whole.map(Chunk::from_line);
    lines.enumerate().map_while(|(number, chunk)| chunk.filter(|chunk| chunk.number == number)).collect()
}

/// A pack that is not what it should be.
pub(super) fn damaged(path: &Path, offset: usize, expected: &str) -> DataError {
    let found = "something else; remove the file, and it will be made again".into();
    DataError::Malformed { path: path.into(), offset: offset as u64, expected: expected.into(), found }
}
