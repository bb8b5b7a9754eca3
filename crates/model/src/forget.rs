//! Removing images from the memory and the holdout set of every kept version. What was learned from
//! them stays in the weights.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal::{learner::LearnerError, sample::Class};
use rehearsal_files::pattern::fits_end;

use crate::{Digest, Event, Model, ModelError, Version, threshold::threshold};

/// Which images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// Those whose path, or the end of it, fits a pattern: see [`rehearsal_files::pattern`].
    Source(String),
    /// Those of a class.
    Class(String),
}

/// How many images were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Different images, over all versions.
    pub images: usize,
    /// Of the memory of the current version.
    pub memory: usize,
    /// Of its holdout set.
    pub holdout: usize,
    /// Versions that were written again.
    pub versions: usize,
}

impl Model {
    /// The images that [`Model::forget`] would remove from all kept versions, as (class, path), in order.
    ///
    /// # Errors
    /// A version cannot be read, or no version knows the class.
    pub fn would_forget(&self, what: &Forget) -> Result<Vec<(String, String)>, ModelError> {
        let going = self.going(what)?.digests;
        let mut named: BTreeMap<Digest, (String, String)> = BTreeMap::new();
        // The newest last: its names are those that people know.
        for number in self.versions().into_iter().chain([self.settings().current]) {
            let version = self.version(number)?;
            let classes = version.learner.classes();
            let name = |class: Class, source: &str| (classes.name(class).to_string(), source.to_owned());
            let held = version.held().filter(|(digest, ..)| going.contains(digest));
            named.extend(held.map(|(digest, class, source)| (digest, name(class, source))));
        }
        let mut named: Vec<_> = named.into_values().collect();
        named.sort();
        Ok(named)
    }

    /// What is to go, whatever a version calls it: a class had another name before it was renamed, and
    /// the same photo may have come by another path.
    fn going(&self, what: &Forget) -> Result<Going, ModelError> {
        let mut going = Going::default();
        let mut naming = Vec::new();
        for number in self.versions() {
            let version = self.version(number)?;
            if what.fits_in(&version, &mut going.digests) {
                naming.push(number);
            } else {
                going.versions.push(number);
            }
        }
        match what {
            Forget::Class(name) if naming.is_empty() => Err(LearnerError::NoSuchClass(name.clone()).into()),
            _ => {
                going.versions.append(&mut naming);
                Ok(going)
            }
        }
    }

    /// Removes images from every kept version. If interrupted, call it again.
    ///
    /// # Errors
    /// A version cannot be read or written, or no version knows the class.
    pub fn forget(&mut self, what: &Forget) -> Result<Forgotten, ModelError> {
        let mut forgotten = Forgotten::default();
        let (going, mut images) = (self.going(what)?, BTreeSet::new());
        // An interrupted session may hold them too: it starts over.
        self.end_learning();
        // Finishes the work of a killed process.
        let is_unsettled = self.settings().is_unsettled();
        let mut checksums = Vec::new();
        for number in going.versions {
            let mut version = self.version(number)?;
            let gone = forget_in(&mut version, &going.digests)?;
            if !gone.is_empty() {
                if number == self.settings().current {
                    (forgotten.memory, forgotten.holdout) = (gone.memory, gone.holdout);
                }
                self.rewrite(number, &mut version)?;
                forgotten.versions += 1;
                images.extend(gone.digests);
            }
            checksums.push((number, version.sha256));
        }
        forgotten.images = images.len();
        if forgotten.versions > 0 || is_unsettled {
            let mut settings = self.settings().clone();
            checksums.iter().for_each(|(number, sha256)| settings.vouch_for(*number, sha256));
            self.change(settings, Event::Removed { images: forgotten.images })?;
        }
        Ok(forgotten)
    }
}

/// What is to go.
#[derive(Default)]
struct Going {
    digests: BTreeSet<Digest>,
    /// All versions, those that have the name last: killed on the way, the same request still finds
    /// the rest.
    versions: Vec<u32>,
}

