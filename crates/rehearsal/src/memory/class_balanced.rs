//! A reservoir per class within one memory: the largest class gives way, so that rare classes are
//! kept whole and frequent ones sampled uniformly (Chrysakis and Moens, 2020).

use super::{Memorized, Memory, Policy, fill};
use crate::{
    rng::Rng,
    sample::{Class, Slot},
    sample_probe::SampleProbe,
};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassBalanced;

impl Policy for ClassBalanced {
    fn insert(&self, memory: &mut Memory, samples: Vec<Memorized>, _: &mut dyn SampleProbe, rng: &mut Rng) {
        let left = fill(memory, samples);
        let mut classes = memory.by_class();
        for sample in left {
            let label = sample.sample.label;
            let slot = slot_for(memory, &classes, label, rng);
            if let Some(slot) = slot {
                classes[memory.label(slot).index()].retain(|other| *other != slot);
                classes.resize(classes.len().max(label.index() + 1), Vec::new());
                classes[label.index()].push(slot);
            }
            memory.place(sample, slot);
        }
    }
}

/// Where a sample of class `label` goes in a full memory, whose slots by class are `classes`. A
/// class that is among the largest, or has given way before, is a reservoir of its own; any other
/// grows at the cost of a largest one.
fn slot_for(memory: &Memory, classes: &[Vec<Slot>], label: Class, rng: &mut Rng) -> Option<Slot> {
    let largest = classes.iter().map(Vec::len).max().filter(|&largest| largest > 0)?;
    let own = classes.get(label.index()).map_or(&[][..], Vec::as_slice);
    let seen = memory.seen_by_class().get(label.index()).copied().unwrap_or(0);
    let has_given_way = (own.len() as u64) < seen;
    if own.len() == largest || has_given_way {
        // One of `seen + 1` samples: each is kept with the same probability.
        let drawn = rng.below(seen + 1) as usize;
        return own.get(drawn).copied();
    }
    let among: Vec<Slot> = classes.iter().filter(|slots| slots.len() == largest).flatten().copied().collect();
    Some(among[rng.below(among.len() as u64) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::sample, rng::RngStream};

    fn counts(memory: &Memory) -> Vec<usize> {
        memory.by_class().iter().map(Vec::len).collect()
    }

    #[test]
    fn rare_classes_are_kept_whole_and_frequent_ones_share_the_rest() {
        let mut memory = Memory::new(30);
        let mut rng = Rng::new(0, RngStream::Reservoir, &[]);
        let labels = (0..600).map(|i| if i % 100 == 7 { 2 } else { (i % 2) as u16 });
        for label in labels {
            ClassBalanced.insert(&mut memory, vec![sample(label, 0).into()], &mut (), &mut rng);
        }
        assert_eq!(counts(&memory), [12, 12, 6], "all six of the rare class");
        assert_eq!((memory.len(), memory.samples_seen()), (30, 600));
    }

    #[test]
    fn within_a_class_every_sample_is_kept_with_the_same_probability() {
        let mut kept = [0f64; 50];
        let trials = 4000;
        for trial in 0..trials {
            let mut memory = Memory::new(10);
            let mut rng = Rng::new(0, RngStream::Reservoir, &[trial]);
            let samples = (0..50).flat_map(|id| [sample(0, id).into(), sample(1, id).into()]).collect();
            ClassBalanced.insert(&mut memory, samples, &mut (), &mut rng);
            for stored in memory.slots().iter().filter(|stored| stored.sample.label.0 == 1) {
                kept[usize::from(stored.sample.image[0])] += 1.0;
            }
        }
        let expected = trials as f64 * 5.0 / 50.0;
        let chi_square: f64 = kept.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi_square < 95.0, "49 degrees of freedom, p < 1e-4 at 95: {chi_square}");
    }
}
