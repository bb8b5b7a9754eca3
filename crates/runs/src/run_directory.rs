//! The directory of a run: `config.toml`, `steps.jsonl`, `checkpoint/`, and, once it is finished, `predictions.bin` and `result.json`; where
//! they were asked for, `diagnostics.jsonl` and `tensorboard/`.
//!
//! Files appear whole or not at all: written beside their place, synced, renamed. `steps.jsonl` grows; a checkpoint remembers its length,
//! and a resumed run cuts off what came after.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use thiserror::Error;

use crate::files::{CHECKPOINT, CONFIG, DIAGNOSTICS, PREDICTIONS, RESULT, STEPS};

/// A run's own directory.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    steps: io::BufWriter<File>,
}

/// The directory of a run to go on with, kept from other processes while its checkpoint is read.
#[derive(Debug)]
pub struct HeldDirectory {
    path: PathBuf,
    log: File,
}

impl HeldDirectory {
    /// Goes on where `steps.jsonl` counts up to `steps_length` bytes.
    ///
    /// # Errors
    /// It cannot be written, or lost what the checkpoint counts on.
    pub fn go_on(self, steps_length: u64) -> Result<RunDirectory, DirectoryError> {
        let steps = cut_steps(&self.path, self.log, steps_length)?;
        Ok(RunDirectory { path: self.path, steps })
    }
}

/// What can go wrong with a run's directory.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// It holds another run.
    #[error("{0} already holds a run: choose another `--out`, or continue it with `--resume {0}`")]
    Taken(PathBuf),
    /// It holds no run.
    #[error("{0} holds no run to resume: it has no {CONFIG}")]
    NoRun(PathBuf),
    /// It holds a run that has nothing left to do.
    #[error("the run in {0} is finished")]
    Finished(PathBuf),
    /// Another process has it.
    #[error("another process is writing {0}")]
    Busy(PathBuf),
    /// It lost lines that its checkpoint counts on.
    #[error("{path} has {found} bytes, but the checkpoint was taken at {expected}: it cannot be resumed")]
    Short {
        /// Which file.
        path: PathBuf,
        /// As the checkpoint says.
        expected: u64,
        /// As it is.
        found: u64,
    },
    /// It cannot be written.
    #[error("{path} cannot be written: {error}")]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl RunDirectory {
    /// A directory for a new run.
    ///
    /// # Errors
    /// It holds a run already, or cannot be written.
    pub fn create(path: &Path, config: &str) -> Result<Self, DirectoryError> {
        // A run that was killed before it had settings leaves an empty log: that is no run.
        let taken = || {
            let log = fs::metadata(path.join(STEPS)).is_ok_and(|log| log.len() > 0);
            log || [CONFIG, CHECKPOINT, PREDICTIONS, RESULT].iter().any(|file| path.join(file).exists())
        };
        if taken() {
            return Err(DirectoryError::Taken(path.into()));
        }
        let checkpoints = path.join("checkpoint");
        fs::create_dir_all(&checkpoints).map_err(|error| DirectoryError::Unwritable { path: path.into(), error })?;
        let log = lock_steps(path)?;
        // Another process may have been here between the first look and the lock.
        if taken() {
            return Err(DirectoryError::Taken(path.into()));
        }
        let steps = cut_steps(path, log, 0)?;
        write_whole(&path.join(CONFIG), config.as_bytes())?;
        Ok(Self { path: path.into(), steps })
    }

    /// Whether another process is writing there.
    pub fn is_busy(path: &Path) -> bool {
        path.join(STEPS).exists() && matches!(lock_steps(path), Err(DirectoryError::Busy(_)))
    }

    /// Keeps other processes from a run that is to go on. Its checkpoint is read after this, not before: whoever held it until now may have
    /// written another.
    ///
    /// # Errors
    /// There is no run, another process has it, or it is finished.
    pub fn hold(path: &Path) -> Result<HeldDirectory, DirectoryError> {
        Self::read_config(path)?;
        let log = lock_steps(path)?;
        match Self::read_result(path)? {
            None => Ok(HeldDirectory { path: path.into(), log }),
            Some(_) => Err(DirectoryError::Finished(path.into())),
        }
    }

    /// The text of `config.toml` in a directory.
    ///
    /// # Errors
    /// There is none.
    pub fn read_config(path: &Path) -> Result<String, DirectoryError> {
        let file = path.join(CONFIG);
        fs::read_to_string(&file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DirectoryError::NoRun(path.into()),
            _ => DirectoryError::Unreadable { path: file, error },
        })
    }

    /// The bytes of the last checkpoint in a directory; none before the first.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_checkpoint(path: &Path) -> Result<Option<Vec<u8>>, DirectoryError> {
        let file = path.join(CHECKPOINT);
        match fs::read(&file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DirectoryError::Unreadable { path: file, error }),
        }
    }

    /// The text of `result.json` in a directory; none while the run is not finished.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_result(path: &Path) -> Result<Option<String>, DirectoryError> {
        let file = path.join(RESULT);
        match fs::read_to_string(&file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DirectoryError::Unreadable { path: file, error }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line to `steps.jsonl`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn log(&mut self, line: &impl Serialize) -> Result<(), DirectoryError> {
        let written = serde_json::to_writer(&mut self.steps, line)
            .map_err(io::Error::from)
            .and_then(|()| self.steps.write_all(b"\n"));
        written.map_err(|error| DirectoryError::Unwritable { path: self.path.join(STEPS), error })
    }

    /// Syncs `steps.jsonl` and says how long it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sync_log(&mut self) -> Result<u64, DirectoryError> {
        let mut sync = || {
            self.steps.flush()?;
            self.steps.get_ref().sync_data()?;
            self.steps.stream_position()
        };
        sync().map_err(|error| DirectoryError::Unwritable { path: self.path.join(STEPS), error })
    }

    /// Replaces the checkpoint.
    ///
    /// # Errors
    /// It cannot be written; the last one is still there.
    pub fn write_checkpoint(&self, bytes: &[u8]) -> Result<(), DirectoryError> {
        write_whole(&self.path.join(CHECKPOINT), bytes)
    }

    /// Replaces `diagnostics.jsonl`.
    ///
    /// # Errors
    /// It cannot be written; the last one is still there.
    pub fn write_diagnostics(&self, lines: &str) -> Result<(), DirectoryError> {
        write_whole(&self.path.join(DIAGNOSTICS), lines.as_bytes())
    }

    /// Writes what only a finished run has: first the predictions, then the result.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(&mut self, correct: &[u8], result: &str) -> Result<(), DirectoryError> {
        self.sync_log()?;
        write_whole(&self.path.join(PREDICTIONS), correct)?;
        write_whole(&self.path.join(RESULT), result.as_bytes())
    }
}

