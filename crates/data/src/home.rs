//! Where data sets and packs are: `$REHEARSAL_DATA`, else the platform's data directory.

use std::path::{Path, PathBuf};

use crate::{DataError, Dataset, choice::Choice};

/// The default directory of all data sets.
///
/// # Errors
/// The environment names no home directory.
pub fn default_directory() -> Result<PathBuf, DataError> {
    from(|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)).ok_or(DataError::NoHome)
}

/// `given`, else the default directory of all data sets.
///
/// # Errors
/// As [`default_directory`].
pub fn directory(given: Option<&Path>) -> Result<PathBuf, DataError> {
    given.map_or_else(default_directory, |given| Ok(given.into()))
}

/// As [`default_directory`], with the environment as a function.
fn from(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let platform = || {
        if cfg!(windows) {
            return variable("LOCALAPPDATA");
        }
        if cfg!(target_os = "macos") {
            return variable("HOME").map(|home| home.join("Library/Application Support"));
        }
        // XDG: a relative path is ignored.
        let said = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
        said.or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    variable("REHEARSAL_DATA").or_else(|| platform().map(|path| path.join("rehearsal")))
}

/// The packs of a data directory.
const PACKS: &str = "packs";

/// The packs of a user's folder: hidden, so that it is not a class.
const HIDDEN: &str = ".rehearsal/packs";

/// Where packs of a data set in `directory` may be: beside it, else in the default data directory. In
/// a user's folder they are hidden.
pub(crate) fn packs(dataset: Dataset, directory: Option<&Path>) -> Vec<PathBuf> {
    let is_home = |home: &Path| dataset != Dataset::Folder && home.join(dataset.name()).is_dir();
    let beside = directory.map(|home| home.join(if is_home(home) { PACKS } else { HIDDEN }));
    let shared = default_directory().ok().map(|home| home.join(PACKS));
    let mut places: Vec<PathBuf> = beside.into_iter().chain(shared).collect();
    places.dedup();
    places
}

/// Where packs may be in a directory of data.
pub(crate) fn all_packs(directory: &Path) -> [PathBuf; 2] {
    [PACKS, HIDDEN].map(|packs| directory.join(packs))
}

/// Whether it is a hidden directory of packs, beside images.
pub(crate) fn is_hidden(packs: &Path) -> bool {
    packs.ends_with(HIDDEN)
}

/// Where the files of a data set may be: in the directory itself, in the folder with the data set's
/// name, or in the parts that were unpacked there.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    home: PathBuf,
    name: &'static str,
}

impl Place {
    /// Data set `name` under `home`.
    pub(crate) fn new(home: &Path, name: &'static str) -> Self {
        Self { home: home.into(), name }
    }

    /// The directory that holds `marker`: `folder` in one of the places, or a place itself.
    pub(crate) fn find(&self, folder: &str, marker: &str) -> Option<PathBuf> {
        self.places().into_iter().flat_map(|place| [place.join(folder), place]).find(|path| path.join(marker).exists())
    }

    fn places(&self) -> Vec<PathBuf> {
        let own = self.home.join(self.name);
        let parts = std::fs::read_dir(&own).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut parts: Vec<PathBuf> = parts.filter(|path| path.is_dir() && path.extension().is_none()).collect();
        parts.sort();
        [vec![self.home.clone(), own], parts].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<PathBuf> {
        from(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_environment_decides() {
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/share/rehearsal".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Some("/x/rehearsal".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]), Some("/h/.local/share/rehearsal".into()));
        assert_eq!(with(&[("HOME", "/h"), ("REHEARSAL_DATA", "d")]), Some("d".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn a_data_set_is_found_in_all_its_places_but_not_half_unpacked() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::new(home.path(), "cifar100");
        let find =
            || place.find("cifar-100-binary", "train.bin").map(|path| path.strip_prefix(&home).unwrap().to_owned());
        let make = |folder: &str| {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
            std::fs::write(home.path().join(folder).join("train.bin"), "").unwrap();
        };
        make("cifar100/archive.unpacking/cifar-100-binary");
        assert_eq!(find(), None);
        for folder in
            ["cifar100/archive/cifar-100-binary", "cifar100", "cifar100/cifar-100-binary", "", "cifar-100-binary"]
        {
            make(folder);
            assert_eq!(find(), Some(folder.into()));
        }
    }
}
