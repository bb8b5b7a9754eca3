//! The three promises, to the bit: order does not matter, nothing is forgotten, deleting is exact.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rehearsal_gaussian::{Feature, Head, Sums};

const DIMENSIONS: usize = 9;
const CLASSES: [&str; 4] = ["boots", "clogs", "mules", "sandals"];

/// A photo: its feature by number, so that the same number is the same photo.
fn feature(number: u32) -> Feature {
    let value = |i: u32| f32::from(((number.wrapping_mul(2654435761) >> (i % 16)) & 0xff) as u8) - 100.0 + i as f32;
    let values: Vec<f32> = (0..DIMENSIONS as u32).map(value).collect();
    Feature::new(&values).expect("finite numbers")
}

/// What can happen to a model.
#[derive(Clone, Debug)]
enum Event {
    Learn(usize, Vec<u32>),
    Remove(usize),
    Move(usize, usize),
    Merge(usize, usize),
    Retire(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let class = 0..CLASSES.len();
    prop_oneof![
        4 => (class.clone(), prop::collection::vec(any::<u32>(), 1..30)).prop_map(|(class, photos)| Event::Learn(class, photos)),
        2 => any::<usize>().prop_map(Event::Remove),
        2 => (any::<usize>(), class.clone()).prop_map(|(photo, class)| Event::Move(photo, class)),
        1 => (class.clone(), class.clone()).prop_map(|(from, to)| Event::Merge(from, to)),
        1 => class.prop_map(Event::Retire),
    ]
}

/// The sums of these photos, learned at once, class by class.
fn from_scratch(photos: &[(usize, u32)]) -> Sums {
    let mut sums = Sums::new(DIMENSIONS);
    let mut by_class: BTreeMap<usize, Vec<Feature>> = BTreeMap::new();
    photos.iter().for_each(|&(class, number)| by_class.entry(class).or_default().push(feature(number)));
    by_class.iter().for_each(|(&class, features)| sums.add(CLASSES[class], features));
    sums
}

fn bits(head: &Head) -> Vec<u32> {
    head.whitening().iter().chain(head.means()).map(|value| value.to_bits()).collect()
}

proptest! {
    #[test]
    fn any_history_leaves_the_head_of_the_photos_that_are_there(events in prop::collection::vec(event(), 1..12)) {
        let mut sums = Sums::new(DIMENSIONS);
        let mut photos: Vec<(usize, u32)> = Vec::new();
        for event in events {
            match event {
                Event::Learn(class, numbers) => {
                    sums.add(CLASSES[class], &numbers.iter().map(|&number| feature(number)).collect::<Vec<_>>());
                    photos.extend(numbers.iter().map(|&number| (class, number)));
                }
                Event::Remove(index) if !photos.is_empty() => {
                    let (class, number) = photos.swap_remove(index % photos.len());
                    sums.remove(CLASSES[class], &[feature(number)]);
                }
                Event::Move(index, to) if !photos.is_empty() => {
                    let index = index % photos.len();
                    let (from, number) = photos[index];
                    sums.relabel(&[feature(number)], CLASSES[from], CLASSES[to]);
                    photos[index].0 = to;
                }
                Event::Merge(from, to) => {
                    sums.merge(CLASSES[from], CLASSES[to]);
                    photos.iter_mut().filter(|photo| photo.0 == from).for_each(|photo| photo.0 = to);
                }
                Event::Retire(class) => {
                    let of_class = photos.extract_if(.., |photo| photo.0 == class);
                    sums.remove(CLASSES[class], &of_class.map(|(_, number)| feature(number)).collect::<Vec<_>>());
                }
                Event::Remove(_) | Event::Move(..) => {}
            }
        }
        let scratch = from_scratch(&photos);
        prop_assert_eq!(&sums, &scratch);
        prop_assert_eq!(bits(&Head::new(&sums)), bits(&Head::new(&scratch)));
    }

    #[test]
    fn sessions_in_any_order_and_batches_give_the_same_head(
        photos in prop::collection::vec((0..CLASSES.len(), any::<u32>()), 2..60),
        seed in any::<u64>(),
    ) {
        let joint = from_scratch(&photos);
        let mut shuffled = photos.clone();
        shuffled.sort_by_key(|&(class, number)| seed.wrapping_mul(u64::from(number) * 4 + class as u64 + 1) >> 20);
        let mut sums = Sums::new(DIMENSIONS);
        for session in shuffled.chunks(1 + seed as usize % 7) {
            for &(class, number) in session {
                sums.add(CLASSES[class], &[feature(number)]);
            }
        }
        prop_assert_eq!(&sums, &joint);
        prop_assert_eq!(bits(&Head::new(&sums)), bits(&Head::new(&joint)));
    }
}

#[test]
fn the_head_is_linear_discriminant_analysis_shrunk_half_way() {
    // Two coordinates, computed by hand from the definition.
    let photos = [("a", [1.0f32, 0.2]), ("a", [1.0, -0.1]), ("a", [0.8, 0.3]), ("b", [0.1, 1.0]), ("b", [-0.3, 0.9])];
    let mut sums = Sums::new(2);
    let features: Vec<(&str, Feature)> =
        photos.iter().map(|(class, values)| (*class, Feature::new(values).expect("finite"))).collect();
    features.iter().for_each(|(class, feature)| sums.add(class, std::slice::from_ref(feature)));
    let head = Head::new(&sums);
    let values = |feature: &Feature| feature.values().map(f64::from).collect::<Vec<f64>>();
    let mean = |name: &str| {
        let of: Vec<Vec<f64>> = features.iter().filter(|(class, _)| *class == name).map(|(_, f)| values(f)).collect();
        [0, 1].map(|i| of.iter().map(|value| value[i]).sum::<f64>() / of.len() as f64)
    };
    let mut within = [[0.0; 2]; 2];
    for (class, feature) in &features {
        let (mean, value) = (mean(class), values(feature));
        for i in 0..2 {
            for j in 0..2 {
                within[i][j] += (value[i] - mean[i]) * (value[j] - mean[j]) / 3.0;
            }
        }
    }
    let ridge = 0.5 * (within[0][0] + within[1][1]) / 2.0;
    let [[a, b], [_, d]] = [[0.5 * within[0][0] + ridge, 0.5 * within[0][1]], [0.0, 0.5 * within[1][1] + ridge]];
    let determinant = a * d - b * b;
    for (_, feature) in &features {
        let (value, distances) = (values(feature), head.distances(feature));
        for (name, found) in head.names().iter().zip(distances) {
            let [x, y] = [0, 1].map(|i| value[i] - mean(name)[i]);
            let expected = (d * x * x - 2.0 * b * x * y + a * y * y) / determinant;
            assert!((f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected), "{found} for {expected}");
        }
    }
}

#[test]
fn classes_of_one_photo_each_are_told_apart_by_distance() {
    let mut sums = Sums::new(3);
    let feature = |values: [f32; 3]| Feature::new(&values).expect("finite");
    sums.add("a", &[feature([1.0, 0.0, 0.0])]);
    sums.add("b", &[feature([0.0, 1.0, 0.0])]);
    let distances = Head::new(&sums).distances(&feature([0.9, 0.2, 0.1]));
    assert!(distances[0] < distances[1]);
    let probabilities = Head::probabilities(&distances, 1.0);
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12 && probabilities[0] > 0.5);
}
