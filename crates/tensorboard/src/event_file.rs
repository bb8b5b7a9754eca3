//! An event file that is being written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use crate::{event::Event, name::Name};

/// An event file that is being written. Values reach the file on [`flush`](Self::flush) or drop.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl EventFile {
    /// Starts a file in a directory, which is created if it is missing. Times are seconds since 1970.
    ///
    /// # Errors
    /// The directory cannot be created or read, or the file cannot be written.
    pub fn create(directory: &Path, seconds: f64) -> io::Result<Self> {
        let (path, file) = new_file(directory, seconds)?;
        let mut events = Self { path, file: BufWriter::new(file) };
        events.write(&Event::version(seconds))?;
        // A reader that opens the file now finds one of the right kind.
        events.flush()?;
        Ok(events)
    }

    /// Starts the next file of a run that is resumed: values of `step` and later steps in earlier
    /// files are void. `step` is the first step that will be written.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn resume(directory: &Path, seconds: f64, step: u64) -> io::Result<Self> {
        let mut events = Self::create(directory, seconds)?;
        events.write(&Event::start(seconds, step))?;
        events.flush()?;
        Ok(events)
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the value of a tag at a step. The steps of a tag must increase: TensorBoard takes a
    /// smaller step for a resumed run.
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
        self.write(&Event::scalars(seconds, step, values))
    }

    /// Hands all values to the system: readers see them, and they survive the end of the program.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Writes all values to the disk: they survive a crash of the machine.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.get_ref().sync_data()
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.file.write_all(&event.record())
    }
}

/// A new file with a name after all others.
fn new_file(directory: &Path, seconds: f64) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(directory)?;
    let mut name = Name::after_all(directory, seconds as u64)?;
    loop {
        let path = directory.join(name.to_string());
        match File::create_new(&path) {
            // Another process created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => name = name.next(),
            file => return Ok((path, file?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    /// The events of a file, whose frames must be right.
    fn events(path: &Path) -> Vec<Event> {
        let bytes = fs::read(path).unwrap();
        let (mut rest, mut events) = (&bytes[..], Vec::new());
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let event = Event::decode(&rest[12..12 + length]).unwrap();
            assert_eq!(&rest[..length + 16], event.record());
            events.push(event);
            rest = &rest[length + 16..];
        }
        events
    }

    #[test]
    fn a_file_begins_with_its_version_and_holds_what_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = EventFile::create(&directory.path().join("new"), 10.5).unwrap();
        assert_eq!(events(file.path()), [Event::version(10.5)]);
        file.scalar("loss", 3, 0.5, 11.0).unwrap();
        file.scalars(4, &[("loss", 0.25), ("rate", 0.0)], 12.0).unwrap();
        file.sync().unwrap();
        let written = [
            Event::version(10.5),
            Event::scalars(11.0, 3, &[("loss", 0.5)]),
            Event::scalars(12.0, 4, &[("loss", 0.25), ("rate", 0.0)]),
        ];
        assert_eq!(events(file.path()), written);
    }

    #[test]
    fn a_resumed_run_gets_its_own_file_that_notes_the_first_step() {
        let directory = tempfile::tempdir().unwrap();
        let first = EventFile::create(directory.path(), 10.0).unwrap();
        let second = EventFile::resume(directory.path(), 10.0, 20).unwrap();
        assert!(first.path() < second.path());
        assert_eq!(events(first.path()), [Event::version(10.0)]);
        assert_eq!(events(second.path()), [Event::version(10.0), Event::start(10.0, 20)]);
    }

    #[test]
    fn a_file_in_place_of_the_directory_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(EventFile::create(&file, 10.0).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
