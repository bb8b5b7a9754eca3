//! The directory of a grid: `manifest.jsonl`, a directory for each run, and `logs/` for the messages
//! of runs that fail.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rehearsal_files::atomic;

use crate::{
    DirectoryError, RunName,
    files::{GRID_LOCK, LOGS, MANIFEST, SLURM},
    lock::{Lock, Means, lock},
};

/// The directory of a grid. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridDirectory(PathBuf);

/// Keeps other grids from a directory until it is dropped.
#[derive(Debug)]
pub struct GridLock {
    _lock: Lock,
}

impl GridDirectory {
    /// The grid's directory at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The list of its runs.
    pub fn manifest(&self) -> PathBuf {
        self.0.join(MANIFEST)
    }

    /// The directory of the runs' logs.
    pub fn logs(&self) -> PathBuf {
        self.0.join(LOGS)
    }

    /// The directory of its submissions to Slurm.
    pub fn slurm(&self) -> PathBuf {
        self.0.join(SLURM)
    }

    /// The directory of a run.
    pub fn run(&self, name: &RunName) -> PathBuf {
        self.0.join(name.as_str())
    }

    /// The standard error of a run: empty, unless it fails.
    pub fn log(&self, name: &RunName) -> PathBuf {
        self.logs().join(name.as_str()).with_added_extension("log")
    }

    /// Creates the directory and keeps other grids from it.
    ///
    /// # Errors
    /// Another grid holds it, or it cannot be written or locked.
    pub fn hold(&self) -> Result<GridLock, DirectoryError> {
        self.hold_with(&Means::real())
    }

    fn hold_with(&self, means: &Means) -> Result<GridLock, DirectoryError> {
        let logs = self.logs();
        fs::create_dir_all(&logs).map_err(|error| DirectoryError::Unwritable { path: logs, error })?;
        Ok(GridLock { _lock: lock(&self.0, GRID_LOCK, means)? })
    }

    /// Replaces the list of its runs.
    ///
    /// # Errors
    /// It cannot be written; the last one stays.
    pub fn write_manifest(&self, lines: &str) -> Result<(), DirectoryError> {
        let path = self.manifest();
        atomic::write(&path, lines.as_bytes()).map_err(|error| DirectoryError::Unwritable { path, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::tests::without_locks;

    #[test]
    fn each_run_has_its_directory_and_its_log() {
        let grid = GridDirectory::new("runs/table1".into());
        let name: RunName = "er-lr0.1".parse().unwrap();
        assert_eq!(grid.run(&name), Path::new("runs/table1/er-lr0.1"));
        assert_eq!(grid.log(&name), Path::new("runs/table1/logs/er-lr0.1.log"));
        assert_eq!(grid.manifest(), Path::new("runs/table1/manifest.jsonl"));
    }

    #[test]
    fn one_grid_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let grid = GridDirectory::new(parent.path().join("grid"));
        let first = grid.hold().unwrap();
        assert!(matches!(grid.hold(), Err(DirectoryError::Busy(path)) if path == grid.path()));
        drop(first);
        grid.hold().unwrap();
        let (a, b) = (without_locks("a", Some("1"), &|_| Some(true)), without_locks("b", Some("2"), &|_| Some(true)));
        let first = grid.hold_with(&a).unwrap();
        assert!(matches!(grid.hold_with(&b), Err(DirectoryError::Busy(path)) if path == grid.path()));
        drop(first);
        grid.hold_with(&b).unwrap();
    }
}
