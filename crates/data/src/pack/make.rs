//! Makes a pack, in parallel and in order; a killed process loses the last few chunks.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    panic::resume_unwind,
    path::Path,
    sync::mpsc::{self, SyncSender},
    thread,
    time::Duration,
};

use rayon::prelude::*;
use rehearsal_files::{
    atomic,
    lock::{LockError, lock},
    regular,
    threads::on_threads,
};
use sha2::{Digest, Sha256};

use super::{
    Chunk, Entry, Header, Packing,
    format::{CHUNK, journal},
    writer::{Batch, Chunks, Read, Writer, write_line},
};
use crate::{
    DataError, Split, Unit,
    decode::{decode, fit},
    files::unwritable,
    mapped::Mapped,
    photos,
    preprocessing::Interpolation,
};

/// The most images that are decoded together.
const BATCH_IMAGES: usize = 4 * CHUNK;

/// The most bytes of pixels that are decoded together, but at least an image for each thread. Three
/// times as many are in memory: a batch is decoded, one waits, one is written.
const BATCH_BYTES: usize = 32 << 20;

/// Batches that may wait for the writer, so that decoding continues.
const WAITING: usize = 1;

/// Makes the pack at `path`, or continues an unfinished one.
pub(super) fn make(
    path: &Path,
    entries: &[Entry],
    header: &Header,
    split: Split,
    packing: &Packing,
) -> Result<(), DataError> {
    let partial = path.with_extension("pack.partial");
    let lines = path.with_extension("pack.journal");
    let mut images = locked(&partial, packing)?;
    if path.exists() {
        // Another process made it while we waited for the lock.
        let _ = fs::remove_file(&partial);
        return Ok(());
    }
    let done = counted(&partial, &lines, header);
    let journal = begin(&mut images, &lines, header, &done).map_err(unwritable(&partial))?;
    let what = format!("packing {} {} images", packing.name, split.name());
    let before = header.images_of(done.len()).start;
    packing.progress.begin(&what, Unit::Items, before as u64, Some(entries.len() as u64));
    let chunks = Chunks::new(header, done.len());
    let writer = Writer { images: &mut images, images_path: &partial, journal, journal_path: &lines, chunks };
    decode_and_write(entries, done.len(), writer, packing)?;
    packing.progress.end();
    finish(path, &partial, &lines, &mut images).map_err(unwritable(path))
}

/// Decodes all chunks but the first `done`, and writes them on another thread.
fn decode_and_write(entries: &[Entry], done: usize, writer: Writer, packing: &Packing) -> Result<(), DataError> {
    let left = entries.get(done * CHUNK..).unwrap_or_default();
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::scope(|scope| {
        let writing = scope.spawn(move || writer.write_all(&receiver));
        let decoding = on_threads(packing.threads, || decode_all(left, &sender, packing));
        drop(sender);
        writing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        decoding?
    })
}

/// Decodes files batch by batch, in order.
fn decode_all(entries: &[Entry], decoded: &SyncSender<Batch>, packing: &Packing) -> Result<(), DataError> {
    for entries in entries.chunks(batch_images(packing.size, rayon::current_num_threads())) {
        if decoded.send(decode_together(entries, packing)?).is_err() {
            return Ok(()); // the writer has failed, and returns the error
        }
    }
    Ok(())
}

/// How many images are decoded together: threads wait for the slowest image once per batch.
fn batch_images(size: usize, threads: usize) -> usize {
    let fit = BATCH_BYTES / image_bytes(size).max(1);
    fit.clamp(1, BATCH_IMAGES).max(threads)
}

fn image_bytes(size: usize) -> usize {
    3 * size * size
}

/// The file of images, locked.
fn locked(partial: &Path, packing: &Packing) -> Result<File, DataError> {
    remove_irregular(partial).map_err(unwritable(partial))?;
    let locked = match lock(partial, Duration::ZERO) {
        Err(LockError::Busy) => {
            packing.progress.say("another process is packing these images: waiting for it");
            lock(partial, Duration::MAX)
        }
        locked => locked,
    };
    locked.map_err(|error| unwritable(partial)(error.into()))
}

