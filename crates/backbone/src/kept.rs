//! Finds and removes features that are kept on disk: of photos ([`FeatureCache`](crate::FeatureCache)) and
//! of data sets ([`features_of`](crate::features_of)). Nothing says whether a photo still exists somewhere,
//! so all of a directory is removed: what is needed again is computed again.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rehearsal_data::DataError;
use rehearsal_files::lock::{LockError, lock};
use serde::Serialize;

use crate::{BackboneError, dataset};

/// Below the directory of all data: the features of photos.
pub const FEATURES: &str = "features";

/// The features of one data set, or of photos, by one backbone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptFeatures {
    /// Their directory.
    pub path: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
}

/// What is kept below the directory of all data.
///
/// # Errors
/// A directory cannot be read.
pub fn kept_features(home: &Path) -> Result<Vec<KeptFeatures>, BackboneError> {
    let data_sets = home.join(dataset::FEATURES);
    let mut found = directories(&home.join(FEATURES))?;
    found.retain(|path| *path != data_sets);
    found.extend(directories(&data_sets)?);
    found.into_iter().map(|path| Ok(KeptFeatures { bytes: size(&path)?, path })).collect()
}

impl KeptFeatures {
    /// Removes them; false if another process is computing them.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn remove(&self) -> Result<bool, BackboneError> {
        let lock_file = self.path.join(dataset::LOCK);
        let held = if lock_file.exists() { lock(&lock_file, Duration::ZERO).map(Some) } else { Ok(None) };
        if matches!(held, Err(LockError::Busy)) {
            return Ok(false);
        }
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(DataError::Unwritable { path: self.path.clone(), error }.into())
            }
            _ => Ok(true),
        }
    }
}

/// The directories in a directory, in order; links are none.
fn directories(path: &Path) -> Result<Vec<PathBuf>, BackboneError> {
    let mut found: Vec<PathBuf> =
        entries(path)?.into_iter().filter(|(_, about)| about.is_dir()).map(|(path, _)| path).collect();
    found.sort();
    Ok(found)
}

fn size(path: &Path) -> Result<u64, BackboneError> {
    let each = |(path, about): (PathBuf, fs::Metadata)| if about.is_dir() { size(&path) } else { Ok(about.len()) };
    entries(path)?.into_iter().map(each).sum()
}

/// What is in a directory; nothing if there is none.
fn entries(path: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, BackboneError> {
    let wrong = |error| BackboneError::File { path: path.into(), error };
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(wrong)?,
    };
    // A file may go while we look.
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(wrong)?.path();
        found.extend(path.symlink_metadata().ok().map(|about| (path, about)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_found_and_removed_unless_a_process_computes_them() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(kept_features(home.path()).unwrap(), []);
        let [photos, busy, done] = ["features/net-0123/ab", "features/data-sets/busy", "features/data-sets/done"]
            .map(|at| home.path().join(at));
        for (directory, file) in [(&photos, "cdef"), (&busy, "lock"), (&done, "lock"), (&done, "train-0")] {
            fs::create_dir_all(directory).unwrap();
            fs::write(directory.join(file), "12345").unwrap();
        }
        fs::write(home.path().join("packed"), "another file").unwrap();
        let _lock = lock(&busy.join(dataset::LOCK), Duration::ZERO).unwrap();
        let found = kept_features(home.path()).unwrap();
        let sizes: Vec<_> = found.iter().map(|kept| (kept.path.as_path(), kept.bytes)).collect();
        assert_eq!(sizes, [(photos.parent().unwrap(), 5), (&busy, 5), (&done, 10)]);
        let removed: Vec<bool> = found.iter().map(|kept| kept.remove().unwrap()).collect();
        assert_eq!(removed, [true, false, true]);
        let left = kept_features(home.path()).unwrap();
        assert_eq!(left.iter().map(|kept| &kept.path).collect::<Vec<_>>(), [&busy]);
        assert!(found[0].remove().unwrap(), "gone already");
        assert!(home.path().join("packed").exists());
    }
}
