//! Making a pack: in parallel, in order, and so that a killed process loses no more than the few chunks it was at.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    panic::resume_unwind,
    path::Path,
    sync::mpsc::{self, SyncSender},
    thread,
};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::{
    Chunk, Entry, Header, Packing,
    format::{CHUNK, journal},
    writer::{Decoded, QUEUE, Writer, write_line},
};
use crate::{
    DataError, Split, Unit,
    decode::{LARGEST_FILE, decode, fit},
    digest::hexadecimal,
    files::{unreadable, unwritable},
    mapped::Mapped,
    regular::{self, is_irregular},
};

/// Chunks that are decoded together: threads wait for the slowest of them only once for all.
const TOGETHER: usize = 8;

/// Makes the pack at `path`, or goes on with what is there of it.
pub(super) fn make(
    path: &Path,
    entries: &[Entry],
    header: &Header,
    split: Split,
    packing: &Packing,
) -> Result<(), DataError> {
    fs::create_dir_all(packing.directory).map_err(unwritable(packing.directory))?;
    let partial = path.with_extension("pack.partial");
    let lines = path.with_extension("pack.journal");
    let mut images = locked(&partial, packing)?;
    if path.exists() {
        return Ok(()); // another process has made it while we waited for the lock
    }
    let done = counted(&partial, &lines, header);
    let journal = begin(&mut images, &lines, header, &done).map_err(unwritable(&partial))?;
    let what = format!("packing {} {} images", packing.name, split.name());
    let before = header.images_of(done.len()).start;
    packing.progress.begin(&what, Unit::Items, before as u64, Some(entries.len() as u64));
    let writer = Writer { images: &mut images, images_path: &partial, journal, journal_path: &lines };
    decode_and_write(entries, done.len(), writer, packing)?;
    packing.progress.end();
    finish(path, &partial, &lines, &mut images).map_err(unwritable(path))
}

/// Decodes all chunks but the first `done` on all threads, and writes them on another.
fn decode_and_write(entries: &[Entry], done: usize, writer: Writer, packing: &Packing) -> Result<(), DataError> {
    let (sender, receiver) = mpsc::sync_channel(QUEUE);
    thread::scope(|scope| {
        let writing = scope.spawn(move || writer.write_all(&receiver));
        let decoding = decode_all(entries, done, &sender, packing);
        drop(sender);
        writing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        decoding
    })
}

/// Decodes all chunks but the first `done`, in order.
fn decode_all(
    entries: &[Entry],
    done: usize,
    decoded: &SyncSender<Decoded>,
    packing: &Packing,
) -> Result<(), DataError> {
    let left = entries.get(done * CHUNK..).unwrap_or_default();
    for (turn, entries) in left.chunks(TOGETHER * CHUNK).enumerate() {
        for chunk in decode_together(done + turn * TOGETHER, entries, packing)? {
            if decoded.send(chunk).is_err() {
                return Ok(()); // nobody listens: the writer has failed, and says why
            }
        }
    }
    Ok(())
}

/// The file of images, for this process alone.
fn locked(partial: &Path, packing: &Packing) -> Result<File, DataError> {
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(partial);
    let file = file.map_err(unwritable(partial))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            packing.progress.say("another process is packing these images: waiting for it");
        }
        Err(TryLockError::Error(error)) => return Err(unwritable(partial)(error)),
    }
    file.lock().map_err(unwritable(partial))?;
    Ok(file)
}

/// The chunks that an earlier process finished: their lines are whole and their pixels have the CRC that the lines say.
fn counted(partial: &Path, lines: &Path, header: &Header) -> Vec<Chunk> {
    let (Ok(pack), Ok(lines)) = (Mapped::open(partial, u64::MAX), regular::read(lines, u64::MAX)) else {
        return Vec::new();
    };
    if !Header::read(&pack, partial).is_ok_and(|found| found == *header) {
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
    let mut journal = File::create(lines)?;
    for chunk in done {
        write_line(&mut journal, chunk)?;
    }
    Ok(journal)
}

/// Decodes and resizes the files of some chunks, the first of which has that number.
fn decode_together(first: usize, entries: &[Entry], packing: &Packing) -> Result<Vec<Decoded>, DataError> {
    let bytes = 3 * packing.size * packing.size;
    let mut pixels: Vec<Vec<u8>> = entries.chunks(CHUNK).map(|entries| vec![0; entries.len() * bytes]).collect();
    let slots: Vec<_> =
        entries.iter().zip(pixels.iter_mut().flat_map(|pixels| pixels.chunks_exact_mut(bytes))).collect();
    // One image at a time: they differ in size, and a thread that is done early takes the next.
    let read = slots.into_par_iter().with_max_len(1).map(|(entry, slot)| image(entry, slot, packing));
    let read: Vec<Result<Read, DataError>> = read.collect();
    let mut read = read.into_iter();
    let chunks = pixels.into_iter().zip(entries.chunks(CHUNK)).enumerate();
    let decoded = chunks.map(|(index, (pixels, entries))| {
        let chunk = summed_up(first + index, entries, read.by_ref().take(entries.len()), packing)?;
        Ok(Decoded { chunk, pixels })
    });
    decoded.collect()
}

/// What the journal will say of a chunk, but for the checksum of its pixels.
fn summed_up(
    number: usize,
    entries: &[Entry],
    read: impl Iterator<Item = Result<Read, DataError>>,
    packing: &Packing,
) -> Result<Chunk, DataError> {
    let mut digest = Sha256::new();
    let mut bad_files = BTreeMap::new();
    for (index, (read, entry)) in read.zip(entries).enumerate() {
        let Read { digest: file, bad } = read?;
        digest.update(file);
        match bad {
            None => {}
            Some(why) if packing.skip_bad => drop(bad_files.insert(index as u32, why)),
            Some(why) => return Err(DataError::Image { path: entry.path.clone(), why }),
        }
    }
    Ok(Chunk::new(number, hexadecimal(digest), bad_files))
}

/// A file that was read.
struct Read {
    digest: [u8; 32],
    /// Why it is no image, if it is none.
    bad: Option<String>,
}

/// One file to its slot.
fn image(entry: &Entry, slot: &mut [u8], packing: &Packing) -> Result<Read, DataError> {
    let (bytes, bad) = match regular::read(&entry.path, LARGEST_FILE) {
        Ok(bytes) => {
            let bad = decode(&bytes).map(|picture| fit(&picture, packing.size, slot)).err();
            (bytes, bad)
        }
        Err(error) if is_irregular(&error) => (Vec::new(), Some(error.to_string())),
        Err(error) => return Err(unreadable(&entry.path)(error)),
    };
    packing.progress.advance(1);
    Ok(Read { digest: Sha256::digest(&bytes).into(), bad })
}

/// Puts the journal behind the images and the file in its place.
fn finish(path: &Path, partial: &Path, lines: &Path, images: &mut File) -> io::Result<()> {
    images.write_all(&fs::read(lines)?)?;
    images.sync_all()?;
    fs::rename(partial, path)?;
    fs::remove_file(lines)
}
