//! The directory of a model: `model.toml`, `versions/0001.safetensors` and so on, `history.jsonl`,
//! `lock`, and, while it learns, `learning.safetensors`.
//!
//! A change is made in this order: the new version's file, the history, `model.toml`. Each appears
//! whole or not at all, and the last is the moment at which the model changes. What is left over by
//! a process that was killed does not count, and is removed by the next change.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::{Entry, Event, ModelError, ModelSettings, Version, history};

const SETTINGS: &str = "model.toml";
const HISTORY: &str = "history.jsonl";
const VERSIONS: &str = "versions";
const LEARNING: &str = "learning.safetensors";
const LOCK: &str = "lock";

/// A model: a directory.
pub struct Model {
    path: PathBuf,
    settings: ModelSettings,
    threads: usize,
    /// While it may be changed, nobody else may.
    lock: Option<File>,
    /// Made by this process: taken away again if nothing comes of it.
    is_new: bool,
}

impl Model {
    /// A model to look at.
    ///
    /// # Errors
    /// There is none, or its files are damaged or of another format.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        if !path.join(SETTINGS).exists() {
            return Err(absent(path));
        }
        let settings = ModelSettings::read(&path.join(SETTINGS))?.ok_or_else(|| absent(path))?;
        Ok(Self { path: path.into(), settings, threads: available_threads(), lock: None, is_new: false })
    }

    /// A model to change; nobody else may until it is dropped.
    ///
    /// # Errors
    /// As [`Model::open`], or another process has it.
    pub fn open_to_change(path: &Path) -> Result<Self, ModelError> {
        drop(Self::open(path)?);
        let lock = lock(path)?;
        // It may have changed before it was locked.
        let mut model = Self::open(path)?;
        model.lock = Some(lock);
        model.history()?;
        Ok(model)
    }

    /// A model to change, which is begun if there is none.
    ///
    /// # Errors
    /// As [`Model::open_to_change`], or something else stands there.
    pub fn open_or_create(path: &Path) -> Result<Self, ModelError> {
        if path.join(SETTINGS).exists() {
            return Self::open_to_change(path);
        }
        let unwritable = |error| ModelError::Unwritable { path: path.into(), error };
        let ours = [HISTORY, VERSIONS, LEARNING, LOCK];
        match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return Err(ModelError::Foreign { path: path.into() }),
            Ok(entries) => {
                // Its own files, whole or as they are being written.
                let is_ours = |name: &str| ours.iter().any(|known| name.strip_prefix(known).is_some());
                for entry in entries {
                    let name = entry.map_err(unwritable)?.file_name();
                    if !name.to_str().is_some_and(|name| is_ours(name) || name.starts_with(SETTINGS)) {
                        return Err(ModelError::Foreign { path: path.into() });
                    }
                }
            }
        }
        let is_new = !path.exists();
        fs::create_dir_all(path.join(VERSIONS)).map_err(unwritable)?;
        let lock = lock(path)?;
        if path.join(SETTINGS).exists() {
            drop(lock);
            return Self::open_to_change(path);
        }
        let (path, settings, lock) = (path.into(), ModelSettings::new(), Some(lock));
        Ok(Self { path, settings, threads: available_threads(), lock, is_new })
    }

    /// Computes on so many threads; results do not depend on it.
    pub fn on_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// On how many threads it computes.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which version is used, and what is kept.
    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// Whether it has no version yet.
    pub fn is_empty(&self) -> bool {
        self.settings.last == 0
    }

    /// Whether learning was interrupted and can go on.
    pub fn is_learning(&self) -> bool {
        self.learning_path().exists()
    }

    /// The version that is used.
    ///
    /// # Errors
    /// Its file is missing or damaged.
    pub fn current(&self) -> Result<Version, ModelError> {
        self.version(self.settings.current)
    }

    /// Any version that is kept.
    ///
    /// # Errors
    /// It is not kept, or its file is damaged.
    pub fn version(&self, number: u32) -> Result<Version, ModelError> {
        let path = self.version_path(number);
        if number != self.settings.current && !self.versions()?.contains(&number) {
            return Err(ModelError::NoVersion { asked: number, kept: self.versions()? });
        }
        Version::load(&path, self.threads)
    }

    /// How many bytes a version's file has.
    pub fn bytes(&self, number: u32) -> Option<u64> {
        fs::metadata(self.version_path(number)).ok().map(|file| file.len())
    }

    /// The numbers of the versions that are kept, in order.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn versions(&self) -> Result<Vec<u32>, ModelError> {
        let path = self.path.join(VERSIONS);
        let unreadable = |error| ModelError::Unreadable { path: path.clone(), error };
        let mut kept = Vec::new();
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".safetensors")?.parse().ok());
            kept.extend(number.filter(|number| (1..=self.settings.last).contains(number)));
        }
        kept.sort_unstable();
        Ok(kept)
    }

    /// What changed it, in order.
    ///
    /// # Errors
    /// The history is damaged.
    pub fn history(&self) -> Result<Vec<Entry>, ModelError> {
        history::read(&self.path.join(HISTORY), &self.settings)
    }

    /// Uses another version from now on.
    ///
    /// # Errors
    /// It is not kept, or damaged: then nothing has changed.
    pub fn select(&mut self, number: u32) -> Result<Version, ModelError> {
        let version = self.version(number)?;
        if number != self.settings.current {
            let settings = ModelSettings { current: number, ..self.settings.clone() };
            self.change(settings, Event::Used { version: number })?;
        }
        Ok(version)
    }

    /// The number that the next version gets.
    pub(crate) fn next(&self) -> u32 {
        self.settings.last + 1
    }

    /// Writes a version's file; it counts once the model has changed to it.
    pub(crate) fn write(&self, number: u32, version: &mut Version) -> Result<u64, ModelError> {
        assert!(self.lock.is_some(), "only a model that was opened to change is changed");
        let path = self.version_path(number);
        version.save(&path)?;
        Ok(fs::metadata(&path).map_or(0, |file| file.len()))
    }

    /// Changes the model: from now on it is what `settings` say. What is no longer needed goes.
    pub(crate) fn change(&mut self, mut settings: ModelSettings, event: Event) -> Result<(), ModelError> {
        assert!(self.lock.is_some(), "only a model that was opened to change is changed");
        history::add(&self.path.join(HISTORY), &mut settings, event)?;
        settings.write(&self.path.join(SETTINGS))?;
        self.settings = settings;
        self.clear();
        Ok(())
    }

    /// Removes versions beyond those that are kept, and what a killed process left. What cannot be
    /// removed stays.
    fn clear(&self) {
        let versions = self.versions().unwrap_or_default();
        let beyond = versions.len().saturating_sub(self.settings.keep);
        for number in versions.iter().take(beyond).filter(|number| **number != self.settings.current) {
            let _ = fs::remove_file(self.version_path(*number));
        }
        let entries = fs::read_dir(self.path.join(VERSIONS)).into_iter().flatten().flatten();
        let partial = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "partial"));
        partial.for_each(|path| drop(fs::remove_file(path)));
    }

    pub(crate) fn learning_path(&self) -> PathBuf {
        self.path.join(LEARNING)
    }

    /// Nothing is being learned any more.
    pub(crate) fn end_learning(&self) {
        let _ = fs::remove_file(self.learning_path());
    }

    /// Where a version's file is.
    pub(crate) fn version_path(&self, number: u32) -> PathBuf {
        self.path.join(VERSIONS).join(format!("{number:04}.safetensors"))
    }
}

impl Drop for Model {
    /// A directory that was made and in which nothing was written goes again.
    fn drop(&mut self) {
        if self.is_new && self.is_empty() && !self.is_learning() {
            let _ = fs::remove_file(self.path.join(LOCK));
            let _ = fs::remove_dir(self.path.join(VERSIONS));
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// What stands where no whole model is.
fn absent(path: &Path) -> ModelError {
    let path = path.to_path_buf();
    if !path.exists() {
        ModelError::Absent { path }
    } else if path.join(LEARNING).exists() || path.join(LOCK).exists() {
        ModelError::Unfinished { path }
    } else {
        ModelError::Foreign { path }
    }
}

fn lock(directory: &Path) -> Result<File, ModelError> {
    let path = directory.join(LOCK);
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(|error| ModelError::Unwritable { path: path.clone(), error })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ModelError::Busy { path: directory.into() }),
        Err(TryLockError::Error(error)) => Err(ModelError::Unlockable { path, error }),
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
