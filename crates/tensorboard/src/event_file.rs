//! An event file being written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use crate::{message, name::Name, record::record};

/// An event file being written. What was written is in the file after [`flush`](Self::flush), or
/// when this is dropped.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl EventFile {
    /// Begins a file in a directory, which is made if it is missing. Times here are seconds since
    /// 1970.
    ///
    /// # Errors
    /// The directory cannot be made or read, or the file cannot be written.
    pub fn create(directory: &Path, seconds: f64) -> io::Result<Self> {
        let (path, file) = new_file(directory, seconds)?;
        let mut events = Self { path, file: BufWriter::new(file) };
        events.write(&message::version(seconds))?;
        // A reader that comes now finds a file of the right kind.
        events.flush()?;
        Ok(events)
    }

    /// Begins a file behind those of a run that goes on: values of `step` and later ones in earlier
    /// files are void. So `step` is the first that will be written (again).
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn resume(directory: &Path, seconds: f64, step: u64) -> io::Result<Self> {
        let mut events = Self::create(directory, seconds)?;
        events.write(&message::start(seconds, step))?;
        events.flush()?;
        Ok(events)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the value of a tag at a step. Steps of a tag must increase: TensorBoard takes a step
    /// back for a run that was resumed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn scalar(&mut self, tag: &str, step: u64, value: f32, seconds: f64) -> io::Result<()> {
        self.scalars(step, &[(tag, value)], seconds)
    }

    /// Writes the values of several tags at a step.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f32)], seconds: f64) -> io::Result<()> {
        self.write(&message::scalars(seconds, step, values))
    }

    /// Hands all that was written to the system, so that readers see it, and it stays if the
    /// program ends.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Has all that was written on the disk, so that it stays if the machine stops.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.get_ref().sync_data()
    }

    fn write(&mut self, message: &[u8]) -> io::Result<()> {
        self.file.write_all(&record(message))
    }
}

/// A file that was not there before, with a name behind all others.
fn new_file(directory: &Path, seconds: f64) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(directory)?;
    let mut name = Name::behind_all(directory, seconds as u64)?;
    loop {
        let path = directory.join(name.to_string());
        match File::create_new(&path) {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => name = name.next(),
            file => return Ok((path, file?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of a file, with their frames checked.
    fn messages(path: &Path) -> Vec<Vec<u8>> {
        let bytes = fs::read(path).unwrap();
        let (mut rest, mut messages) = (&bytes[..], Vec::new());
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let message = rest[12..12 + length].to_vec();
            assert_eq!(&rest[..length + 16], record(&message));
            messages.push(message);
            rest = &rest[length + 16..];
        }
        messages
    }

    #[test]
    fn a_file_begins_with_its_version_and_holds_what_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut events = EventFile::create(&directory.path().join("new"), 10.5).unwrap();
        assert_eq!(messages(events.path()), [message::version(10.5)]);
        events.scalar("loss", 3, 0.5, 11.0).unwrap();
        events.scalars(4, &[("loss", 0.25), ("rate", 0.1)], 12.0).unwrap();
        events.sync().unwrap();
        let written = [
            message::version(10.5),
            message::scalars(11.0, 3, &[("loss", 0.5)]),
            message::scalars(12.0, 4, &[("loss", 0.25), ("rate", 0.1)]),
        ];
        assert_eq!(messages(events.path()), written);
    }

    #[test]
    fn a_resumed_run_gets_a_file_of_its_own_that_says_where_it_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let first = EventFile::create(directory.path(), 10.0).unwrap();
        let second = EventFile::resume(directory.path(), 10.0, 20).unwrap();
        assert!(first.path() < second.path());
        assert_eq!(messages(first.path()), [message::version(10.0)]);
        assert_eq!(messages(second.path()), [message::version(10.0), message::start(10.0, 20)]);
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(EventFile::create(&file, 10.0).is_err());
    }
}
