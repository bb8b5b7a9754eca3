//! Which images of a visit are learned, which are kept back, and which are known already.
//!
//! An image's side is a fixed function of its pixels, and what was learned or kept back once stays
//! so: the same photo never changes sides.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal::sample::Class;

use crate::{Digest, Photo, Version};

/// One image in so many is kept back.
const ONE_IN: u64 = 10;
/// A class has an exam once it has so many images; no more than one in so many are kept back.
const FEWEST: usize = 5;

/// The images of a visit by what becomes of them.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// What is new and learned.
    pub lesson: Vec<(Digest, Photo)>,
    /// What is new and kept back.
    pub exam: Vec<(Digest, Photo)>,
    /// How many were learned or kept back in an earlier visit.
    pub seen_before: usize,
    /// How many of these as another class.
    pub seen_as_another: usize,
    /// How many came twice in this visit.
    pub twice: usize,
    /// Of these, two paths of the same image in two classes.
    pub in_two_classes: Option<(String, String)>,
}

/// Sorts the images of a visit to a model that is at `version`.
pub(crate) fn sort(photos: Vec<Photo>, version: Option<&Version>, per_class: usize) -> Sorted {
    let mut sorted = Sorted::default();
    let known: BTreeMap<Digest, Class> = version.map(Version::known).unwrap_or_default();
    let class_of = |name: &str| version.and_then(|version| version.learner.classes().find(name));
    let mut by_class: BTreeMap<String, Vec<(Digest, Photo)>> = BTreeMap::new();
    let mut first: BTreeMap<Digest, (String, String)> = BTreeMap::new();
    for photo in photos {
        let digest = Digest::of(&photo.image);
        if let Some(class) = known.get(&digest) {
            sorted.seen_before += 1;
            sorted.seen_as_another += usize::from(class_of(&photo.class) != Some(*class));
        } else if let Some((class, source)) = first.get(&digest) {
            sorted.twice += 1;
            if *class != photo.class && sorted.in_two_classes.is_none() {
                sorted.in_two_classes = Some((source.clone(), photo.source));
            }
        } else {
            first.insert(digest, (photo.class.clone(), photo.source.clone()));
            by_class.entry(photo.class.clone()).or_default().push((digest, photo));
        }
    }
    for (name, photos) in by_class {
        let class = class_of(&name);
        let of_class = |class: Class| {
            let asked = version.and_then(|version| version.exam.by_class().get(&class).copied()).unwrap_or(0);
            (asked, known.values().filter(|known| **known == class).count())
        };
        let (asked, before) = class.map_or((0, 0), of_class);
        let kept_back = kept_back(&photos, asked, before + photos.len(), per_class);
        for photo in photos {
            if kept_back.contains(&photo.0) { sorted.exam.push(photo) } else { sorted.lesson.push(photo) }
        }
    }
    sorted
}

/// Which of a class's new images are kept back, where `asked` are already, of `total` images in all.
fn kept_back(photos: &[(Digest, Photo)], asked: usize, total: usize, per_class: usize) -> BTreeSet<Digest> {
    let most = per_class.min(total / FEWEST).saturating_sub(asked);
    let all: BTreeSet<Digest> = photos.iter().map(|(digest, _)| *digest).collect();
    let chosen: BTreeSet<Digest> =
        all.iter().copied().filter(|digest| digest.number() % ONE_IN == 0).take(most).collect();
    // A class that chance has left without one gets one.
    if chosen.is_empty() && asked == 0 { all.into_iter().take(most.min(1)).collect() } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(class: &str, number: usize) -> Photo {
        let image = (class.to_owned() + &number.to_string()).into_bytes();
        Photo { class: class.into(), source: format!("{class}/{number}.jpg"), image: image.into() }
    }

    fn photos(class: &str, count: usize) -> Vec<Photo> {
        (0..count).map(|number| photo(class, number)).collect()
    }

    #[test]
    fn one_in_ten_is_kept_back_and_one_of_five_at_least() {
        let many = sort(photos("boots", 1000), None, 500);
        assert!((70..130).contains(&many.exam.len()), "{}", many.exam.len());
        assert_eq!(many.lesson.len() + many.exam.len(), 1000);
        assert_eq!(sort(photos("boots", 1000), None, 50).exam.len(), 50);
        assert_eq!(sort(photos("boots", 1000), None, 0).exam.len(), 0);
        for class in ["a", "b", "c", "d", "e", "f", "g"] {
            for (count, most) in [(1, 0), (4, 0), (5, 1), (9, 1), (10, 2)] {
                let exam = sort(photos(class, count), None, 50).exam.len();
                assert!(exam <= most && exam >= most.min(1), "{class}: {exam} of {count}");
            }
        }
    }

    #[test]
    fn a_side_does_not_depend_on_order_or_names() {
        let digests = |sorted: Sorted| sorted.exam.into_iter().map(|(digest, _)| digest).collect::<BTreeSet<_>>();
        let mut turned = photos("boots", 300);
        turned.reverse();
        turned.iter_mut().for_each(|photo| photo.source += "x");
        assert_eq!(digests(sort(turned, None, 50)), digests(sort(photos("boots", 300), None, 50)));
    }

    #[test]
    fn an_image_that_comes_twice_counts_once_and_two_classes_of_one_image_are_named() {
        let mut twice = photos("boots", 20);
        twice.extend(photos("boots", 20));
        twice.push(Photo { class: "clogs".into(), source: "clogs/x.jpg".into(), ..photo("boots", 3) });
        let sorted = sort(twice, None, 50);
        assert_eq!((sorted.lesson.len() + sorted.exam.len(), sorted.twice), (20, 21));
        assert_eq!(sorted.in_two_classes, Some(("boots/3.jpg".into(), "clogs/x.jpg".into())));
    }
}
