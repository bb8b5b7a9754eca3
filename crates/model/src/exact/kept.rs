//! The photos of a class that are kept: those with the smallest digests. Which these are depends only
//! on the set of photos, not on the order in which they came.

use std::sync::Arc;

use rehearsal_gaussian::Feature;

use crate::Digest;

/// A photo that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub digest: Digest,
    /// The path that it came from.
    pub source: String,
    pub feature: Feature,
    /// A small JPEG file, for people.
    pub thumbnail: Arc<[u8]>,
}

/// The photos of a class with the smallest digests, how many photos it has, and the holdout photos that
/// the user gave for it, which are none of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfClass {
    kept: Vec<Kept>,
    total: usize,
    given: Vec<Kept>,
}

impl OfClass {
    /// As it was saved; none if the digests are not in order, or more are kept than `total`.
    pub fn restored(kept: Vec<Kept>, total: usize, given: Vec<Kept>) -> Option<Self> {
        let in_order = |photos: &[Kept]| photos.windows(2).all(|pair| pair[0].digest < pair[1].digest);
        (in_order(&kept) && in_order(&given) && kept.len() <= total).then_some(Self { kept, total, given })
    }

    /// The holdout photos that the user gave, by digest.
    pub fn given(&self) -> &[Kept] {
        &self.given
    }

    /// Adds a holdout photo that the user gives; whether it is new.
    pub fn add_given(&mut self, photo: Kept) -> bool {
        match self.given.binary_search_by_key(&photo.digest, |given| given.digest) {
            Ok(_) => false,
            Err(at) => {
                self.given.insert(at, photo);
                true
            }
        }
    }

    /// Removes a holdout photo that the user gave.
    pub fn remove_given(&mut self, digest: Digest) -> Option<Kept> {
        let at = self.given.binary_search_by_key(&digest, |given| given.digest).ok()?;
        Some(self.given.remove(at))
    }

    /// By digest.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Photos of the class, kept or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether every photo is kept.
    pub fn is_complete(&self) -> bool {
        self.kept.len() == self.total
    }

    /// Adds a photo that is new to the class.
    pub fn add(&mut self, photo: Kept) {
        let at = self.kept.partition_point(|kept| kept.digest < photo.digest);
        // Beyond the last one there may be smaller digests that were not kept.
        if at < self.kept.len() || self.is_complete() {
            self.kept.insert(at, photo);
        }
        self.total += 1;
    }

    /// Removes a photo of the class; it is returned if it was kept.
    pub fn remove(&mut self, digest: Digest) -> Option<Kept> {
        self.total -= 1;
        let at = self.kept.binary_search_by_key(&digest, |kept| kept.digest).ok()?;
        Some(self.kept.remove(at))
    }

    /// Adds all photos of another class.
    pub fn merge(&mut self, other: Self) {
        let known_to = [&*self, &other].into_iter().filter(|class| !class.is_complete());
        let known_to = known_to.map(|class| class.kept.last().map(|kept| kept.digest)).min();
        self.total += other.total;
        other.given.into_iter().for_each(|photo| {
            self.add_given(photo);
        });
        self.kept.extend(other.kept);
        self.kept.sort_by_key(|kept| kept.digest);
        if let Some(last) = known_to {
            self.kept.retain(|kept| Some(kept.digest) <= last);
        }
    }

    /// Keeps at most `most` photos.
    pub fn trim(&mut self, most: usize) {
        self.kept.truncate(most);
    }
}

/// Of fewer photos of a class none is held out.
pub(crate) const FEWEST: usize = 5;

/// How many photos of a class are held out: one in ten, at least one of five, at most `most`.
pub(crate) fn held_out(photos: usize, most: usize) -> usize {
    const ONE_IN: usize = 10;
    if photos < FEWEST { 0 } else { (photos / ONE_IN).max(1).min(most) }
}

/// The largest share of each class, so that all shares together fit into `capacity`: at least one.
pub(crate) fn share(photos: &[usize], capacity: usize) -> usize {
    let fits = |share: usize| photos.iter().map(|photos| *photos.min(&share)).sum::<usize>() <= capacity;
    let (mut fitting, mut beyond) = (1, photos.iter().max().map_or(1, |most| (*most).max(1)) + 1);
    while beyond - fitting > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(number: usize) -> Kept {
        let digest = Digest::of(&number.to_le_bytes());
        Kept { digest, source: number.to_string(), feature: Feature::from_raw([1]), thumbnail: Vec::new().into() }
    }

    fn class(numbers: impl IntoIterator<Item = usize>, most: usize) -> OfClass {
        numbers.into_iter().fold(OfClass::default(), |mut class, number| {
            class.add(photo(number));
            class.trim(most);
            class
        })
    }

    #[test]
    fn the_smallest_digests_are_kept_whatever_the_order() {
        let whole = class(0..50, 50);
        assert!(whole.is_complete());
        let mut trimmed = whole.clone();
        trimmed.trim(20);
        assert_eq!(class(0..50, 20), trimmed);
        assert_eq!(class((0..50).rev(), 20), trimmed);
        let mut merged = class(0..30, 20);
        merged.merge(class(30..50, 50));
        assert_eq!(merged.total(), 50);
        assert_eq!(merged.kept(), &whole.kept()[..merged.kept().len()]);
        assert!(merged.kept().len() >= 20 && !merged.is_complete());
        let gone = trimmed.kept()[3].digest;
        assert_eq!(trimmed.remove(gone).unwrap().digest, gone);
        assert_eq!(trimmed.remove(whole.kept()[40].digest), None, "not kept, but counted");
        assert_eq!((trimmed.kept().len(), trimmed.total()), (19, 48));
    }

    #[test]
    fn one_in_ten_is_held_out_and_shares_fill_the_memory() {
        let expected = [(4, 0), (5, 1), (19, 1), (20, 2), (499, 49), (9000, 50)];
        assert_eq!(expected.map(|(photos, _)| (photos, held_out(photos, 50))), expected);
        assert_eq!(held_out(100, 0), 0);
        assert_eq!(share(&[10, 10, 10], 30), 10);
        assert_eq!(share(&[1000, 10, 10], 120), 100);
        assert_eq!(share(&[1000, 1000], 1), 1);
        assert_eq!(share(&[], 5), 1);
    }
}
