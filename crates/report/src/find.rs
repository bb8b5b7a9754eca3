//! Finding runs below some directories.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::run::{ReadError, is_run};

/// Every directory that holds a run, at or below the given ones, in order of their names. Links to
/// directories are not followed below the given ones: they may lead in circles.
///
/// # Errors
/// A directory cannot be read.
pub fn find(roots: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    let mut found = BTreeSet::new();
    for root in roots {
        search(root, &mut found)?;
    }
    Ok(found.into_iter().collect())
}

fn search(directory: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), ReadError> {
    if is_run(directory) {
        found.insert(directory.into());
        return Ok(());
    }
    let unreadable = |error| ReadError::Unreadable { path: directory.into(), error };
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().map_err(unreadable)?.is_dir() {
            search(&entry.path(), found)?;
        }
    }
    Ok(())
}