/// Removes a link or a FIFO: nothing is written through it.
fn remove_irregular(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(about) if !about.is_file() && !about.is_dir() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// The complete chunks of an earlier process: their pixels have the CRC of their lines.
fn counted(partial: &Path, lines: &Path, header: &Header) -> Vec<Chunk> {
    let (Ok(pack), Ok(lines)) = (Mapped::open(partial, u64::MAX), regular::read(lines, u64::MAX)) else {
        return Vec::new();
    };
    if !Header::read(&pack, partial).is_ok_and(|found| found.is_of(header)) {
        return Vec::new();
    }
    let mut chunks = journal(&lines);
    chunks.truncate(header.chunks());
    let counts = |chunk: &Chunk| {
        let pixels = pack.get(header.place_of(chunk.number));
        pixels.is_some_and(|pixels| crc32fast::hash(pixels) == chunk.crc32)
    };
    let good = chunks.iter().take_while(|chunk| counts(chunk)).count();
    chunks.truncate(good);
    chunks
}

/// Truncates both files to the complete chunks and seeks to their ends.
fn begin(images: &mut File, lines: &Path, header: &Header, done: &[Chunk]) -> io::Result<File> {
    let end = header.place_of(done.len()).start as u64;
    if done.is_empty() {
        images.set_len(0)?;
        images.seek(SeekFrom::Start(0))?;
        images.write_all(&header.bytes())?;
    }
    images.set_len(end)?;
    images.seek(SeekFrom::Start(end))?;
    remove_irregular(lines)?;
    let mut journal = File::create(lines)?;
    for chunk in done {
        write_line(&mut journal, chunk)?;
    }
    Ok(journal)
}

/// Decodes and resizes some files.
fn decode_together(entries: &[Entry], packing: &Packing) -> Result<Batch, DataError> {
    let bytes = image_bytes(packing.size);
    let mut pixels = vec![0; entries.len() * bytes];
    // One image at a time: they differ in size, and a thread that finishes early takes the next.
    let slots = entries.par_iter().zip(pixels.par_chunks_exact_mut(bytes)).with_max_len(1);
    let read: Vec<Result<Read, DataError>> = slots.map(|(entry, slot)| image(entry, slot, packing)).collect();
    let files = read.into_iter().collect::<Result<_, _>>()?;
    Ok(Batch { pixels, files })
}

/// One file to its slot.
fn image(entry: &Entry, slot: &mut [u8], packing: &Packing) -> Result<Read, DataError> {
    let Packing { size, skip_bad, progress, .. } = *packing;
    let (digest, bad) = match photos::bytes(&entry.path)? {
        Ok(bytes) => (
            Sha256::digest(&bytes).into(),
            decode(&bytes)
                .map(|picture| fit((&picture).into(), (size, size), 1.0, Interpolation::Bilinear, slot))
                .err(),
        ),
        Err(why) => (Sha256::digest([]).into(), Some(why)),
    };
    progress.advance(1);
    match bad {
        Some(why) if !skip_bad => Err(DataError::Image { path: entry.path.clone(), why }),
        bad => Ok(Read { digest, bad }),
    }
}

/// Appends the journal to the images and renames the file.
fn finish(path: &Path, partial: &Path, lines: &Path, images: &mut File) -> io::Result<()> {
    images.write_all(&regular::read(lines, u64::MAX)?)?;
    images.sync_all()?;
    atomic::rename(partial, path)?;
    fs::remove_file(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_bounded_by_bytes() {
        assert_eq!(batch_images(32, 2), 512);
        assert_eq!(batch_images(84, 2), 512);
        assert!(batch_images(1024, 2) * image_bytes(1024) <= BATCH_BYTES);
        assert_eq!(batch_images(1024, 64), 64, "work for every thread");
    }
}
