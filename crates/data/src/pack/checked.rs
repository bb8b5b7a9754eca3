//! The images of a pack, compared with their checksums at first use.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    Chunk, Header,
    format::{CHUNK, damaged},
};
use crate::{DataError, Image, mapped::Mapped};

/// A mapped pack whose chunks are checked once each.
#[derive(Debug)]
pub(super) struct Checked {
    map: Arc<Mapped>,
    header: Header,
    path: PathBuf,
    /// CRC-32 of each chunk's pixels, and whether it was checked.
    chunks: Vec<(u32, AtomicBool)>,
}

impl Checked {
    pub(super) fn new(map: Mapped, header: Header, path: &Path, chunks: &[Chunk]) -> Self {
        let chunks = chunks.iter().map(|chunk| (chunk.crc32, AtomicBool::new(false))).collect();
        Self { map: Arc::new(map), header, path: path.into(), chunks }
    }

    /// The image at a place. The first of a chunk reads the whole chunk.
    pub(super) fn image(&self, place: usize) -> Result<Image, DataError> {
        // An access after the end of the file would end the program.
        if !self.map.is_whole() {
            return Err(damaged(&self.path, 0, "as many bytes as when it was opened"));
        }
        let chunk = place / CHUNK;
        let (crc32, checked) = &self.chunks[chunk];
        if !checked.load(Ordering::Relaxed) {
            if crc32fast::hash(self.header.pixels(&self.map, chunk)) != *crc32 {
                let begin = self.header.place_of(chunk).start;
                return Err(damaged(&self.path, begin, "pixels with the checksum that was written with them"));
            }
            checked.store(true, Ordering::Relaxed);
        }
        let image = self.header.place_of_image(place);
        Ok(Image::mapped(&self.map, image.start, image.len()))
    }
}
