//! Making a pack: in parallel, in order, and so that a killed process loses no more than the few
//! chunks it was at.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    panic::resume_unwind,
    path::Path,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, SyncSender},
    },
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
    older::Older,
    writer::{Batch, Chunks, Read, Writer, write_line},
};
use crate::{
    DataError, Split, Unit,
    decode::{decode, fit},
    files::unwritable,
    mapped::Mapped,
    photos,
};

/// The most images that are decoded together.
const BATCH_IMAGES: usize = 4 * CHUNK;

/// The most bytes of pixels that are decoded together, unless that would be less than an image for
/// each thread. Three times as many are in memory: a batch is decoded, one waits, one is written.
const BATCH_BYTES: usize = 32 << 20;

/// Batches that may wait, so that those who decode go on at once.
const WAITING: usize = 1;

/// Makes the pack at `path`, or goes on with what is there of it. Images that older packs have are
/// copied; gives how many.
pub(super) fn make(
    path: &Path,
    entries: &[Entry],
    header: &Header,
    split: Split,
    packing: &Packing,
    older: &Older,
) -> Result<usize, DataError> {
    let partial = path.with_extension("pack.partial");
    let lines = path.with_extension("pack.journal");
    let mut images = locked(&partial, packing)?;
    if path.exists() {
        // Another process has made it while we waited for the lock: what we opened is of no use.
        let _ = fs::remove_file(&partial);
        return Ok(0);
    }
    let done = counted(&partial, &lines, header);
    let journal = begin(&mut images, &lines, header, &done).map_err(unwritable(&partial))?;
    let what = format!("packing {} {} images", packing.name, split.name());
    let before = header.images_of(done.len()).start;
    packing.progress.begin(&what, Unit::Items, before as u64, Some(entries.len() as u64));
    let chunks = Chunks::new(header, done.len());
    let writer = Writer { images: &mut images, images_path: &partial, journal, journal_path: &lines, chunks };
    let work = Work { packing, older, copied: 0.into() };
    decode_and_write(entries, done.len(), writer, &work)?;
    packing.progress.end();
    finish(path, &partial, &lines, &mut images).map_err(unwritable(path))?;
    Ok(work.copied.into_inner())
}

/// What those who decode need.
struct Work<'a> {
    packing: &'a Packing<'a>,
    older: &'a Older,
    /// Images that older packs had.
    copied: AtomicUsize,
}

/// Decodes all chunks but the first `done` on as many threads as are wanted, and writes them on
/// another.
fn decode_and_write(entries: &[Entry], done: usize, writer: Writer, work: &Work) -> Result<(), DataError> {
    let left = entries.get(done * CHUNK..).unwrap_or_default();
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::scope(|scope| {
        let writing = scope.spawn(move || writer.write_all(&receiver));
        let decoding = on_threads(work.packing.threads, || decode_all(left, &sender, work));
        drop(sender);
        writing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        decoding?
    })
}

/// Decodes files batch by batch, in order.
fn decode_all(entries: &[Entry], decoded: &SyncSender<Batch>, work: &Work) -> Result<(), DataError> {
    for entries in entries.chunks(batch_images(work.packing.size, rayon::current_num_threads())) {
        if decoded.send(decode_together(entries, work)?).is_err() {
            return Ok(()); // nobody listens: the writer has failed, and says why
        }
    }
    Ok(())
}

/// How many images are decoded together: threads wait for the slowest of them only once for all.
fn batch_images(size: usize, threads: usize) -> usize {
    let fit = BATCH_BYTES / image_bytes(size).max(1);
    fit.clamp(1, BATCH_IMAGES).max(threads)
}

fn image_bytes(size: usize) -> usize {
    3 * size * size
}

/// The file of images, for this process alone.
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

/// Removes a link or a FIFO: nothing is written through what somebody else put there.
fn remove_irregular(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(about) if !about.is_file() && !about.is_dir() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// The chunks that an earlier process finished: their lines are whole and their pixels have the CRC
/// that the lines say.
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

/// Cuts both files to what counts and positions them behind it.
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
fn decode_together(entries: &[Entry], work: &Work) -> Result<Batch, DataError> {
    let bytes = image_bytes(work.packing.size);
    let mut pixels = vec![0; entries.len() * bytes];
    // One image at a time: they differ in size, and a thread that is done early takes the next.
    let slots = entries.par_iter().zip(pixels.par_chunks_exact_mut(bytes)).with_max_len(1);
    let read: Vec<Result<Read, DataError>> = slots.map(|(entry, slot)| image(entry, slot, work)).collect();
    let files = read.into_iter().collect::<Result<_, _>>()?;
    Ok(Batch { pixels, files })
}

/// One file to its slot.
fn image(entry: &Entry, slot: &mut [u8], work: &Work) -> Result<Read, DataError> {
    let Packing { size, skip_bad, progress, .. } = *work.packing;
    let (digest, bad) = match photos::bytes(&entry.path)? {
        Ok(bytes) => {
            let digest = Sha256::digest(&bytes).into();
            if work.older.copy(&digest, slot) {
                work.copied.fetch_add(1, Ordering::Relaxed);
                (digest, None)
            } else {
                (digest, decode(&bytes).map(|picture| fit(&picture, (size, size), slot)).err())
            }
        }
        Err(why) => (Sha256::digest([]).into(), Some(why)),
    };
    progress.advance(1);
    match bad {
        Some(why) if !skip_bad => Err(DataError::Image { path: entry.path.clone(), why }),
        bad => Ok(Read { digest, bad }),
    }
}

/// Puts the journal behind the images and the file in its place.
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
    fn what_is_decoded_together_is_bounded_by_bytes() {
        assert_eq!(batch_images(32, 2), 512);
        assert_eq!(batch_images(84, 2), 512);
        assert!(batch_images(1024, 2) * image_bytes(1024) <= BATCH_BYTES);
        assert_eq!(batch_images(1024, 64), 64, "work for every thread");
    }
}
