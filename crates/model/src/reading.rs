//! Reading a version while other processes change the model, and whether each version can be read.

use std::path::Path;

use crate::{Model, ModelError, Version};

/// Changes of a model that may fall into one look at it.
const LOOKS: usize = 100;

/// Whether the file of a kept version can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionState {
    /// It is whole.
    Whole,
    /// Its file is missing.
    Missing,
    /// Its file is damaged, or that of another version.
    Damaged,
}

impl VersionState {
    /// `whole`, `missing` or `damaged`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Missing => "missing",
            Self::Damaged => "damaged",
        }
    }
}

impl Model {
    /// Opens a model and loads a version of it, the current one for none. If another process changes the
    /// model meanwhile, so that the version's file is gone, it looks again.
    ///
    /// # Errors
    /// As [`Model::open`], [`Model::current`] and [`Model::version`].
    pub fn open_version(path: &Path, number: Option<u32>) -> Result<(Self, Version), ModelError> {
        Self::open_version_with(path, number, || ())
    }

    /// Calls `opened` between the two steps.
    fn open_version_with(
        path: &Path,
        number: Option<u32>,
        mut opened: impl FnMut(),
    ) -> Result<(Self, Version), ModelError> {
        let mut looks = 1;
        loop {
            let model = Self::open(path)?;
            opened();
            match number.map_or_else(|| model.current(), |number| model.version(number)) {
                Err(_) if looks < LOOKS && Self::open(path)?.settings() != model.settings() => looks += 1,
                loaded => return loaded.map(|version| (model, version)),
            }
        }
    }

    /// Whether the file of a kept version can be read; all of it is read to tell.
    pub fn state(&self, number: u32) -> VersionState {
        match self.version(number) {
            // This program cannot tell more.
            Ok(_) | Err(ModelError::NotBuilt) => VersionState::Whole,
            Err(_) if self.bytes(number).is_none() => VersionState::Missing,
            Err(_) => VersionState::Damaged,
        }
    }
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use super::*;
    use crate::test_photos::learn;

    #[test]
    fn a_reader_looks_again_when_the_version_was_replaced_meanwhile() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        model.settings_mut().keep = 1;
        let path = model.path().to_path_buf();
        let mut names = ["A", "B"].into_iter();
        let opened = || {
            if let Some(to) = names.next() {
                let class = model.current().unwrap().classes()[0].to_string();
                model.rename_class(&class, to).unwrap();
            }
        };
        let (read, version) = Model::open_version_with(&path, None, opened).unwrap();
        assert_eq!((read.settings().current, &*version.classes()[0]), (3, "B"));
        let gone = Model::open_version(&path, Some(1)).map(drop);
        assert!(matches!(gone, Err(ModelError::NoVersion { asked: 1, kept }) if kept == [3]));
    }

    #[test]
    fn missing_and_damaged_versions_are_known_and_no_hint_names_them() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        for to in ["A", "aa", "AA"] {
            let class = model.current().unwrap().classes()[0].to_string();
            model.rename_class(&class, to).unwrap();
        }
        std::fs::remove_file(model.version_path(3)).unwrap();
        std::fs::write(model.version_path(2), "").unwrap();
        let states = [1, 2, 3, 4].map(|number| model.state(number));
        let expected = [VersionState::Whole, VersionState::Damaged, VersionState::Missing, VersionState::Whole];
        assert_eq!(states, expected);
        std::fs::write(model.version_path(4), "").unwrap();
        assert!(matches!(model.current(), Err(ModelError::DamagedVersion { other: 1, .. })));
        std::fs::write(model.version_path(1), "").unwrap();
        assert!(!matches!(model.current(), Err(ModelError::DamagedVersion { .. })), "none is left");
    }
}
