//! Writes a pack on a thread of its own, from a short queue of decoded images, so that checksums and
//! the disk do not stop the decoders.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    mem::take,
    path::Path,
    sync::mpsc::Receiver,
};

use rehearsal_files::sha256::hex;

use super::{Chunk, Header};
use crate::{DataError, files::unwritable};

/// Chunks between two syncs: most of the syncing is done while images are decoded.
const SYNC_EVERY: usize = 8;

/// Some images that were decoded together, in order.
pub(super) struct Batch {
    /// Of one image after another.
    pub pixels: Vec<u8>,
    /// What is known of the file of each.
    pub files: Vec<Read>,
}

/// A file that was read.
pub(super) struct Read {
    pub digest: [u8; 32],
    /// Why it is not an image.
    pub bad: Option<String>,
}

/// The two files of a pack that is being made, both positioned at the end of the complete chunks.
pub(super) struct Writer<'a> {
    pub images: &'a mut File,
    pub images_path: &'a Path,
    pub journal: File,
    pub journal_path: &'a Path,
    pub chunks: Chunks,
}

impl Writer<'_> {
    /// Writes all batches.
    pub(super) fn write_all(mut self, batches: &Receiver<Batch>) -> Result<(), DataError> {
        for batch in batches {
            // The pixels first: a chunk is complete when its line is in the journal.
            self.images.write_all(&batch.pixels).map_err(unwritable(self.images_path))?;
            for chunk in self.chunks.add(&batch) {
                write_line(&mut self.journal, &chunk).map_err(unwritable(self.journal_path))?;
                if (chunk.number + 1).is_multiple_of(SYNC_EVERY) {
                    self.images.sync_data().map_err(unwritable(self.images_path))?;
                }
            }
        }
        Ok(())
    }
}

/// Builds the lines of the journal, image by image.
pub(super) struct Chunks {
    header: Header,
    /// The current chunk, and the number of its images so far.
    number: usize,
    images: usize,
    crc32: crc32fast::Hasher,
    files: String,
    bad: BTreeMap<u32, String>,
}

impl Chunks {
    /// For a pack with that header, from chunk `number` on.
    pub(super) fn new(header: &Header, number: usize) -> Self {
        let (header, crc32) = (header.clone(), crc32fast::Hasher::new());
        Self { header, number, images: 0, crc32, files: String::new(), bad: BTreeMap::new() }
    }

    /// Adds images; returns the chunks that are now complete.
    fn add(&mut self, batch: &Batch) -> Vec<Chunk> {
        let mut complete = Vec::new();
        let image_bytes = batch.pixels.len() / batch.files.len().max(1);
        for (file, pixels) in batch.files.iter().zip(batch.pixels.chunks_exact(image_bytes.max(1))) {
            self.crc32.update(pixels);
            self.files += &hex(&file.digest);
            if let Some(why) = &file.bad {
                self.bad.insert(self.images as u32, why.clone());
            }
            self.images += 1;
            if self.images == self.header.images_of(self.number).len() {
                complete.push(self.finish());
            }
        }
        complete
    }

    /// Returns the current chunk and starts the next.
    fn finish(&mut self) -> Chunk {
        let crc32 = take(&mut self.crc32).finalize();
        let chunk = Chunk::new(self.number, crc32, take(&mut self.files), take(&mut self.bad));
        (self.number, self.images) = (self.number + 1, 0);
        chunk
    }
}

/// One line of the journal.
pub(super) fn write_line(journal: &mut File, chunk: &Chunk) -> io::Result<()> {
    journal.write_all(chunk.to_line()?.as_bytes())
}