impl Forget {
    /// Adds what fits by the names of this version; whether they know what is asked for.
    fn fits_in(&self, version: &Version, digests: &mut BTreeSet<Digest>) -> bool {
        match self {
            Self::Source(pattern) => {
                let fitting: Vec<Digest> = version
                    .held()
                    .filter(|(.., source)| fits_end(pattern, source))
                    .map(|(digest, ..)| digest)
                    .collect();
                digests.extend(&fitting);
                !fitting.is_empty()
            }
            Self::Class(name) => {
                let Some(class) = version.learner.classes().find(name) else { return false };
                digests.extend(version.known().into_iter().filter(|(_, of)| *of == class).map(|(digest, _)| digest));
                digests.extend(version.held().filter(|(_, of, _)| *of == class).map(|(digest, ..)| digest));
                true
            }
        }
    }
}

#[derive(Default)]
struct Gone {
    digests: BTreeSet<Digest>,
    memory: usize,
    holdout: usize,
}

impl Gone {
    fn is_empty(&self) -> bool {
        self.memory + self.holdout == 0
    }
}

fn forget_in(version: &mut Version, going: &BTreeSet<Digest>) -> Result<Gone, ModelError> {
    let mut gone = Gone::default();
    let origins = &version.origins;
    gone.memory = version.learner.forget(|memorized| {
        let of = origins.get(&Digest::of(&memorized.sample.image)).into_iter().flatten();
        let fitting: Vec<Digest> = of.map(|origin| origin.digest).filter(|digest| going.contains(digest)).collect();
        gone.digests.extend(&fitting);
        !fitting.is_empty()
    });
    version.learned.retain(|digest, _| !gone.digests.contains(digest));
    version.origins.values_mut().for_each(|of| of.retain(|origin| !going.contains(&origin.digest)));
    let asked = version.holdout.examples().iter().map(|example| example.digest);
    gone.digests.extend(asked.filter(|digest| going.contains(digest)));
    gone.holdout = version.holdout.remove(|example| going.contains(&example.digest));
    if gone.memory > 0 {
        version.recalibrate_again();
    }
    if !gone.is_empty() {
        version.threshold = threshold(&version.holdout.predict(&version.learner)?);
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_photos::{learn, learn_more};

    fn sources(version: &Version) -> Vec<String> {
        version.held().map(|(.., source)| source.to_owned()).collect()
    }

    #[test]
    fn images_are_removed_from_every_version_by_path_and_by_class() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        learn_more(&mut model, place.path(), &["c"], 6);
        model.rename_class("a", "A").unwrap();
        let what = Forget::Source("ab/a/*".into());
        let would = model.would_forget(&what).unwrap();
        assert_eq!((would.len(), would[0].0.as_str()), (6, "A"), "the newest name");
        let gone = model.forget(&what).unwrap();
        assert_eq!((gone.images, gone.versions, gone.memory + gone.holdout), (6, 3, 6));
        for number in model.versions() {
            assert!(sources(&model.version(number).unwrap()).iter().all(|source| !source.contains("/a/")), "{number}");
        }
        assert_eq!(model.forget(&what).unwrap(), Forgotten::default(), "nothing is left");
        assert_eq!(model.forget(&Forget::Class("b".into())).unwrap().images, 6);
        assert!(matches!(
            model.forget(&Forget::Class("x".into())),
            Err(ModelError::Learner(LearnerError::NoSuchClass(_)))
        ));
        assert!(model.history().unwrap().iter().any(|entry| entry.event == Event::Removed { images: 6 }));
    }

    #[test]
    fn of_two_files_with_the_same_pixels_each_path_removes_the_image() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        let mut version = model.current().unwrap();
        let (_, image, source) = version.memory().next().map(|(c, i, s)| (c, i.clone(), s.to_owned())).unwrap();
        let twin = crate::version::Origin { digest: Digest::of(b"twin"), source: "twin.png".into() };
        version.origins.get_mut(&Digest::of(&image)).unwrap().push(twin);
        model.rewrite(1, &mut version).unwrap();
        assert_eq!(model.forget(&Forget::Source("twin.png".into())).unwrap().memory, 1);
        assert!(!sources(&model.current().unwrap()).contains(&source));
    }
}
