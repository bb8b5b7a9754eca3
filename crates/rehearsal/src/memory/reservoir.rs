//! Textbook reservoir sampling: every sample seen so far is in memory with the same probability.

use super::{Memorized, Memory, Policy};
use crate::{rng::Rng, sample::Slot, sample_probe::SampleProbe};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reservoir;

impl Policy for Reservoir {
    fn insert(&self, memory: &mut Memory, samples: Vec<Memorized>, _: &mut dyn SampleProbe, rng: &mut Rng) {
        for sample in samples {
            let slot = slot_for(memory.samples_seen(), memory.capacity, |bound| rng.below(bound));
            memory.place(sample, slot);
        }
    }
}

/// Where sample number `seen` (from 0) goes; `draw(bound)` is uniform in `0..bound`.
fn slot_for(seen: u64, capacity: usize, draw: impl FnOnce(u64) -> u64) -> Option<Slot> {
    let capacity = capacity as u64;
    let slot = if seen < capacity { seen } else { draw(seen + 1) };
    (slot < capacity).then_some(Slot(slot as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::sample, rng::RngStream};

    fn insert(memory: &mut Memory, labels: impl Iterator<Item = u16>, position: u64) {
        let samples = labels.map(|label| sample(label, 0).into()).collect();
        Reservoir.insert(memory, samples, &mut (), &mut Rng::new(0, RngStream::Reservoir, &[position]));
    }

    fn labels(memory: &Memory) -> Vec<u16> {
        memory.slots().iter().map(|stored| stored.sample.label.0).collect()
    }

    #[test]
    fn v8_injected_draws() {
        let mut memory = Memory::new(3);
        let mut draws = [(4, 1), (5, 4), (6, 0)].into_iter();
        for id in 0..6 {
            let slot = slot_for(memory.samples_seen(), memory.capacity, |bound| {
                let (expected, drawn) = draws.next().unwrap();
                assert_eq!(bound, expected, "r is uniform in 0..=n");
                drawn
            });
            memory.place(sample(id, 0).into(), slot);
        }
        let (d, c, f) = (3, 2, 5);
        assert_eq!((labels(&memory), memory.samples_seen()), (vec![f, d, c], 6));
    }

    #[test]
    fn v8_every_sample_is_kept_with_the_same_probability() {
        let mut kept = vec![0.0f64; 1000];
        let trials = 20_000;
        for trial in 0..trials {
            let mut memory = Memory::new(10);
            insert(&mut memory, 0..1000, trial);
            for label in labels(&memory) {
                kept[usize::from(label)] += 1.0;
            }
        }
        let expected = trials as f64 * 0.01;
        let chi_square: f64 = kept.iter().map(|count| (count - expected).powi(2) / expected).sum();
        // 999 degrees of freedom: mean 999, standard deviation 45; drawing without replacement
        // makes it a little smaller.
        assert!((800.0..1200.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn v8_four_epochs_that_fit_are_all_kept() {
        let mut memory = Memory::new(10_000);
        for epoch in 0..4 {
            insert(&mut memory, 0..2500, epoch);
        }
        let mut labels = labels(&memory);
        labels.sort_unstable();
        assert!(labels.chunks(4).enumerate().all(|(id, slots)| slots == [id as u16; 4]));
    }

    #[test]
    fn nothing_is_kept_without_capacity() {
        let mut memory = Memory::new(0);
        insert(&mut memory, 1..2, 0);
        assert!(memory.is_empty());
    }
}
