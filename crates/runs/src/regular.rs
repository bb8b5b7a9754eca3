//! Regular files only: a FIFO in a run's directory would wait for a writer for ever, a device or a
//! file of holes may have more bytes than memory.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
};

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
/// end.
///
/// # Errors
/// It cannot be read, is larger, or is no text.
pub fn read_named(path: &Path, limit: u64) -> io::Result<String> {
    text(read_limited(File::open(path)?, limit)?)
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
}
