//! The three promises, on bytes: order does not matter, nothing is forgotten, a change leaves what never
//! was otherwise.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Contents, Features};

const DIMENSIONS: usize = 6;
const NAMES: [&str; 4] = ["boots", "clogs", "mules", "pumps"];

fn photo(number: u32) -> Kept {
    let digest = Digest::of(&number.to_le_bytes());
    // Pseudo-random, with a tint per class of `number`.
    let value = |i: usize| {
        let noise = Digest::of(&[&number.to_le_bytes()[..], &[i as u8]].concat()).bytes()[0];
        f32::from(noise) + if i == number as usize % NAMES.len() { 300.0 } else { 0.0 }
    };
    let feature = Feature::new(&(0..DIMENSIONS).map(value).collect::<Vec<_>>()).unwrap();
    Kept { digest, source: format!("{number}.jpg"), feature, thumbnail: vec![number as u8; 3].into() }
}

fn empty(capacity: usize) -> Exact {
    let backbone = BackboneId { name: "test".into(), sha256: "0".repeat(64), size: 8 };
    Exact { capacity, holdout_per_class: 3, ..Exact::new(backbone, DIMENSIONS) }
}

/// From scratch, all at once, in the order of classes.
fn joint(photos: &BTreeMap<u32, usize>, capacity: usize) -> Exact {
    let mut exact = empty(capacity);
    for (class, name) in NAMES.iter().enumerate() {
        let of_class: Vec<Kept> = photos.iter().filter(|(_, of)| **of == class).map(|(n, _)| photo(*n)).collect();
        if !of_class.is_empty() {
            exact.add(name, of_class);
        }
    }
    exact.update().unwrap();
    exact
}

/// The bytes of its file.
fn bytes(exact: &Exact) -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("version");
    exact.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// One change of a model.
