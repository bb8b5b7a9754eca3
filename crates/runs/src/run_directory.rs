//! The directory of a run: `config.toml`, `steps.jsonl`, `checkpoint/`, and, once it is finished,
//! `predictions.bin` and `result.json`; if requested, `predictions-recalibrated.bin`,
//! `diagnostics.jsonl` and `tensorboard/`.
//!
//! Files are complete or absent: they are written under another name, synced, and renamed.
//! `steps.jsonl` grows; a checkpoint stores its length, and a resumed run cuts off later lines.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rehearsal_files::{atomic, regular, sha256::sha256};
use serde::Serialize;

use crate::{
    claim::Claim,
    error::DirectoryError,
    files::{CHECKPOINT, CONFIG, DIAGNOSTICS, PREDICTIONS, RECALIBRATED_PREDICTIONS, RESULT, STEPS},
    holder::Holder,
    lock::{self, Lock, Means, lock},
    record::{Record, RecordError},
    seal,
    settings::Settings,
    steps_log::{LogPosition, StepsLog},
};

/// The limits for files of settings and results, in bytes: they name thousands of classes at most.
const LARGEST_CONFIG: u64 = 16 << 20;
const LARGEST_RESULT: u64 = 256 << 20;

/// Keys in `config.toml` that are not settings.
const VERSION: &str = "version";
const DATA_SHA256: &str = "data-sha256";
const INCOMPLETE_DATA: &str = "incomplete-data";

/// The directory of a run that this process writes.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    steps: StepsLog,
    /// The checksums of the files that a result is sealed with.
    fingerprints: BTreeMap<&'static str, String>,
    /// Dropped last, after the log is closed.
    _claim: Option<Claim>,
}

/// The directory of a run to resume, kept from other processes while its checkpoint is read.
#[derive(Debug)]
pub struct HeldDirectory {
    path: PathBuf,
    lock: Lock,
}

impl HeldDirectory {
    /// Continues the run from a position in `steps.jsonl`.
    ///
    /// # Errors
    /// The log cannot be written, or is not the one that the checkpoint needs.
    pub fn go_on(self, steps: &LogPosition) -> Result<RunDirectory, DirectoryError> {
        let Lock { file, claim } = self.lock;
        let steps = StepsLog::go_on(self.path.join(STEPS), file, steps)?;
        Ok(RunDirectory { path: self.path, steps, fingerprints: BTreeMap::new(), _claim: claim })
    }
}

impl RunDirectory {
    /// A directory for a new run.
    ///
    /// # Errors
    /// It already holds a run, another process writes it, or it cannot be written or locked.
    pub fn create(path: &Path, config: &str) -> Result<Self, DirectoryError> {
        Self::create_with(path, config, &Means::real())
    }

    fn create_with(path: &Path, config: &str, means: &Means) -> Result<Self, DirectoryError> {
        // A run that was killed before it had settings leaves an empty log, which does not count.
        let taken = || {
            let log = fs::metadata(path.join(STEPS)).is_ok_and(|log| log.len() > 0);
            log || [CONFIG, CHECKPOINT, PREDICTIONS, RESULT].iter().any(|file| path.join(file).exists())
        };
        if taken() {
            return Err(DirectoryError::Taken(path.into()));
        }
        let checkpoints = path.join("checkpoint");
        fs::create_dir_all(&checkpoints).map_err(unwritable(path))?;
        let Lock { file, claim } = lock(path, STEPS, means)?;
        // Another process may have been here between the first look and the lock.
        if taken() {
            return Err(DirectoryError::Taken(path.into()));
        }
        let steps = StepsLog::go_on(path.join(STEPS), file, &LogPosition::default())?;
        write(&path.join(CONFIG), config.as_bytes())?;
        Ok(Self { path: path.into(), steps, fingerprints: BTreeMap::new(), _claim: claim })
    }

    /// Whether another process is known to be writing there.
    pub fn is_busy(path: &Path) -> bool {
        Self::is_busy_with(path, &Means::real())
    }

    /// The same, with a function that says whether a Slurm job is running; `None` if that is unknown.
    pub fn is_busy_as_told(path: &Path, knows: &dyn Fn(&str) -> Option<bool>) -> bool {
        Self::is_busy_with(path, &Means { knows, ..Means::real() })
    }

