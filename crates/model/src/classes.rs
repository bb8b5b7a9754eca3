//! Renaming and retiring classes: each makes a version, so that one can go back.

use crate::{Event, Model, ModelError, ModelSettings, Version, threshold::threshold};

impl Model {
    /// Calls a class something else.
    ///
    /// # Errors
    /// There is no such class, or another has that name.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<u32, ModelError> {
        if to.trim().is_empty() {
            return Err(ModelError::Refused("a class needs a name".into()));
        }
        let mut version = self.current()?;
        version.learner.rename_class(from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        self.add(version, |version| Event::Renamed { version, from, to })
    }

    /// Predicts a class no more; its images leave the memory and the exam.
    ///
    /// # Errors
    /// There is no such class, or fewer than two would be left.
    pub fn retire_class(&mut self, name: &str) -> Result<u32, ModelError> {
        let mut version = self.current()?;
        let class = version.learner.classes().find(name);
        version.learner.retire_class(name)?;
        if version.learner.classes().active().count() < 2 {
            return Err(ModelError::Refused(format!("without `{name}` there is nothing left to tell apart")));
        }
        version.exam.remove(|question| Some(question.class) == class);
        version.learned.retain(|_, learned| Some(*learned) != class);
        version.recalibrate_again();
        version.threshold = threshold(&version.exam.take(&version.learner)?);
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
