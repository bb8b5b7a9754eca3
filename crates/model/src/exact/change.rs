//! Changes of a version that leave what it would be if it had never been otherwise.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rehearsal_gaussian::Feature;

use super::{Exact, Kept};
use crate::{Contents, Digest, Features, ModelError, Removed};

impl Exact {
    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), ModelError> {
        if self.classes.contains_key(to) {
            return Err(ModelError::TakenName(to.into()));
        }
        self.merge(from, to)
    }

    /// Gives all photos of a class to another, which may be new.
    pub(crate) fn merge(&mut self, from: &str, to: &str) -> Result<(), ModelError> {
        let moved = self.classes.remove(from).ok_or_else(|| ModelError::NoSuchClass(from.into()))?;
        if from == to {
            self.classes.insert(from.into(), moved);
            return Ok(());
        }
        let to: Arc<str> = to.into();
        self.classes.entry(Arc::clone(&to)).or_default().merge(moved);
        self.sums.merge(from, &to);
        self.photos.values_mut().filter(|class| ***class == *from).for_each(|class| *class = Arc::clone(&to));
        self.check_classes(from)?;
        self.update()
    }

    /// Moves photos to another class, which may be new. Returns how many were in another class.
    pub(crate) fn move_photos(&mut self, photos: &BTreeSet<Digest>, to: &str) -> Result<usize, ModelError> {
        let to: Arc<str> = to.into();
        let mut moved = 0;
        let mut last = String::new();
        for (digest, from, feature) in self.with_features(photos, &Features::new())? {
            if from == to {
                continue;
            }
            last = from.to_string();
            self.sums.relabel(&[feature], &from, &to);
            let photo = self.take(digest, &from).ok_or(ModelError::NotKept { photos: 1 })?;
            self.classes.entry(Arc::clone(&to)).or_default().add(photo);
            self.photos.insert(digest, Arc::clone(&to));
            moved += 1;
        }
        moved += self.move_given(photos, &to)?;
        self.check_classes(if last.is_empty() { &to } else { &last })?;
        self.update()?;
        Ok(moved)
    }

    /// Moves a photo that was learned and comes again to another class, which may be new. Nothing is
    /// computed: [`Self::update`] comes later.
    pub(super) fn relabel(&mut self, photo: Kept, to: &str) {
        let Some(from) = self.class_of(photo.digest).cloned() else { return };
        let to: Arc<str> = to.into();
        self.sums.relabel(std::slice::from_ref(&photo.feature), &from, &to);
        self.take(photo.digest, &from);
        self.photos.insert(photo.digest, Arc::clone(&to));
        self.classes.entry(to).or_default().add(photo);
    }

    /// Moves holdout photos that the user gave to a class that exists.
    fn move_given(&mut self, photos: &BTreeSet<Digest>, to: &Arc<str>) -> Result<usize, ModelError> {
        let given: Vec<Digest> = photos.iter().copied().filter(|digest| self.given_as(*digest).is_some()).collect();
        let moved = given.into_iter().filter_map(|digest| self.take_given(digest)).collect::<Vec<_>>();
        let count = moved.len();
        for photo in moved {
            let class = self.classes.get_mut(to).ok_or_else(|| ModelError::NoSuchClass(to.to_string()))?;
            class.add_given(photo);
        }
        Ok(count)
    }

    pub(super) fn take_given(&mut self, digest: Digest) -> Option<Kept> {
        self.classes.values_mut().find_map(|class| class.remove_given(digest))
    }

    pub(super) fn remove_photos(
        &mut self,
        photos: &BTreeSet<Digest>,
        features: &Features,
    ) -> Result<Removed, ModelError> {
        let removed = self.take_out(photos, features)?;
        if !removed.digests.is_empty() {
            self.update()?;
        }
        Ok(removed)
    }

    /// Takes photos out of the sums and the memory; the head stays as it was.
    pub(super) fn take_out(&mut self, photos: &BTreeSet<Digest>, features: &Features) -> Result<Removed, ModelError> {
        let mut removed = Removed::default();
        for digest in photos {
            if self.take_given(*digest).is_some() {
                removed.holdout += 1;
                removed.digests.insert(*digest);
            }
        }
        let held: BTreeSet<Digest> = self.holdout_photos().map(|(_, kept)| kept.digest).collect();
        let mut by_class: BTreeMap<Arc<str>, Vec<Feature>> = BTreeMap::new();
        for (digest, class, feature) in self.with_features(photos, features)? {
            by_class.entry(Arc::clone(&class)).or_default().push(feature);
            let kept = self.take(digest, &class).is_some();
            self.photos.remove(&digest);
            removed.holdout += usize::from(held.contains(&digest));
            removed.memory += usize::from(kept && !held.contains(&digest));
            removed.digests.insert(digest);
        }
        let last = by_class.keys().next_back().cloned();
        by_class.iter().for_each(|(class, features)| self.sums.remove(class, features));
        if let Some(last) = last {
            self.check_classes(&last)?;
        }
        self.check_kept()?;
        Ok(removed)
    }

    /// The known ones of these photos, with their classes and features.
    fn with_features(
        &self,
        photos: &BTreeSet<Digest>,
        features: &Features,
    ) -> Result<Vec<(Digest, Arc<str>, Feature)>, ModelError> {
        let own = self.features();
        let known = photos.iter().filter_map(|digest| Some((*digest, Arc::clone(self.class_of(*digest)?))));
        let feature = |digest| own.get(&digest).or_else(|| features.get(&digest)).cloned();
        let found: Vec<_> = known.map(|(digest, class)| (digest, class, feature(digest))).collect();
        let missing = found.iter().filter(|(.., feature)| feature.is_none()).count();
        if missing > 0 {
            return Err(ModelError::NotKept { photos: missing });
        }
        Ok(found.into_iter().filter_map(|(digest, class, feature)| Some((digest, class, feature?))).collect())
    }

    /// Takes a photo out of its class; none if it was not kept. A class without photos is gone.
    fn take(&mut self, photo: Digest, class: &str) -> Option<Kept> {
        let of_class = self.classes.get_mut(class)?;
        let taken = of_class.remove(photo);
        if of_class.total() == 0 {
            self.classes.remove(class);
        }
        taken
    }

    /// Refuses to leave fewer than two classes, the last of which that went is `last`.
    fn check_classes(&self, last: &str) -> Result<(), ModelError> {
        if self.classes.len() < 2 { Err(ModelError::LastClasses(last.to_owned())) } else { Ok(()) }
    }
}