    fn is_busy_with(path: &Path, means: &Means) -> bool {
        path.join(STEPS).exists() && lock::is_busy(path, STEPS, means)
    }

    /// The process that holds it. This is known only in Slurm jobs and on file systems without locks. It may have been
    /// killed since.
    pub fn holder(path: &Path) -> Option<Holder> {
        Claim::holder(path)
    }

    /// Keeps other processes from a run that is to be resumed. Read its checkpoint after this: the last holder may have
    /// written a newer one.
    ///
    /// # Errors
    /// There is no run, another process holds it, it is finished, or it cannot be locked.
    pub fn hold(path: &Path) -> Result<HeldDirectory, DirectoryError> {
        Self::hold_with(path, &Means::real())
    }

    fn hold_with(path: &Path, means: &Means) -> Result<HeldDirectory, DirectoryError> {
        Self::read_config(path)?;
        let lock = lock(path, STEPS, means)?;
        match Self::read_result(path)? {
            None => Ok(HeldDirectory { path: path.into(), lock }),
            Some(_) => Err(DirectoryError::Finished(path.into())),
        }
    }

    /// The text of `config.toml` in a directory.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub fn read_config(path: &Path) -> Result<String, DirectoryError> {
        let file = path.join(CONFIG);
        regular::read_to_string(&file, LARGEST_CONFIG).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DirectoryError::NoRun(path.into()),
            _ => DirectoryError::Unreadable { path: file, error },
        })
    }

    /// The path of the last checkpoint in a directory. The file need not exist.
    pub fn checkpoint_path(path: &Path) -> PathBuf {
        path.join(CHECKPOINT)
    }

    /// The text of `result.json` in a directory; `None` if the run is not finished.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_result(path: &Path) -> Result<Option<String>, DirectoryError> {
        let file = path.join(RESULT);
        match regular::read_to_string(&file, LARGEST_RESULT) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DirectoryError::Unreadable { path: file, error }),
        }
    }

    /// The result in a directory, checked; `None` if the run is not finished.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or is of another version or run.
    pub fn read_record(path: &Path) -> Result<Option<Record>, DirectoryError> {
        let Some(text) = Self::read_result(path)? else { return Ok(None) };
        let named = |error: RecordError| DirectoryError::Record { path: path.join(RESULT), error };
        let mut record = Record::parse(&text).map_err(named)?;
        Self::check_settings(path, &record)?;
        match seal::fingerprints(&text).map_err(|error| named(error.into()))? {
            Some(sealed) => seal::check_files(path, &sealed)?,
            None => record.warnings.push(seal::MISSING.into()),
        }
        Ok(Some(record))
    }

    /// Refuses a result beside the settings of another run. A result without settings is accepted.
    fn check_settings(path: &Path, record: &Record) -> Result<(), DirectoryError> {
        let text = match Self::read_config(path) {
            Err(DirectoryError::NoRun(_)) => return Ok(()),
            text => text?,
        };
        let written: Settings = toml::from_str(&text).map_err(|_| DirectoryError::NoSettings(path.join(CONFIG)))?;
        let data = written.text(DATA_SHA256).filter(|data| *data != record.data_sha256).map(|_| DATA_SHA256);
        let written = written.without(&[VERSION, DATA_SHA256, INCOMPLETE_DATA]);
        match data.or_else(|| written.difference(&record.config)) {
            Some(setting) => Err(DirectoryError::OtherRun { path: path.join(RESULT), setting: setting.into() }),
            None => Ok(()),
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
        self.steps.add(line)
    }

    /// Syncs `steps.jsonl` and returns its position.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sync_log(&mut self) -> Result<LogPosition, DirectoryError> {
        self.steps.sync()
    }

    /// Replaces the checkpoint.
    ///
    /// # Errors
    /// It cannot be written; the last one stays.
    pub fn write_checkpoint(&self, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), DirectoryError> {
        let path = self.path.join(CHECKPOINT);
        atomic::write_with(&path, content).map_err(unwritable(&path))
    }

    /// Replaces `diagnostics.jsonl`.
    ///
    /// # Errors
    /// It cannot be written; the last one stays.
    pub fn write_diagnostics(&mut self, lines: &str) -> Result<(), DirectoryError> {
        self.fingerprints.insert(DIAGNOSTICS, sha256(lines.as_bytes()));
        write(&self.path.join(DIAGNOSTICS), lines.as_bytes())
    }

    /// Writes the files of a finished run: first the predictions, also those with recalibrated
    /// statistics if there are any, then the result, sealed with the checksums of the predictions and
    /// of the diagnostics, if they were written.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(&mut self, correct: &[u8], recalibrated: Option<&[u8]>, result: &str) -> Result<(), DirectoryError> {
        self.sync_log()?;
        write(&self.path.join(PREDICTIONS), correct)?;
        self.fingerprints.insert(PREDICTIONS, sha256(correct));
        if let Some(recalibrated) = recalibrated {
            write(&self.path.join(RECALIBRATED_PREDICTIONS), recalibrated)?;
            self.fingerprints.insert(RECALIBRATED_PREDICTIONS, sha256(recalibrated));
        }
        write(&self.path.join(RESULT), seal::seal(result, &self.fingerprints).as_bytes())
    }
}

