//! The directory of a model: `model.toml`, `versions/0001.safetensors` and so on, `history.jsonl`,
//! `lock`, and, while it learns, `learning.safetensors`.
//!
//! `model.toml` is there before anything else. A change is made in this order: the new version's
//! file, the history, `model.toml`. Each appears whole or not at all, and the last is the moment at
//! which the model changes: it has the checksum of every version's file. What is left over by a
//! process that was killed does not count, and is removed by the next change.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rehearsal_files::{
    atomic,
    lock::{self, LockError},
    model_file::{FORMAT, Reader},
    threads,
};

use crate::{Digest, Entry, Event, ModelError, ModelSettings, Version, history, version::is_exact};

const SETTINGS: &str = "model.toml";
const HISTORY: &str = "history.jsonl";
const VERSIONS: &str = "versions";
const LEARNING: &str = "learning.safetensors";
const LOCK: &str = "lock";
/// How long a lock that another process holds is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The extension of a version's file that is about to take another's place.
const NEXT: &str = "next";

/// A model: a directory.
pub struct Model {
    path: PathBuf,
    settings: ModelSettings,
    threads: usize,
    /// Held while this process may change the model.
    lock: Option<File>,
    /// Made by this process: removed again if it stays empty.
    is_new: bool,
}

impl Model {
    /// Opens a model to read.
    ///
    /// # Errors
    /// It does not exist, or its files are damaged or have another format.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let model = Self::open_begun(path)?;
        if model.is_empty() { Err(ModelError::Unfinished { path: path.into() }) } else { Ok(model) }
    }

    /// A model that may have no version yet.
    fn open_begun(path: &Path) -> Result<Self, ModelError> {
        let settings = ModelSettings::read(&path.join(SETTINGS))?.ok_or_else(|| absent(path))?;
        Ok(Self { path: path.into(), settings, threads: threads::current(), lock: None, is_new: false })
    }

    /// Opens a model to change; other processes cannot change it until it is dropped.
    ///
    /// # Errors
    /// As [`Model::open`], or another process is changing it.
    pub fn open_to_change(path: &Path) -> Result<Self, ModelError> {
        drop(Self::open(path)?);
        Self::lock_begun(path)
    }

    fn lock_begun(path: &Path) -> Result<Self, ModelError> {
        drop(Self::open_begun(path)?);
        let lock = lock(path)?;
        // It may have changed before it was locked.
        let mut model = Self::open_begun(path)?;
        model.lock = Some(lock);
        model.history()?;
        Ok(model)
    }

    /// Opens a model to change, or makes an empty one.
    ///
    /// # Errors
    /// As [`Model::open_to_change`], or the path is something else.
    pub fn open_or_create(path: &Path) -> Result<Self, ModelError> {
        if path.join(SETTINGS).exists() {
            return Self::lock_begun(path);
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
            return Self::lock_begun(path);
        }
        if has_versions(path) {
            return Err(lost(path));
        }
        let settings = ModelSettings::new();
        settings.write(&path.join(SETTINGS))?;
        Ok(Self { path: path.into(), settings, threads: threads::current(), lock: Some(lock), is_new })
    }

    /// Computes on `threads` threads; results do not depend on it.
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

    #[cfg(all(test, feature = "scratch"))]
    pub(crate) fn settings_mut(&mut self) -> &mut ModelSettings {
        &mut self.settings
    }

    /// Whether it has no version yet.
    pub fn is_empty(&self) -> bool {
        self.settings.last == 0
    }

    /// Whether a session was interrupted and can continue: `learning.safetensors` is complete and
    /// belongs to the next version.
    pub fn is_learning(&self) -> bool {
        #[cfg(feature = "scratch")]
        let is_next = || self.interrupted().is_some_and(|session| session.version == self.next());
        // A program without training leaves the file alone.
        #[cfg(not(feature = "scratch"))]
        let is_next = || true;
        self.learning_path().exists() && is_next()
    }

    /// Whether the current version has a Gaussian head; only the beginning of its file is read.
    ///
    /// # Errors
    /// Its file is missing or damaged.
    pub fn is_exact(&self) -> Result<bool, ModelError> {
        let reader = Reader::open(&self.version_path(self.settings.current), FORMAT);
        reader.map(|reader| is_exact(&reader)).map_err(|error| self.or_another(error.into()))
    }

    /// The current version.
    ///
    /// # Errors
    /// Its file is missing or damaged.
    pub fn current(&self) -> Result<Version, ModelError> {
        self.version(self.settings.current).map_err(|error| self.or_another(error))
    }

    /// The error, with the version that can be used instead: the newest before it that can be read, else one after it.
    fn or_another(&self, error: ModelError) -> ModelError {
        let (kept, current) = (self.versions(), self.settings.current);
        let (before, after): (Vec<u32>, Vec<u32>) =
            kept.iter().filter(|number| **number != current).partition(|number| **number < current);
        match before.into_iter().rev().chain(after).find(|number| self.version(*number).is_ok()) {
            Some(other) => ModelError::DamagedVersion { path: self.path.clone(), other, error: Box::new(error) },
            None => error,
        }
    }

    /// A kept version.
    ///
    /// # Errors
    /// It is not kept, or its file is damaged.
    pub fn version(&self, number: u32) -> Result<Version, ModelError> {
        let path = self.version_path(number);
        if !self.versions().contains(&number) {
            return Err(ModelError::NoVersion { asked: number, kept: self.versions() });
        }
        let version = Version::load(&path, self.threads)?;
        let is_ours = |settings: &ModelSettings| settings.vouches_for(number, &version.sha256);
        // Another process may have changed it since this one looked.
        if is_ours(&self.settings) || ModelSettings::read(&self.path.join(SETTINGS))?.is_some_and(|now| is_ours(&now)) {
            return Ok(version);
        }
        let why = "it is not the file that this model wrote as this version".into();
        Err(ModelError::Damaged { path, why })
    }

    /// How many bytes a version's file has.
    pub fn bytes(&self, number: u32) -> Option<u64> {
        fs::metadata(self.version_path(number)).ok().map(|file| file.len())
    }

    /// The numbers of the versions that are kept, in order.
    pub fn versions(&self) -> Vec<u32> {
        self.settings.numbers().collect()
    }

    /// What changed it, in order.
    ///
    /// # Errors
    /// The history is damaged.
    pub fn history(&self) -> Result<Vec<Entry>, ModelError> {
        history::read(&self.path.join(HISTORY), &self.settings)
    }

    /// Makes another version the current one.
    ///
    /// # Errors
    /// It is not kept, or damaged. The model is unchanged then.
    pub fn select(&mut self, number: u32) -> Result<Version, ModelError> {
        let version = self.version(number)?;
        if number != self.settings.current {
            let mut settings = ModelSettings { current: number, ..self.settings.clone() };
            settings.set_rejected(number, false);
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
        self.check_lock()?;
        let path = self.version_path(number);
        version.save_to(&path)?;
        Ok(fs::metadata(&path).map_or(0, |file| file.len()))
    }

    /// Writes a version again. Killed at any moment, what stands there is vouched for: first both files
    /// are, then the new one takes the old one's place.
    pub(crate) fn rewrite(&mut self, number: u32, version: &mut Version) -> Result<(), ModelError> {
        self.check_lock()?;
        let (path, next) = (self.version_path(number), self.version_path(number).with_added_extension(NEXT));
        version.save_to(&next)?;
        self.check_lock()?;
        self.settings.vouch_also_for(number, &version.sha256);
        self.settings.write(&self.path.join(SETTINGS))?;
        atomic::rename(&next, &path).map_err(|error| ModelError::Unwritable { path, error })
    }

    /// Refuses to change anything once the file `lock` was deleted: another process may hold a new one.
    fn check_lock(&self) -> Result<(), ModelError> {
        let held = self.lock.as_ref().expect("only a model that was opened to change is changed");
        let path = self.path.join(LOCK);
        if lock::is_at(held, &path) { Ok(()) } else { Err(ModelError::LostLock { path }) }
    }

    /// Removes the file of a version that will not be kept, and the checkpoint of its session.
    pub(crate) fn discard(&self, number: u32) {
        let _ = fs::remove_file(self.version_path(number));
        self.end_learning();
    }

    /// Marks photos as being removed; the next rewritten version makes it last.
    pub(crate) fn begin_removal(&mut self, photos: BTreeSet<Digest>) {
        self.settings.removing = photos;
    }

    /// Changes the model: from now on it is what `settings` say. What is no longer needed goes.
    pub(crate) fn change(&mut self, mut settings: ModelSettings, event: Event) -> Result<(), ModelError> {
        self.check_lock()?;
        settings.drop_old();
        history::add(&self.path.join(HISTORY), &mut settings, event)?;
        self.check_lock()?;
        settings.write(&self.path.join(SETTINGS))?;
        self.settings = settings;
        self.clear();
        Ok(())
    }

    /// Removes the files of versions that are no longer kept, and what a killed process left. What
    /// cannot be removed stays.
    pub(crate) fn clear(&self) {
        let kept = self.versions();
        for entry in fs::read_dir(self.path.join(VERSIONS)).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_left = path.extension().is_some_and(|extension| extension == "partial" || extension == NEXT);
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let is_old = |number: u32| number <= self.settings.last && !kept.contains(&number);
            if is_left || number.is_some_and(|number| is_old(number) && self.version_path(number) == path) {
                let _ = fs::remove_file(path);
            }
        }
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "partial") {
                let _ = fs::remove_file(entry.path());
            }
        }
        if !self.is_learning() {
            self.end_learning();
        }
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
        if self.is_new && self.is_empty() && !self.learning_path().exists() {
            let _ = fs::remove_file(self.path.join(SETTINGS));
            let _ = fs::remove_file(self.path.join(LOCK));
            let _ = fs::remove_dir(self.path.join(VERSIONS));
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Why there is no complete model at a path.
fn absent(path: &Path) -> ModelError {
    let path = path.to_path_buf();
    if !path.exists() {
        ModelError::Absent { path }
    } else if has_versions(&path) {
        lost(&path)
    } else if path.join(LEARNING).exists() || path.join(LOCK).exists() {
        ModelError::Unfinished { path }
    } else {
        ModelError::Foreign { path }
    }
}

/// Whether something was learned there.
fn has_versions(path: &Path) -> bool {
    let is_version = |name: std::ffi::OsString| Path::new(&name).extension().is_some_and(|e| e == "safetensors");
    let mut entries = fs::read_dir(path.join(VERSIONS)).into_iter().flatten().flatten();
    entries.any(|entry| is_version(entry.file_name()))
}

/// Versions without the file that names the current one.
fn lost(path: &Path) -> ModelError {
    let why = "it is missing, but the versions are there: restore it from a backup".into();
    ModelError::Damaged { path: path.join(SETTINGS), why }
}

/// Keeps other processes from changing a model.
fn lock(directory: &Path) -> Result<File, ModelError> {
    let path = directory.join(LOCK);
    lock::lock(&path, PATIENCE).map_err(|error| match error {
        LockError::Busy => ModelError::Busy { path: directory.into() },
        LockError::Unwritable(error) => ModelError::Unwritable { path, error },
        LockError::Unlockable(error) => ModelError::Unlockable { path, error },
    })
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use super::*;
    use crate::test_photos::{learn, learn_more};

    #[test]
    fn a_model_is_changed_by_one_process_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("shop.model");
        let first = Model::open_or_create(&path).unwrap();
        assert!(matches!(Model::open_or_create(&path), Err(ModelError::Busy { path: busy }) if busy == path));
        drop(first);
        Model::open_or_create(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_process_whose_lock_was_deleted_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let mut first = learn(place.path(), &["a", "b"], 6);
        fs::remove_file(first.path().join(LOCK)).unwrap();
        let mut second = Model::open_to_change(first.path()).unwrap();
        second.rename_class("a", "A").unwrap();
        assert!(matches!(first.rename_class("b", "B"), Err(ModelError::LostLock { .. })));
        let path = first.path().to_path_buf();
        drop((first, second));
        let names = Model::open(&path).unwrap().current().unwrap().classes();
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["A", "b"]);
    }

    #[test]
    fn a_model_that_learned_nothing_leaves_no_directory() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("shop.model");
        drop(Model::open_or_create(&path).unwrap());
        assert!(!path.exists() && matches!(Model::open(&path), Err(ModelError::Absent { .. })));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("notes.txt"), "mine").unwrap();
        assert!(matches!(Model::open_or_create(&path), Err(ModelError::Foreign { .. })));
        assert!(matches!(Model::open(&path), Err(ModelError::Foreign { .. })));
    }

    #[test]
    fn old_versions_and_the_leftovers_of_a_killed_process_are_deleted() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        model.settings.keep = 2;
        let leftover = model.version_path(2).with_added_extension(NEXT);
        fs::write(&leftover, "half").unwrap();
        model.rename_class("a", "A").unwrap();
        assert!(!leftover.exists());
        model.select(1).unwrap();
        model.rename_class("a", "aa").unwrap();
        assert_eq!(model.versions(), [2, 3]);
        model.select(2).unwrap();
        learn_more(&mut model, place.path(), &["c"], 6);
        assert_eq!((model.versions(), model.settings().current), (vec![3, 4], 4));
        assert!(!model.version_path(1).exists() && !model.version_path(2).exists());
        assert!(matches!(model.select(1), Err(ModelError::NoVersion { asked: 1, .. })));
    }

    #[test]
    fn a_damaged_current_version_names_another_and_a_lost_model_toml_is_not_replaced() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        model.rename_class("a", "A").unwrap();
        fs::copy(model.version_path(1), model.version_path(2)).unwrap();
        assert!(matches!(model.current(), Err(ModelError::DamagedVersion { other: 1, .. })));
        let path = model.path().to_path_buf();
        drop(model);
        fs::remove_file(path.join(SETTINGS)).unwrap();
        assert!(matches!(Model::open(&path), Err(ModelError::Damaged { .. })));
        assert!(matches!(Model::open_or_create(&path), Err(ModelError::Damaged { .. })));
    }
}
