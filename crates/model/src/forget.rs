//! Removing photos from every kept version. A Gaussian head is then the one that never saw them; what a
//! network trained from scratch learned from them stays in its weights.

use std::collections::BTreeSet;

use rehearsal_files::pattern::fits_end;

use crate::{Digest, Event, Features, Model, ModelError, Rescored, Score, Touched, Version};

/// Which images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// Those whose path, or the end of it, fits a pattern: see [`rehearsal_files::pattern`].
    Source(String),
    /// Those of a class.
    Class(String),
    /// These: they need not be in memory.
    Photos(BTreeSet<Digest>),
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
    /// The images that [`Model::forget`] would remove from all kept versions, in order of classes and paths.
    ///
    /// # Errors
    /// A version cannot be read, no version knows the class, or nothing matches.
    pub fn would_forget(&self, what: &Forget) -> Result<Vec<Touched>, ModelError> {
        self.touched(&self.going(what)?.digests)
    }

    /// What is to go, whatever a version calls it: a class had another name before it was renamed, and
    /// the same photo may have come by another path. Also what is left of a removal that was killed.
    fn going(&self, what: &Forget) -> Result<Going, ModelError> {
        let mut going = Going::default();
        let (mut naming, mut wanted) = (Vec::new(), self.settings().removing.clone());
        for number in self.versions() {
            let version = self.version(number)?;
            going.features.extend(version.features());
            if what.fits_in(&version, &mut wanted) {
                naming.push(number);
            } else {
                going.versions.push(number);
            }
        }
        let is_named = !naming.is_empty();
        going.versions.append(&mut naming);
        for number in &going.versions {
            going.digests.extend(self.version(*number)?.known(&wanted));
        }
        going.digests.extend(&self.settings().removing);
        match what {
            Forget::Class(name) if !is_named => Err(ModelError::NoSuchClass(name.clone())),
            // The work of a killed process is finished.
            _ if !going.digests.is_empty() || self.settings().is_unsettled() => Ok(going),
            Forget::Source(text) | Forget::Class(text) => Err(ModelError::NoMatch(text.clone())),
            Forget::Photos(_) => Err(ModelError::UnknownPhotos),
        }
    }

    /// Removes images from every kept version. If killed, it is finished by the next call. `given` has the
    /// features of photos that may no longer be in memory.
    ///
    /// # Errors
    /// A version cannot be read or written, no version knows the class, nothing matches, or the features
    /// of a photo to remove are not kept.
    pub fn forget(&mut self, what: &Forget, given: &Features) -> Result<Forgotten, ModelError> {
        let mut going = self.going(what)?;
        let mut forgotten = Forgotten { images: going.digests.len(), ..Forgotten::default() };
        going.features.extend(given.clone());
        // Nothing is changed if one version cannot be.
        for number in &going.versions {
            self.version(*number)?.check_removal(&going.digests, &going.features)?;
        }
        // An interrupted session may hold them too: it starts over.
        self.end_learning();
        self.begin_removal(going.digests.clone());
        let (mut checksums, mut holdout) = (Vec::new(), Vec::new());
        for number in going.versions {
            let mut version = self.version(number)?;
            let gone = version.remove(&going.digests, &going.features)?;
            if !gone.digests.is_empty() {
                if number == self.settings().current {
                    (forgotten.memory, forgotten.holdout) = (gone.memory, gone.holdout);
                }
                self.rewrite(number, &mut version)?;
                forgotten.versions += 1;
            }
            holdout.push(Rescored { version: number, score: Score::of(&version.holdout_answers()?) });
            checksums.push((number, version.sha256));
        }
        holdout.sort_by_key(|rescored| rescored.version);
        let mut settings = self.settings().clone();
        settings.removing.clear();
        checksums.iter().for_each(|(number, sha256)| settings.vouch_for(*number, sha256));
        self.change(settings, Event::Removed { images: forgotten.images, holdout })?;
        Ok(forgotten)
    }
}

impl Version {
    /// Those of some photos that it holds, or can unlearn.
    fn known(&self, photos: &BTreeSet<Digest>) -> BTreeSet<Digest> {
        let held = self.held().into_iter().map(|held| held.digest).filter(|digest| photos.contains(digest));
        let learned = photos.iter().copied().filter(|digest| self.is_exact() && self.has_learned(*digest));
        held.chain(learned).collect()
    }
}

/// What is to go.
#[derive(Default)]
struct Going {
    /// Of photos in any version.
    digests: BTreeSet<Digest>,
    features: Features,
    /// All versions, those that have the name last: killed on the way, the same request still finds
    /// the rest.
    versions: Vec<u32>,
}

impl Forget {
    /// Adds what fits by the names of this version; whether they know what is asked for.
    fn fits_in(&self, version: &Version, digests: &mut BTreeSet<Digest>) -> bool {
        let fitting: BTreeSet<Digest> = match self {
            Self::Source(pattern) => {
                let held = version.held().into_iter().filter(|held| fits_end(pattern, &held.source));
                held.map(|held| held.digest).collect()
            }
            Self::Class(name) => {
                let Some(photos) = version.photos_of(name) else { return false };
                digests.extend(photos);
                return true;
            }
            Self::Photos(photos) => version.known(photos),
        };
        digests.extend(&fitting);
        !fitting.is_empty()
    }
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use super::*;
    use crate::{
        rescored,
        test_photos::{learn, learn_more},
    };