/// `steps.jsonl`, locked against other processes.
fn lock_steps(directory: &Path) -> Result<File, DirectoryError> {
    let path = directory.join(STEPS);
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(|error| DirectoryError::Unwritable { path, error })?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(DirectoryError::Busy(directory.into()));
    }
    Ok(file)
}

/// `steps.jsonl` cut to `length` bytes and positioned behind them.
fn cut_steps(directory: &Path, mut file: File, length: u64) -> Result<io::BufWriter<File>, DirectoryError> {
    let path = directory.join(STEPS);
    let unwritable = |error| DirectoryError::Unwritable { path: path.clone(), error };
    let found = file.metadata().map_err(unwritable)?.len();
    if found < length {
        return Err(DirectoryError::Short { path, expected: length, found });
    }
    file.set_len(length).map_err(unwritable)?;
    file.seek(SeekFrom::Start(length)).map_err(unwritable)?;
    Ok(io::BufWriter::new(file))
}

/// Writes a file beside its place, syncs it, and renames it: it is there whole or not at all.
///
/// # Errors
/// It cannot be written; what was there before still is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DirectoryError> {
    let beside = path.with_added_extension("partial");
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| DirectoryError::Unwritable { path: path.into(), error })?;
    if let Some(directory) = path.parent().and_then(|parent| File::open(parent).ok()) {
        // The rename itself lasts only once the directory is synced, which not every platform can.
        let _ = directory.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_holds_one_run() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        RunDirectory::create(&path, "seed = 1\n").unwrap();
        assert_eq!(RunDirectory::read_config(&path).unwrap(), "seed = 1\n");
        assert!(RunDirectory::create(&path, "").unwrap_err().to_string().contains("already holds a run"));
        assert!(RunDirectory::read_config(parent.path()).unwrap_err().to_string().contains("holds no run"));
    }

    #[test]
    fn the_log_is_cut_where_the_checkpoint_was() {
        let path = tempfile::tempdir().unwrap();
        let mut directory = RunDirectory::create(path.path(), "").unwrap();
        directory.log(&1).unwrap();
        let length = directory.sync_log().unwrap();
        directory.log(&2).unwrap();
        drop(directory);
        let mut directory = RunDirectory::hold(path.path()).unwrap().go_on(length).unwrap();
        directory.log(&3).unwrap();
        directory.sync_log().unwrap();
        assert_eq!(fs::read_to_string(path.path().join(STEPS)).unwrap(), "1\n3\n");
    }

    #[test]
    fn what_is_left_of_a_run_and_what_another_process_writes_is_not_touched() {
        let path = tempfile::tempdir().unwrap();
        fs::write(path.path().join(RESULT), "{}").unwrap();
        assert!(RunDirectory::create(path.path(), "").unwrap_err().to_string().contains("already holds a run"));
        fs::remove_file(path.path().join(RESULT)).unwrap();
        let mut first = RunDirectory::create(path.path(), "").unwrap();
        first.log(&1).unwrap();
        let length = first.sync_log().unwrap();
        assert!(RunDirectory::is_busy(path.path()));
        assert!(RunDirectory::hold(path.path()).unwrap_err().to_string().contains("another process is writing"));
        drop(first);
        assert!(!RunDirectory::is_busy(path.path()));
        let go_on = |length| RunDirectory::hold(path.path()).unwrap().go_on(length);
        assert!(go_on(length + 1).unwrap_err().to_string().contains("cannot be resumed"));
        go_on(length).unwrap().finish(&[], "{}").unwrap();
        assert!(RunDirectory::hold(path.path()).unwrap_err().to_string().ends_with("is finished"));
    }

    #[test]
    fn a_run_killed_before_it_had_settings_leaves_no_run() {
        let path = tempfile::tempdir().unwrap();
        fs::write(path.path().join(STEPS), "").unwrap();
        fs::write(path.path().join("config.toml.partial"), "see").unwrap();
        drop(RunDirectory::create(path.path(), "").unwrap());
        assert!(RunDirectory::create(path.path(), "").unwrap_err().to_string().contains("already holds a run"));
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let error = RunDirectory::create(&file.join("run"), "").unwrap_err().to_string();
        assert!(error.contains("file/run cannot be written"), "{error}");
    }
}
