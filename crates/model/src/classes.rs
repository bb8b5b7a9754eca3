//! Renaming and retiring classes. Each change makes a version, so it can be rolled back.

use std::collections::BTreeSet;

use rehearsal_files::pattern::fits_end;

use crate::{Digest, Event, Features, Model, ModelError, ModelSettings, Version};

impl Model {
    /// Renames a class.
    ///
    /// # Errors
    /// There is no such class, or another has that name.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<u32, ModelError> {
        check_name(to)?;
        let mut version = self.current()?;
        version.rename_class(from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        self.add(version, |version| Event::Renamed { version, from, to })
    }

    /// Never predicts a class again, and removes its images from memory and holdout set.
    ///
    /// # Errors
    /// There is no such class, or fewer than two would be left.
    pub fn retire_class(&mut self, name: &str, given: &Features) -> Result<u32, ModelError> {
        let mut version = self.current()?;
        version.retire_class(name, given)?;
        let name = name.to_owned();
        self.add(version, |version| Event::Retired { version, class: name })
    }

    /// Gives all photos of a class to another.
    ///
    /// # Errors
    /// There is no such class, fewer than two would be left, or the model is trained from scratch.
    pub fn merge_classes(&mut self, from: &str, to: &str) -> Result<u32, ModelError> {
        let mut version = self.current()?;
        if !version.classes().iter().any(|class| **class == *to) {
            return Err(ModelError::NoSuchClass(to.into()));
        }
        version.exact_mut()?.merge(from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        self.add(version, |version| Event::Merged { version, from, to })
    }

    /// Gives photos to another class, which may be new: those whose path, or the end of it, fits
    /// `pattern`. Returns the version and how many photos were moved.
    ///
    /// # Errors
    /// No photo fits, or the model is trained from scratch.
    pub fn move_photos(&mut self, pattern: &str, to: &str) -> Result<(u32, usize), ModelError> {
        check_name(to)?;
        let version = self.current()?;
        let fitting = version.held().into_iter().filter(|held| fits_end(pattern, &held.source) && *held.class != *to);
        let fitting: BTreeSet<Digest> = fitting.map(|held| held.digest).collect();
        if fitting.is_empty() {
            return Err(ModelError::NoMatch(pattern.to_owned()));
        }
        self.move_in(version, &fitting, to)
    }

    /// Gives these photos to another class, which may be new. Returns the version and how many were moved.
    ///
    /// # Errors
    /// None of them is held in another class, or the model is trained from scratch.
    pub fn move_these(&mut self, photos: &BTreeSet<Digest>, to: &str) -> Result<(u32, usize), ModelError> {
        check_name(to)?;
        let version = self.current()?;
        let held = version.held().into_iter().filter(|held| photos.contains(&held.digest) && *held.class != *to);
        let held: BTreeSet<Digest> = held.map(|held| held.digest).collect();
        if held.is_empty() {
            return Err(ModelError::NoneHeld);
        }
        self.move_in(version, &held, to)
    }

    fn move_in(
        &mut self,
        mut version: Version,
        photos: &BTreeSet<Digest>,
        to: &str,
    ) -> Result<(u32, usize), ModelError> {
        let images = version.exact_mut()?.move_photos(photos, to)?;
        let to = to.to_owned();
        let number = self.add(version, |version| Event::Moved { version, images, to })?;
        Ok((number, images))
    }

    /// Makes a version and uses it.
    fn add(&mut self, mut version: Version, event: impl FnOnce(u32) -> Event) -> Result<u32, ModelError> {
        let number = self.next();
        self.write(number, &mut version)?;
        let mut settings = ModelSettings { current: number, last: number, ..self.settings().clone() };
        settings.vouch_for(number, &version.sha256);
        self.change(settings, event(number))?;
        Ok(number)
    }
}

fn check_name(name: &str) -> Result<(), ModelError> {
    if name.trim().is_empty() {
        return Err(ModelError::Refused("the name of a class is empty: give it at least one letter".into()));
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use rehearsal::learner::LearnerError;

    use super::*;
    use crate::test_photos::learn;

    #[test]
    fn each_change_makes_a_version_and_is_rolled_back_by_choosing_the_one_before() {
        let place = tempfile::tempdir().unwrap();
        let (mut model, none) = (learn(place.path(), &["a", "b", "c"], 6), Features::new());
        assert_eq!((model.rename_class("a", "A").unwrap(), model.retire_class("b", &none).unwrap()), (2, 3));
        let names = |version: &Version| version.classes().iter().map(ToString::to_string).collect::<Vec<_>>();
        let version = model.current().unwrap();
        assert_eq!(names(&version), ["A", "c"]);
        assert!(version.held().iter().all(|held| &*held.class != "b"), "its images are gone");
        assert_eq!(version.learned_of("b"), 0, "it can be learned again");
        assert_eq!(names(&model.select(1).unwrap()), ["a", "b", "c"]);
    }

    #[test]
    fn impossible_changes_are_refused_and_make_no_version() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        assert!(matches!(model.retire_class("a", &Features::new()), Err(ModelError::LastClasses(name)) if name == "a"));
        assert!(matches!(
            model.retire_class("x", &Features::new()),
            Err(ModelError::Learner(LearnerError::NoSuchClass(_)))
        ));
        assert!(matches!(model.rename_class("a", "b"), Err(ModelError::Learner(_))));
        assert!(matches!(model.rename_class("a", " "), Err(ModelError::Refused(_))));
        assert_eq!(model.versions(), [1]);
    }
}