#[derive(Clone, Debug)]
enum Step {
    Learn(Vec<(u32, usize)>),
    Remove(Vec<u32>),
    Move(Vec<u32>, usize),
    Relabel(Vec<u32>, usize),
    Merge(usize, usize),
    Retire(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (number, class) = (0..60u32, 0..NAMES.len());
    let step = prop_oneof![
        4 => prop::collection::vec((number.clone(), class.clone()), 1..25).prop_map(Step::Learn),
        2 => prop::collection::vec(number.clone(), 1..6).prop_map(Step::Remove),
        2 => (prop::collection::vec(number, 1..4), class.clone()).prop_map(|(photos, to)| Step::Move(photos, to)),
        2 => (prop::collection::vec(0..60u32, 1..6), class.clone()).prop_map(|(photos, to)| Step::Relabel(photos, to)),
        1 => (class.clone(), class.clone()).prop_map(|(from, to)| Step::Merge(from, to)),
        1 => class.prop_map(Step::Retire),
    ];
    prop::collection::vec(step, 1..12)
}

/// Does a step to a model and to the set of photos that it should be made of; if the model refuses,
/// neither changes.
fn apply(exact: &mut Exact, photos: &mut BTreeMap<u32, usize>, step: &Step) {
    let (mut next, mut set) = (exact.clone(), photos.clone());
    let digests = |numbers: &[u32]| numbers.iter().map(|number| photo(*number).digest).collect::<BTreeSet<_>>();
    let features: Features = (0..60).map(|number| (photo(number).digest, photo(number).feature)).collect();
    let done = match step {
        Step::Learn(list) => {
            for (number, class) in list {
                if set.insert(*number, *class).is_some() {
                    let known = photos.get(number).copied();
                    let first = list.iter().find(|(other, _)| other == number).map_or(*class, |(_, class)| *class);
                    set.insert(*number, known.unwrap_or(first));
                } else {
                    next.add(NAMES[*class], vec![photo(*number)]);
                }
            }
            if next.classes.len() < 2 {
                return;
            }
            next.update()
        }
        Step::Remove(numbers) => {
            numbers.iter().for_each(|number| {
                set.remove(number);
            });
            next.remove_photos(&digests(numbers), &features).map(drop)
        }
        Step::Move(numbers, to) => {
            for (number, class) in &mut set {
                *class = if numbers.contains(number) { *to } else { *class };
            }
            next.move_photos(&digests(numbers), NAMES[*to]).map(drop)
        }
        Step::Relabel(numbers, to) => {
            for number in numbers {
                if let Some(class) = set.get_mut(number) {
                    *class = *to;
                    next.relabel(photo(*number), NAMES[*to]);
                }
            }
            if next.classes.len() < 2 {
                return;
            }
            next.update()
        }
        Step::Merge(from, to) => {
            set.values_mut().filter(|class| **class == *from).for_each(|class| *class = *to);
            next.merge(NAMES[*from], NAMES[*to])
        }
        Step::Retire(class) => {
            set.retain(|_, of| of != class);
            next.retire_class(NAMES[*class], &features)
        }
    };
    match done {
        Ok(()) => (*exact, *photos) = (next, set),
        Err(ModelError::LastClasses(_) | ModelError::NoSuchClass(_) | ModelError::NotKept { .. }) => {}
        Err(error) => panic!("{step:?}: {error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_history_leaves_the_bytes_of_learning_what_is_left_at_once(steps in steps()) {
        let (mut exact, mut photos) = (empty(1000), BTreeMap::new());
        for step in &steps {
            apply(&mut exact, &mut photos, step);
        }
        if exact.classes.len() >= 2 {
            prop_assert_eq!(bytes(&exact), bytes(&joint(&photos, 1000)));
        }
    }

    #[test]
    fn a_small_memory_changes_no_head_and_no_holdout_set(steps in steps()) {
        let (mut exact, mut photos) = (empty(8), BTreeMap::new());
        for step in &steps {
            apply(&mut exact, &mut photos, step);
        }
        if exact.classes.len() >= 2 {
            let joint = joint(&photos, 8);
            prop_assert_eq!(&exact.head, &joint.head);
            prop_assert_eq!(&exact.sums, &joint.sums);
            prop_assert_eq!(exact.measuring_head(), joint.measuring_head());
            prop_assert_eq!(exact.holdout_photos().collect::<Vec<_>>(), joint.holdout_photos().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_version_comes_back_from_its_file_and_damage_is_refused() {
    let photos: BTreeMap<u32, usize> = (0..50).map(|number| (number, number as usize % 3)).collect();
    let exact = joint(&photos, 20);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("version");
    exact.write(&path).unwrap();
    let load = || {
        let reader = rehearsal_files::model_file::Reader::open(&path, rehearsal_files::model_file::FORMAT)?;
        Exact::load(&path, reader).map(|(exact, _)| exact)
    };
    let again = load().unwrap();
    assert_eq!(bytes(&again), bytes(&exact));
    let input = |number: u32| Input::Features(photo(number).feature);
    assert_eq!(again.predict(&[input(3)]).unwrap(), exact.predict(&[input(3)]).unwrap());
    assert_eq!(again.held(), exact.held());
    let whole = std::fs::read(&path).unwrap();
    for index in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[index] ^= 1 << (index % 8);
        std::fs::write(&path, &damaged).unwrap();
        assert!(load().is_err(), "byte {index} was believed");
    }
}

#[test]
fn the_holdout_set_is_measured_before_it_is_learned_and_the_most_similar_photos_are_named() {
    let photos: BTreeMap<u32, usize> = (0..60).map(|number| (number, number as usize % 4)).collect();
    let exact = joint(&photos, 1000);
    let held: BTreeSet<Digest> = exact.holdout_photos().map(|(_, kept)| kept.digest).collect();
    assert_eq!(held.len(), 4, "one of fifteen photos of each class");
    assert!(held.iter().all(|digest| exact.is_fair_to(*digest) && exact.has_learned(*digest)));
    assert!(exact.memory_photos().all(|(_, kept)| !exact.is_fair_to(kept.digest)));
    assert_eq!((exact.learned(), exact.held().len()), (60, 60));
    assert_eq!(exact.measured, exact.measure_with(&exact.measuring_head(), &exact.holdout()).unwrap());
    let measured = exact.measure(&exact.holdout()).unwrap();
    assert_eq!(measured, exact.holdout_answers().unwrap());
    let (class, kept) = exact.memory_photos().next().unwrap();
    let similar = exact.similar(&Input::Features(kept.feature.clone()), 3);
    assert_eq!((similar.len(), &similar[0].source, &similar[0].class), (3, &kept.source, class));
    assert!((similar[0].similarity - 1.0).abs() < 1e-6 && similar[1].similarity < 1.0);
}

#[test]
fn a_holdout_set_that_is_given_takes_the_place_of_the_tenth_and_can_be_changed() {
    let photos: BTreeMap<u32, usize> = (0..60).map(|number| (number, number as usize % 4)).collect();
    let mut exact = joint(&photos, 1000);
    let plain = bytes(&exact);
    for number in 100..140 {
        let class: Arc<str> = NAMES[number as usize % 4].into();
        assert!(exact.classes.get_mut(&class).unwrap().add_given(photo(number)));
    }
    exact.update().unwrap();
    assert_eq!((exact.holdout_photos().count(), exact.memory_photos().count()), (40, 60));
    assert!(exact.holdout_photos().all(|(_, kept)| exact.is_fair_to(kept.digest) && !exact.has_learned(kept.digest)));
    assert_eq!(exact.head, joint(&photos, 1000).head, "it is not learned");
    assert_eq!((exact.near_duplicates() + exact.holdout().len(), exact.measured.len()), (40, exact.holdout().len()));
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("version");
    exact.write(&path).unwrap();
    let reader = rehearsal_files::model_file::Reader::open(&path, rehearsal_files::model_file::FORMAT).unwrap();
    assert_eq!(bytes(&Exact::load(&path, reader).unwrap().0), bytes(&exact));
    assert_eq!(exact.move_photos(&BTreeSet::from([photo(100).digest]), NAMES[1]).unwrap(), 1);
    assert_eq!(exact.given_as(photo(100).digest).map(|name| &**name), Some(NAMES[1]));
    let all: BTreeSet<Digest> = (100..140).map(|number| photo(number).digest).collect();
    assert_eq!(exact.remove_photos(&all, &Features::new()).unwrap().holdout, 40);
    assert_eq!(bytes(&exact), plain, "as if it had never been given");
}
