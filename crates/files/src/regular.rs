//! Regular files only: opening a FIFO waits for a writer for ever, and a device or a file of holes may have more bytes
//! than memory.

use std::{
    error::Error as StdError,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use thiserror::Error;

/// How long a pipe may take to its end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Why something that can be opened is not read.
#[derive(Debug, Error, PartialEq, Eq)]
enum Irregular {
    /// A directory, FIFO, socket or device.
    #[error("it is not a regular file")]
    Kind,
    /// A file that is larger than any of its kind.
    #[error("it has more than {limit} bytes, the most that is read")]
    Large { limit: u64 },
}

impl From<Irregular> for io::Error {
    fn from(irregular: Irregular) -> Self {
        Self::new(io::ErrorKind::InvalidData, irregular)
    }
}

/// Whether a file was refused because it is not regular or too large, rather than because it could not be read.
pub fn is_irregular(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn StdError + Send + Sync>::is::<Irregular>)
}

/// Whether a file cannot be written because of where it is, rather than because of what happened on the way, such as a
/// full disk. The system never says `Other`: this program does, of what is not a regular file.
pub fn is_wrong_place(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, NotFound, Other, PermissionDenied, ReadOnlyFilesystem,
    };
    let kinds = [AlreadyExists, IsADirectory, NotADirectory, NotFound, Other, PermissionDenied, ReadOnlyFilesystem];
    kinds.contains(&error.kind()) || is_irregular(error)
}

/// Opens a regular file of at most `limit` bytes for reading.
///
/// # Errors
/// It cannot be opened, is something else, or is larger.
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path, limit)
}

/// Opens a regular file of any size for reading and writing; it is made if it is missing.
///
/// # Errors
/// It cannot be opened or made, or is something else.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().create(true).truncate(false).read(true).write(true), path, u64::MAX)
}

/// Opens without waiting, then asks the descriptor what it is: what another process puts at the path in between does
/// not matter.
fn open_with(options: &mut OpenOptions, path: &Path, limit: u64) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Irregular::Kind.into());
    }
    if about.len() > limit { Err(Irregular::Large { limit }.into()) } else { Ok(file) }
}

/// The bytes of a regular file of at most `limit` bytes, also if it grows while it is read.
///
/// # Errors
/// As [`open`]; or it cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path, limit)?;
    let length = file.metadata()?.len();
    read_into(Vec::with_capacity(usize::try_from(length).unwrap_or(0)), file, limit)
}

/// The same as text.
///
/// # Errors
/// As [`read`]; or it is not UTF-8.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    text(read(path, limit)?)
}

/// All bytes of a reader, of which there may be `limit` at most.
///
/// # Errors
/// It has more, or cannot be read.
pub fn read_limited(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), from, limit)
}

/// The text of a file that a user names, of at most `limit` bytes: also of a pipe, if it ends within a minute.
///
/// # Errors
/// It cannot be read, is larger, is not UTF-8, or is a pipe that does not end.
pub fn read_named(path: &Path, limit: u64) -> io::Result<String> {
    read_within(path, limit, PATIENCE)
}

fn read_within(path: &Path, limit: u64, patience: Duration) -> io::Result<String> {
    if fs::metadata(path)?.is_file() {
        return read_to_string(path, limit);
    }
    let (sender, receiver) = mpsc::channel();
    let from = path.to_owned();
    // Opening alone may wait for ever: this thread is left to it.
    thread::spawn(move || drop(sender.send(File::open(from).and_then(|file| read_limited(file, limit)))));
    let waited = receiver.recv_timeout(patience);
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, format!("it has no end after {patience:?}"));
    text(waited.map_err(late)??)
}

fn read_into(mut bytes: Vec<u8>, from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Irregular::Large { limit }.into()) } else { Ok(bytes) }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_to_string(&path, 4).unwrap(), "four");
        let large = read(&path, 3).unwrap_err();
        assert!(is_irregular(&large) && large.to_string().contains("more than 3 bytes"), "{large}");
        assert!(is_irregular(&read_limited(&b"four"[..], 3).unwrap_err()));
        let none = read(&place.path().join("none"), 3).unwrap_err();
        assert!(none.kind() == io::ErrorKind::NotFound && !is_irregular(&none));
        fs::write(&path, [0xff]).unwrap();
        assert!(read_to_string(&path, 4).unwrap_err().to_string().contains("not UTF-8"));
        #[cfg(unix)]
        {
            let zeros = Path::new("/dev/zero");
            assert!(is_irregular(&read(place.path(), 3).unwrap_err()), "a directory");
            assert!(is_irregular(&read(zeros, 3).unwrap_err()), "a device");
            assert!(is_irregular(&open(Path::new("/dev/null"), 3).unwrap_err()), "a device without bytes");
            assert!(is_irregular(&open_to_write(Path::new("/dev/null")).unwrap_err()), "a device that can be written");
            assert!(read_named(zeros, 3).unwrap_err().to_string().contains("more than 3 bytes"));
        }
    }

    #[cfg(unix)]
    fn make_fifo(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_unless_nobody_writes_into_it() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        make_fifo(&pipe);
        let late = read_within(&pipe, 9, Duration::from_millis(20)).unwrap_err();
        assert_eq!((late.kind(), late.to_string()), (io::ErrorKind::TimedOut, "it has no end after 20ms".into()));
        let other = place.path().join("other");
        make_fifo(&other);
        let to = other.clone();
        let writer = thread::spawn(move || fs::write(to, "four"));
        assert_eq!(read_within(&other, 9, PATIENCE).unwrap(), "four");
        writer.join().unwrap().unwrap();
    }

    /// A FIFO and a file take turns at one path while it is opened. Asking what stands there before opening it opens the
    /// FIFO after a tenth of a second on average, and waits for ever.
    #[cfg(unix)]
    #[test]
    fn a_fifo_that_takes_a_files_place_is_not_waited_for() {
        use std::{
            sync::{
                Arc,
                atomic::{AtomicBool, Ordering::Relaxed},
            },
            time::Instant,
        };
        let place = tempfile::tempdir().unwrap();
        let [path, fifo, file, next] = ["path", "fifo", "file", "next"].map(|name| place.path().join(name));
        make_fifo(&fifo);
        fs::write(&file, "four").unwrap();
        fs::hard_link(&file, &path).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let swapping = thread::spawn({
            let (path, is_over) = (path.clone(), Arc::clone(&is_over));
            move || {
                for kind in [fifo, file].iter().cycle().take_while(|_| !is_over.load(Relaxed)) {
                    fs::hard_link(kind, &next).and_then(|()| fs::rename(&next, &path)).unwrap();
                }
            }
        });
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let (mut files, mut fifos, begun) = (0, 0, Instant::now());
            while begun.elapsed() < Duration::from_secs(1) || files == 0 || fifos == 0 {
                match open(&path, 4) {
                    Ok(_) => files += 1,
                    Err(error) if is_irregular(&error) => fifos += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            sender.send(()).unwrap();
        });
        let opened = receiver.recv_timeout(Duration::from_mins(1));
        is_over.store(true, Relaxed);
        swapping.join().unwrap();
        assert_eq!(opened, Ok(()), "opening waited");
    }
}
