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
