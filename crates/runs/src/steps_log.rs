//! `steps.jsonl` while it grows. A checkpoint stores its length and checksum. A resumed run cuts off
//! later lines, and refuses a log whose lines before the checkpoint have changed.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use rehearsal_files::sha256::{finish, of_reader};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::DirectoryError;

/// So old may lines be before those who watch the run can read them.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// The length and the checksum of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// In bytes.
    pub length: u64,
    /// SHA-256 of these bytes, in hexadecimal.
    pub sha256: String,
}

impl Default for LogPosition {
    /// The position in a log without lines.
    fn default() -> Self {
        Self { length: 0, sha256: finish(Sha256::new()) }
    }
}

/// A log that lines are added to.
#[derive(Debug)]
pub(crate) struct StepsLog {
    path: PathBuf,
    to: BufWriter<File>,
    length: u64,
    digest: Sha256,
    /// When its lines were last visible to other processes.
    flushed: Instant,
}

impl StepsLog {
    /// Continues the log in `file` from a position; later lines are cut off.
    ///
    /// # Errors
    /// The log is shorter or has another content, or cannot be written.
    pub(crate) fn go_on(path: PathBuf, mut file: File, from: &LogPosition) -> Result<Self, DirectoryError> {
        let found = file.metadata().map_err(unwritable(&path))?.len();
        if found < from.length {
            return Err(DirectoryError::Short { path, expected: from.length, found });
        }
        file.seek(SeekFrom::Start(0)).map_err(unwritable(&path))?;
        let digest = of_reader((&mut file).take(from.length)).map_err(unwritable(&path))?;
        if finish(digest.clone()) != from.sha256 {
            return Err(DirectoryError::Edited(path));
        }
        file.set_len(from.length).map_err(unwritable(&path))?;
        file.seek(SeekFrom::Start(from.length)).map_err(unwritable(&path))?;
        Ok(Self { path, to: BufWriter::new(file), length: from.length, digest, flushed: Instant::now() })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, line: &impl Serialize) -> Result<(), DirectoryError> {
        let bytes = serde_json::to_vec(line).map(|mut bytes| {
            bytes.push(b'\n');
            bytes
        });
        let bytes = bytes.map_err(|error| unwritable(&self.path)(error.into()))?;
        self.to.write_all(&bytes).map_err(unwritable(&self.path))?;
        self.length += bytes.len() as u64;
        self.digest.update(&bytes);
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.to.flush().map_err(unwritable(&self.path))?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    /// Syncs the log and returns its position.
    pub(crate) fn sync(&mut self) -> Result<LogPosition, DirectoryError> {
        let synced = self.to.flush().and_then(|()| self.to.get_ref().sync_data());
        synced.map_err(unwritable(&self.path))?;
        Ok(LogPosition { length: self.length, sha256: finish(self.digest.clone()) })
    }
}

fn unwritable(path: &std::path::Path) -> impl Fn(io::Error) -> DirectoryError {
    move |error| DirectoryError::Unwritable { path: path.into(), error }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn open(path: &Path, from: &LogPosition) -> Result<StepsLog, DirectoryError> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        StepsLog::go_on(path.into(), file, from)
    }

    #[test]
    fn lines_are_visible_after_a_second() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log");
        let mut log = open(&path, &LogPosition::default()).unwrap();
        log.add(&1).unwrap();
        log.flushed = Instant::now().checked_sub(FLUSH_EVERY).unwrap();
        log.add(&2).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
    }

    #[test]
    fn only_the_log_that_was_written_is_continued() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log");
        let mut log = open(&path, &LogPosition::default()).unwrap();
        log.add(&1).unwrap();
        let first = log.sync().unwrap();
        log.add(&2).unwrap();
        let second = log.sync().unwrap();
        assert_eq!((first.length, second.length), (2, 4));
        drop(log);
        let mut log = open(&path, &first).unwrap();
        log.add(&3).unwrap();
        let third = log.sync().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n3\n");
        assert!(matches!(open(&path, &second), Err(DirectoryError::Edited(_))), "2 was never replaced by 3");
        assert!(open(&path, &third).is_ok());
        fs::write(&path, "1\n").unwrap();
        assert!(matches!(open(&path, &third), Err(DirectoryError::Short { found: 2, .. })));
        let endless = LogPosition { length: u64::MAX, ..third };
        assert!(matches!(open(&path, &endless), Err(DirectoryError::Short { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n", "a refused log is not changed");
    }
}
