//! Removing photos from every kept version. A Gaussian head is then the one that never saw them; what a
//! network trained from scratch learned from them stays in its weights.

use std::collections::BTreeSet;

use rehearsal_files::pattern::fits_end;

use crate::{Digest, Event, Features, Model, ModelError, Touched, Version};

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
    /// A version cannot be read, or no version knows the class.
    pub fn would_forget(&self, what: &Forget) -> Result<Vec<Touched>, ModelError> {
        self.touched(&self.going(what)?.digests)
    }

    /// What is to go, whatever a version calls it: a class had another name before it was renamed, and
    /// the same photo may have come by another path.
    fn going(&self, what: &Forget) -> Result<Going, ModelError> {
        let mut going = Going::default();
        let mut naming = Vec::new();
        for number in self.versions() {
            let version = self.version(number)?;
            going.features.extend(version.features());
            if what.fits_in(&version, &mut going.digests) {
                naming.push(number);
            } else {
                going.versions.push(number);
            }
        }
        match what {
            Forget::Class(name) if naming.is_empty() => Err(ModelError::NoSuchClass(name.clone())),
            _ => {
                going.versions.append(&mut naming);
                Ok(going)
            }
        }
    }

    /// Removes images from every kept version. If interrupted, call it again. `given` has the features of
    /// photos that may no longer be in memory.
    ///
    /// # Errors
    /// A version cannot be read or written, no version knows the class, or the features of a photo to
    /// remove are not kept.
    pub fn forget(&mut self, what: &Forget, given: &Features) -> Result<Forgotten, ModelError> {
        let mut forgotten = Forgotten::default();
        let (mut going, mut images) = (self.going(what)?, BTreeSet::new());
        going.features.extend(given.clone());
        // Nothing is changed if one version cannot be.
        for number in &going.versions {
            self.version(*number)?.check_removal(&going.digests, &going.features)?;
        }
        // An interrupted session may hold them too: it starts over.
        self.end_learning();
        // Finishes the work of a killed process.
        let is_unsettled = self.settings().is_unsettled();
        let mut checksums = Vec::new();
        for number in going.versions {
            let mut version = self.version(number)?;
            let gone = version.remove(&going.digests, &going.features)?;
            if !gone.digests.is_empty() {
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
    /// Of photos in any version.
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
            Self::Photos(photos) => photos.clone(),
        };
        digests.extend(&fitting);
        !fitting.is_empty()
    }
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use super::*;
    use crate::test_photos::{learn, learn_more};

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
        assert_eq!(model.forget(&what, &Features::new()).unwrap(), Forgotten::default(), "nothing is left");
        assert_eq!(model.forget(&Forget::Class("b".into()), &Features::new()).unwrap().images, 6);
        assert!(matches!(model.forget(&Forget::Class("x".into()), &Features::new()), Err(ModelError::NoSuchClass(_))));
        assert!(model.history().unwrap().iter().any(|entry| entry.event == Event::Removed { images: 6 }));
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