/// Replaces a file by some bytes.
fn write(path: &Path, bytes: &[u8]) -> Result<(), DirectoryError> {
    atomic::write(path, bytes).map_err(unwritable(path))
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> DirectoryError {
    move |error| DirectoryError::Unwritable { path: path.into(), error }
}

#[cfg(test)]
mod tests {
    use std::{fs::TryLockError, io::Write};

    use super::*;
    use crate::lock::tests::without_locks;

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
        let mut directory = RunDirectory::hold(path.path()).unwrap().go_on(&length).unwrap();
        directory.log(&3).unwrap();
        directory.sync_log().unwrap();
        assert_eq!(fs::read_to_string(path.path().join(STEPS)).unwrap(), "1\n3\n");
    }

    #[test]
    fn remains_of_a_run_and_a_run_of_another_process_are_not_touched() {
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
        let go_on = |length| RunDirectory::hold(path.path()).unwrap().go_on(&length);
        let longer = LogPosition { length: length.length + 1, ..length.clone() };
        assert!(go_on(longer).unwrap_err().to_string().contains("cannot be resumed"));
        go_on(length).unwrap().finish(&[], None, "{}").unwrap();
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

    /// The settings of the result that the tests use.
    fn config() -> String {
        let result: serde_json::Value = serde_json::from_str(include_str!("../tests/result.json")).unwrap();
        let settings = toml::to_string(&result["config"]).unwrap();
        format!("version = \"0.1.0\"\ndata-sha256 = {}\n{settings}", result["data_sha256"])
    }

    #[test]
    fn a_complete_run_beside_the_settings_of_another_is_refused() {
        let path = tempfile::tempdir().unwrap();
        let mut directory = RunDirectory::create(path.path(), &config()).unwrap();
        directory.finish(&[1, 0], None, include_str!("../tests/result.json")).unwrap();
        drop(directory);
        let read = |config: &str| {
            fs::write(path.path().join(CONFIG), config).unwrap();
            RunDirectory::read_record(path.path()).map(|record| record.is_some()).map_err(|error| error.to_string())
        };
        assert_eq!(read(&config()), Ok(true));
        assert_eq!(read(&config().replace("threads = 1", "threads = 9")), Ok(true), "no result depends on it");
        for (setting, config) in [
            ("seed", config().replace("seed = 0", "seed = 1")),
            ("data-sha256", config().replace("data-sha256 = \"", "data-sha256 = \"0")),
            ("novel", config() + "novel = 1\n"),
        ] {
            let error = read(&config).unwrap_err();
            assert!(error.contains(&format!("is of another run: `{setting}` is different")), "{error}");
        }
        assert!(read("seed = ").unwrap_err().contains("config.toml is not what a run writes"));
        fs::remove_file(path.path().join(CONFIG)).unwrap();
        assert!(RunDirectory::read_record(path.path()).unwrap().is_some(), "a result without settings is accepted");
    }

    #[test]
    fn a_result_that_was_changed_is_refused() {
        let path = tempfile::tempdir().unwrap();
        let mut directory = RunDirectory::create(path.path(), &config()).unwrap();
        directory.write_diagnostics("{}\n").unwrap();
        directory.finish(&[1, 0], None, include_str!("../tests/result.json")).unwrap();
        drop(directory);
        assert!(RunDirectory::read_record(path.path()).unwrap().is_some());
        let text = RunDirectory::read_result(path.path()).unwrap().unwrap();
        let files = seal::fingerprints(&text).unwrap().unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), [DIAGNOSTICS, PREDICTIONS]);
        fs::write(path.path().join(RESULT), text.replace("\"steps\": ", "\"steps\": 1")).unwrap();
        let error = RunDirectory::read_record(path.path()).unwrap_err().to_string();
        assert!(error.ends_with("result.json: it is not as it was written: its checksum is another"), "{error}");
    }

    #[test]
    fn the_result_of_another_run_is_refused() {
        let finished = |predictions: &[u8]| {
            let path = tempfile::tempdir().unwrap();
            let mut directory = RunDirectory::create(path.path(), &config()).unwrap();
            directory.finish(predictions, None, include_str!("../tests/result.json")).unwrap();
            path
        };
        let (one, other) = (finished(&[1, 0]), finished(&[0, 1]));
        fs::copy(other.path().join(RESULT), one.path().join(RESULT)).unwrap();
        let error = RunDirectory::read_record(one.path()).unwrap_err().to_string();
        assert!(error.ends_with("its checksum is another than when the run was finished"), "{error}");
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let error = RunDirectory::create(&file.join("run"), "").unwrap_err().to_string();
        assert!(error.contains("file/run cannot be written"), "{error}");
    }

    #[test]
    fn without_file_locks_a_run_still_belongs_to_one_process() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let running = |job: &str| Some(job == "1");
        let (a, b) = (without_locks("a", Some("1"), &running), without_locks("b", Some("2"), &running));
        let mut first = RunDirectory::create_with(&path, "", &a).unwrap();
        first.log(&1).unwrap();
        let length = first.sync_log().unwrap();
        let second = RunDirectory::hold_with(&path, &b).unwrap_err();
        assert!(matches!(second, DirectoryError::Busy(_)), "{second}");
        assert_eq!(RunDirectory::holder(&path).unwrap().host, "a");
        assert!(RunDirectory::is_busy_with(&path, &b) && !RunDirectory::is_busy_as_told(&path, &|_| Some(false)));
        drop(first);
        assert!(RunDirectory::holder(&path).is_none());
        drop(RunDirectory::hold_with(&path, &b).unwrap().go_on(&length).unwrap());
        assert_eq!(fs::read(path.join(STEPS)).unwrap(), b"1\n");
    }

    #[test]
    fn if_locking_fails_no_run_is_created_or_resumed() {
        let broken = Means { try_lock: |_| Err(TryLockError::Error(io::Error::other("broken"))), ..Means::real() };
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let begun = RunDirectory::create_with(&path, "", &broken).unwrap_err();
        assert!(matches!(begun, DirectoryError::Unlockable { .. }), "{begun}");
        assert!(!path.join(CONFIG).exists());
        drop(RunDirectory::create(&path, "").unwrap());
        let held = RunDirectory::hold_with(&path, &broken).unwrap_err();
        assert!(matches!(held, DirectoryError::Unlockable { .. }), "{held}");
    }

    #[test]
    fn if_a_checkpoint_fails_the_last_one_stays() {
        let path = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(path.path(), "").unwrap();
        directory.write_checkpoint(|file| file.write_all(b"first")).unwrap();
        let full = |file: &mut File| file.write_all(b"sec").and(Err(io::ErrorKind::StorageFull.into()));
        let error = directory.write_checkpoint(full).unwrap_err().to_string();
        assert!(error.contains("latest.safetensors cannot be written"), "{error}");
        assert_eq!(fs::read(RunDirectory::checkpoint_path(path.path())).unwrap(), b"first");
        assert_eq!(fs::read_dir(path.path().join("checkpoint")).unwrap().count(), 1);
    }

    #[test]
    fn a_result_that_cannot_be_read_is_named() {
        let path = tempfile::tempdir().unwrap();
        assert!(RunDirectory::read_record(path.path()).unwrap().is_none());
        fs::write(path.path().join(RESULT), r#"{"format": 7}"#).unwrap();
        let error = RunDirectory::read_record(path.path()).unwrap_err().to_string();
        assert!(error.ends_with("result.json: it has format 7, this program reads 2"), "{error}");
    }
}
