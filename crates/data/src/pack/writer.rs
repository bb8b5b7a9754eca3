//! Writing a pack behind the decoders: one thread takes decoded chunks from a short queue, so that checksums, writing and waiting for the
//! disk stop nobody from decoding.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::mpsc::Receiver,
};

use super::Chunk;
use crate::{DataError, files::unwritable};

/// Decoded chunks that may wait: all that are decoded together, so that those who decode go on at once.
pub(super) const QUEUE: usize = 8;

/// Chunks between two syncs. Spread out, they pass while others decode, and the last one has little left to do.
const SYNC_EVERY: usize = 8;

/// A chunk and its pixels; the checksum of the pixels is still missing.
pub(super) struct Decoded {
    pub chunk: Chunk,
    pub pixels: Vec<u8>,
}

/// The two files of a pack that is being made, both positioned behind what counts.
pub(super) struct Writer<'a> {
    pub images: &'a mut File,
    pub images_path: &'a Path,
    pub journal: File,
    pub journal_path: &'a Path,
}

impl Writer<'_> {
    /// Writes what comes until nothing comes any more.
    pub(super) fn write_all(mut self, chunks: &Receiver<Decoded>) -> Result<(), DataError> {
        for (count, decoded) in chunks.iter().enumerate() {
            self.write(decoded)?;
            if (count + 1) % SYNC_EVERY == 0 {
                self.images.sync_data().map_err(unwritable(self.images_path))?;
            }
        }
        Ok(())
    }

    /// The pixels first: a chunk counts when its line is in the journal.
    fn write(&mut self, Decoded { mut chunk, pixels }: Decoded) -> Result<(), DataError> {
        chunk.crc32 = crc32fast::hash(&pixels);
        self.images.write_all(&pixels).map_err(unwritable(self.images_path))?;
        write_line(&mut self.journal, &chunk).map_err(unwritable(self.journal_path))
    }
}

/// One line of the journal.
pub(super) fn write_line(journal: &mut File, chunk: &Chunk) -> io::Result<()> {
    journal.write_all(chunk.to_line()?.as_bytes())
}
