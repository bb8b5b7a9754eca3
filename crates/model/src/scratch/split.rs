//! The holdout split: which images of a session are learned, which are held out, and which are known.
//!
//! The split is a function of an image's digest, and an image that was learned or held out once stays
//! so: the same photo never changes sides.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal::sample::Class;

use super::{Photo, Scratch};
use crate::{Digest, Relabel, exact::FEWEST};

/// One image in ten is held out.
const ONE_IN: u64 = 10;

/// The images of a session.
#[derive(Debug, Default)]
pub(crate) struct Split {
    /// New images to learn.
    pub training: Vec<Photo>,
    /// New images that are held out.
    pub holdout: Vec<Photo>,
    /// How many are of earlier sessions.
    pub seen_before: usize,
    /// Those of them that have another class now.
    pub as_another: Vec<Relabel>,
    /// How many are duplicates in this session.
    pub twice: usize,
    /// The paths of a duplicate in two classes.
    pub in_two_classes: Option<(String, String)>,
}

/// Splits the images of a session that starts from `version`.
pub(crate) fn split(photos: Vec<Photo>, version: Option<&Scratch>, per_class: usize) -> Split {
    let mut split = Split::default();
    let known: BTreeMap<Digest, Class> = version.map(Scratch::known).unwrap_or_default();
    let class_of = |name: &str| version.and_then(|version| version.learner.classes().find(name));
    let mut by_class: BTreeMap<String, Vec<Photo>> = BTreeMap::new();
    let mut first: BTreeMap<Digest, (String, String)> = BTreeMap::new();
    let mut as_another: BTreeMap<(String, String), usize> = BTreeMap::new();
    for photo in photos {
        let digest = photo.digest;
        if let Some(class) = known.get(&digest) {
            split.seen_before += 1;
            if let Some(version) = version.filter(|_| class_of(&photo.class) != Some(*class)) {
                *as_another.entry((version.learner.classes().name(*class).to_string(), photo.class)).or_default() += 1;
            }
        } else if let Some((class, source)) = first.get(&digest) {
            split.twice += 1;
            if *class != photo.class && split.in_two_classes.is_none() {
                split.in_two_classes = Some((source.clone(), photo.source));
            }
        } else {
            first.insert(digest, (photo.class.clone(), photo.source.clone()));
            by_class.entry(photo.class.clone()).or_default().push(photo);
        }
    }
    split.as_another = as_another.into_iter().map(|((from, to), photos)| Relabel { from, to, photos }).collect();
    for (name, photos) in by_class {
        let class = class_of(&name);
        let of_class = |class: Class| {
            let asked = version.and_then(|version| version.holdout.by_class().get(&class).copied()).unwrap_or(0);
            (asked, known.values().filter(|known| **known == class).count())
        };
        let (asked, before) = class.map_or((0, 0), of_class);
        // What was learned once does not measure.
        let is_fresh = |photo: &&Photo| version.is_none_or(|version| !version.once.contains(&photo.digest));
        let fresh = photos.iter().filter(is_fresh).map(|photo| photo.digest).collect();
        let held_out = held_out(fresh, asked, before + photos.len(), per_class);
        for photo in photos {
            if held_out.contains(&photo.digest) { split.holdout.push(photo) } else { split.training.push(photo) }
        }
    }
    split
}

/// The new images of a class to hold out, if `before` of its `total` images are already.
fn held_out(all: BTreeSet<Digest>, asked: usize, total: usize, per_class: usize) -> BTreeSet<Digest> {
    // A class has a holdout image once it has five images; at most one in five is held out.
    let most = per_class.min(total / FEWEST).saturating_sub(asked);
    let chosen: BTreeSet<Digest> =
        all.iter().copied().filter(|digest| digest.number() % ONE_IN == 0).take(most).collect();
    // A class without one by chance gets one.
    if chosen.is_empty() && asked == 0 { all.into_iter().take(most.min(1)).collect() } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(class: &str, number: usize) -> Photo {
        let digest = Digest::of(format!("{class}{number}").as_bytes());
        Photo { class: class.into(), source: format!("{class}/{number}.jpg"), image: vec![0].into(), digest }
    }

    fn photos(class: &str, count: usize) -> Vec<Photo> {
        (0..count).map(|number| photo(class, number)).collect()
    }

    #[test]
    fn one_in_ten_is_held_out_and_one_of_five_at_least() {
        let many = split(photos("boots", 1000), None, 500);
        assert!((70..130).contains(&many.holdout.len()), "{}", many.holdout.len());
        assert_eq!(many.training.len() + many.holdout.len(), 1000);
        assert_eq!(split(photos("boots", 1000), None, 50).holdout.len(), 50);
        assert_eq!(split(photos("boots", 1000), None, 0).holdout.len(), 0);
        for class in ["a", "b", "c", "d", "e", "f", "g"] {
            for (count, most) in [(1, 0), (4, 0), (5, 1), (9, 1), (10, 2)] {
                let holdout = split(photos(class, count), None, 50).holdout.len();
                assert!(holdout <= most && holdout >= most.min(1), "{class}: {holdout} of {count}");
            }
        }
    }

    #[test]
    fn a_side_does_not_depend_on_order_or_names() {
        let digests = |split: Split| split.holdout.into_iter().map(|photo| photo.digest).collect::<BTreeSet<_>>();
        let mut turned = photos("boots", 300);
        turned.reverse();
        turned.iter_mut().for_each(|photo| photo.source += "x");
        assert_eq!(digests(split(turned, None, 50)), digests(split(photos("boots", 300), None, 50)));
    }

    #[test]
    fn an_image_that_comes_twice_counts_once_and_two_classes_of_one_image_are_named() {
        let mut twice = photos("boots", 20);
        twice.extend(photos("boots", 20));
        twice.push(Photo { class: "clogs".into(), source: "clogs/x.jpg".into(), ..photo("boots", 3) });
        let split = split(twice, None, 50);
        assert_eq!((split.training.len() + split.holdout.len(), split.twice), (20, 21));
        assert_eq!(split.in_two_classes, Some(("boots/3.jpg".into(), "clogs/x.jpg".into())));
    }
}
