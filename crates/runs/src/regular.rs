//! Regular files only: a FIFO in a run's directory would wait for a writer for ever, a device or a
//! file of holes may have more bytes than memory.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

/// How long a pipe may take to its end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Opens a regular file of at most `limit` bytes for reading.
///
/// # Errors
/// It cannot be opened, is something else, or is larger.
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    // Before it is opened: to open a FIFO is to wait.
    check(&fs::metadata(path)?, limit)?;
    let file = File::open(path)?;
    check(&file.metadata()?, limit)?;
    Ok(file)
}

/// The bytes of a regular file of at most `limit` bytes, also if it grows while it is read.
///
/// # Errors
/// As [`open`]; or it cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_limited(open(path, limit)?, limit)
}

/// The same as text.
///
/// # Errors
/// As [`read`]; or it is no text.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    text(read(path, limit)?)
}

/// The text of whatever a user names, of at most `limit` bytes: a pipe, too, but nothing without an
/// end, and none into which nobody writes.
///
/// # Errors
/// It cannot be read, is larger, is no text, or is a pipe that does not end within a minute.
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

fn read_limited(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn check(about: &Metadata, limit: u64) -> io::Result<()> {
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no regular file"));
    }
    if about.len() > limit { Err(too_large(limit)) } else { Ok(()) }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it has more than {limit} bytes, the most that is read"))
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
        assert!(read(&path, 3).unwrap_err().to_string().contains("more than 3 bytes"));
        assert!(read(place.path(), 3).unwrap_err().to_string().contains("no regular file"));
        assert_eq!(read(&place.path().join("none"), 3).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(&path, [0xff]).unwrap();
        assert!(read_to_string(&path, 4).unwrap_err().to_string().contains("not UTF-8"));
        #[cfg(unix)]
        {
            let zeros = Path::new("/dev/zero");
            assert!(read(zeros, 3).unwrap_err().to_string().contains("no regular file"));
            assert!(read_named(zeros, 3).unwrap_err().to_string().contains("more than 3 bytes"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_unless_nobody_writes_into_it() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let late = read_within(&pipe, 9, Duration::from_millis(20)).unwrap_err();
        assert_eq!((late.kind(), late.to_string()), (io::ErrorKind::TimedOut, "it has no end after 20ms".into()));
        let other = place.path().join("other");
        assert!(std::process::Command::new("mkfifo").arg(&other).status().unwrap().success());
        let to = other.clone();
        let writer = thread::spawn(move || fs::write(to, "four"));
        assert_eq!(read_within(&other, 9, PATIENCE).unwrap(), "four");
        writer.join().unwrap().unwrap();
    }
}
