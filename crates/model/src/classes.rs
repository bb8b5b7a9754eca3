//! Renaming and retiring classes. Each change makes a version, so it can be rolled back.

use crate::{Event, Model, ModelError, ModelSettings, Version, threshold::threshold};

impl Model {
    /// Renames a class.
    ///
    /// # Errors
    /// There is no such class, or another has that name.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<u32, ModelError> {
        if to.trim().is_empty() {
            return Err(ModelError::Refused("the new name of a class is empty: give it at least one letter".into()));
        }
        let mut version = self.current()?;
        version.learner.rename_class(from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        self.add(version, |version| Event::Renamed { version, from, to })
    }

    /// Never predicts a class again, and removes its images from memory and holdout set.
    ///
    /// # Errors
    /// There is no such class, or fewer than two would be left.
    pub fn retire_class(&mut self, name: &str) -> Result<u32, ModelError> {
        let mut version = self.current()?;
        let class = version.learner.classes().find(name);
        version.learner.retire_class(name)?;
        if version.learner.classes().active().count() < 2 {
            return Err(ModelError::LastClasses(name.to_owned()));
        }
        version.holdout.remove(|example| Some(example.class) == class);
        version.learned.retain(|_, learned| Some(*learned) != class);
        version.recalibrate_again();
        version.threshold = threshold(&version.holdout.predict(&version.learner)?);
        let name = name.to_owned();
        self.add(version, |version| Event::Retired { version, class: name })
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

#[cfg(test)]
mod tests {
    use rehearsal::learner::LearnerError;

    use super::*;
    use crate::test_photos::learn;

    #[test]
    fn each_change_makes_a_version_and_is_rolled_back_by_choosing_the_one_before() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b", "c"], 6);
        assert_eq!((model.rename_class("a", "A").unwrap(), model.retire_class("b").unwrap()), (2, 3));
        let names = |version: &Version| {
            let classes = version.learner.classes();
            classes.active().map(|class| classes.name(class).to_string()).collect::<Vec<_>>()
        };
        let version = model.current().unwrap();
        assert_eq!(names(&version), ["A", "c"]);
        let retired = Version::load(&model.version_path(2), 1).unwrap().learner.classes().find("b").unwrap();
        assert!(version.held().all(|(_, class, _)| class != retired), "its images are gone");
        assert!(!version.learned.values().any(|class| *class == retired), "it can be learned again");
        assert_eq!(names(&model.select(1).unwrap()), ["a", "b", "c"]);
    }

    #[test]
    fn impossible_changes_are_refused_and_make_no_version() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        assert!(matches!(model.retire_class("a"), Err(ModelError::LastClasses(name)) if name == "a"));
        assert!(matches!(model.retire_class("x"), Err(ModelError::Learner(LearnerError::NoSuchClass(_)))));
        assert!(matches!(model.rename_class("a", "b"), Err(ModelError::Learner(_))));
        assert!(matches!(model.rename_class("a", " "), Err(ModelError::Refused(_))));
        assert_eq!(model.versions(), [1]);
    }
}
