//! The holdout set: images that are never trained on, kept in every version.

use std::collections::BTreeMap;

use rehearsal::{
    learner::Classes,
    sample::{Class, Image},
};

use super::Photo;
use crate::Digest;

/// An image of the holdout set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldoutImage {
    /// The pixels.
    pub image: Image,
    /// Its class.
    pub class: Class,
    /// Its identity.
    pub digest: Digest,
    /// The path it came from.
    pub source: String,
}

/// The holdout set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdout {
    images: Vec<HoldoutImage>,
}

impl Holdout {
    /// Of these images.
    pub(crate) fn new(images: Vec<HoldoutImage>) -> Self {
        Self { images }
    }

    /// Its images.
    pub fn images(&self) -> &[HoldoutImage] {
        &self.images
    }

    /// How many there are of each class.
    pub fn by_class(&self) -> BTreeMap<Class, usize> {
        self.images.iter().fold(BTreeMap::new(), |mut counts, image| {
            *counts.entry(image.class).or_default() += 1;
            counts
        })
    }

    /// Adds images; their classes must be known.
    pub(crate) fn add(&mut self, photos: Vec<Photo>, classes: &Classes) {
        for Photo { class, source, image, digest } in photos {
            let class = classes.find(&class).expect("the classes of a session are known");
            self.images.push(HoldoutImage { image, class, digest, source });
        }
    }

    /// Removes the images that `which` selects; returns how many.
    pub(crate) fn remove(&mut self, mut which: impl FnMut(&HoldoutImage) -> bool) -> usize {
        let before = self.images.len();
        self.images.retain(|image| !which(image));
        before - self.images.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_counted_and_removed_by_class() {
        let image = |class: u16, number: u8| HoldoutImage {
            image: vec![number].into(),
            class: Class(class),
            digest: Digest::of(&[number]),
            source: format!("{number}.png"),
        };
        let mut holdout = Holdout::new(vec![image(0, 1), image(1, 2), image(0, 3)]);
        assert_eq!(holdout.by_class(), BTreeMap::from([(Class(0), 2), (Class(1), 1)]));
        assert_eq!(holdout.remove(|image| image.class == Class(0)), 2);
        assert_eq!(holdout.by_class(), BTreeMap::from([(Class(1), 1)]));
    }
}