    fn sources(version: &Version) -> Vec<String> {
        version.held().into_iter().map(|held| held.source).collect()
    }

    #[test]
    fn images_are_removed_from_every_version_by_path_and_by_class() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        learn_more(&mut model, place.path(), &["c"], 6);
        model.rename_class("a", "A").unwrap();
        let what = Forget::Source("ab/a/*".into());
        let would = model.would_forget(&what).unwrap();
        let first = Touched { class: "A".into(), source: would[0].source.clone(), versions: vec![1, 2, 3] };
        assert_eq!((would.len(), &would[0]), (6, &first), "by its newest name");
        assert!(first.source.is_some_and(|source| source.ends_with("ab/a/00.png")));
        let gone = model.forget(&what, &Features::new()).unwrap();
        assert_eq!((gone.images, gone.versions, gone.memory + gone.holdout), (6, 3, 6));
        for number in model.versions() {
            assert!(sources(&model.version(number).unwrap()).iter().all(|source| !source.contains("/a/")), "{number}");
        }
        let nothing = model.forget(&what, &Features::new());
        assert!(matches!(nothing, Err(ModelError::NoMatch(pattern)) if pattern == "ab/a/*"), "nothing is left");
        assert_eq!(model.forget(&Forget::Class("b".into()), &Features::new()).unwrap().images, 6);
        assert!(matches!(model.forget(&Forget::Class("x".into()), &Features::new()), Err(ModelError::NoSuchClass(_))));
        assert!(model.history().unwrap().iter().any(|entry| matches!(entry.event, Event::Removed { images: 6, .. })));
    }

    #[test]
    fn a_removal_that_matches_nothing_touches_nothing() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        std::fs::write(model.learning_path(), "a session").unwrap();
        let before = std::fs::read(model.path().join("model.toml")).unwrap();
        for what in [Forget::Source("no-such*".into()), Forget::Photos([Digest::of(b"x")].into())] {
            let error = model.forget(&what, &Features::new()).unwrap_err();
            assert!(matches!(error, ModelError::NoMatch(_) | ModelError::UnknownPhotos), "{error}");
            assert!(model.would_forget(&what).is_err());
        }
        assert!(model.learning_path().exists(), "the interrupted session");
        assert_eq!(std::fs::read(model.path().join("model.toml")).unwrap(), before);
    }

    #[test]
    fn versions_are_scored_again_after_a_removal() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 10);
        learn_more(&mut model, place.path(), &["c"], 10);
        assert_eq!(rescored(&model.history().unwrap(), 1), None);
        model.forget(&Forget::Class("b".into()), &Features::new()).unwrap();
        for number in [1, 2] {
            let score = Score::of(&model.version(number).unwrap().holdout_answers().unwrap());
            assert_eq!(rescored(&model.history().unwrap(), number), Some(score), "version {number}");
        }
    }

    #[test]
    fn a_killed_removal_is_recorded_whole_and_finished_by_the_next() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        learn_more(&mut model, place.path(), &["c"], 6);
        let what = Forget::Source("ab/a/*".into());
        let digests = model.going(&what).unwrap().digests;
        assert_eq!(digests.len(), 6);
        // Killed when one of two versions was written again.
        model.begin_removal(digests.clone());
        let mut version = model.version(2).unwrap();
        version.remove(&digests, &Features::new()).unwrap();
        model.rewrite(2, &mut version).unwrap();
        let path = model.path().to_path_buf();
        drop(model);
        let mut model = Model::open_to_change(&path).unwrap();
        assert_eq!(model.forget(&Forget::Source("ab/b/*".into()), &Features::new()).unwrap().images, 12);
        assert!(model.settings().removing.is_empty() && !model.settings().is_unsettled());
        assert!(matches!(model.forget(&what, &Features::new()), Err(ModelError::NoMatch(_))), "none is left");
    }

    #[test]
    fn of_two_files_with_the_same_pixels_each_path_removes_the_image() {
        let place = tempfile::tempdir().unwrap();
        let mut model = learn(place.path(), &["a", "b"], 6);
        let mut version = model.current().unwrap();
        let (_, picture, source) = version.memory().remove(0);
        let crate::version::Kind::Scratch(scratch) = &mut version.kind else { panic!("another kind") };
        let twin = crate::scratch::Origin { digest: Digest::of(b"twin"), source: "twin.png".into() };
        scratch.origins.get_mut(&Digest::of(&picture.pixels().0)).unwrap().push(twin);
        model.rewrite(1, &mut version).unwrap();
        assert_eq!(model.forget(&Forget::Source("twin.png".into()), &Features::new()).unwrap().memory, 1);
        assert!(!sources(&model.current().unwrap()).contains(&source));
    }
}
