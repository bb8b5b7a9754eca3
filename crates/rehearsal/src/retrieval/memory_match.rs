//! Memory matching: a few random samples, each with a partner of its class.

use super::{Retrieval, Retrieved};
use crate::{memory::Memory, probe::Probe, rng::Rng, sample::Slot};

/// How often a draw without a partner for everyone is made again before giving up.
const TRIES: usize = 100;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMatch {
    /// How many pairs.
    pub pairs: usize,
    /// Nothing is retrieved until more than so many samples were presented.
    pub warm_up: u64,
}

impl Retrieval for MemoryMatch {
    /// The drawn, then their partners in the same order; at random where the memory has no such
    /// pairs.
    fn retrieve(&self, memory: &Memory, _: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        if memory.presented() <= self.warm_up {
            return Vec::new();
        }
        let by_class = memory.by_class();
        let enough = memory.len() >= 2 * self.pairs;
        let matched = enough.then(|| (0..TRIES).find_map(|_| matched(memory, &by_class, self.pairs, rng))).flatten();
        let slots = matched.unwrap_or_else(|| memory.draw(2 * self.pairs, rng));
        slots.into_iter().map(Retrieved::from).collect()
    }
}

/// One draw and its partners, all distinct; none where a class has no partner left.
fn matched(memory: &Memory, by_class: &[Vec<Slot>], pairs: usize, rng: &mut Rng) -> Option<Vec<Slot>> {
    let mut slots = memory.draw(pairs, rng);
    for drawn in 0..pairs {
        let class = &by_class[memory.label(slots[drawn]).index()];
        let others: Vec<Slot> = class.iter().copied().filter(|slot| !slots.contains(slot)).collect();
        if others.is_empty() {
            return None;
        }
        slots.push(others[rng.below(others.len() as u64) as usize]);
    }
    Some(slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::full, rng::RngStream};

    fn retrieve(labels: &[u16], warm_up: u64, seed: u64) -> Vec<(usize, u16)> {
        let memory = full(labels);
        let mut rng = Rng::new(seed, RngStream::Retrieval, &[]);
        let slots = MemoryMatch { pairs: 5, warm_up }.retrieve(&memory, &mut (), &mut rng);
        slots.into_iter().map(|retrieved| (retrieved.slot.0, memory.label(retrieved.slot).0)).collect()
    }

    #[test]
    fn every_drawn_sample_has_a_partner_of_its_class() {
        let labels: Vec<u16> = (0..60).map(|slot| slot % 6).collect();
        for seed in 0..50 {
            let slots = retrieve(&labels, 40, seed);
            assert_eq!(slots.len(), 10);
            for (drawn, partner) in slots[..5].iter().zip(&slots[5..]) {
                assert_eq!(drawn.1, partner.1);
            }
            let mut distinct: Vec<usize> = slots.iter().map(|(slot, _)| *slot).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 10);
        }
    }

    #[test]
    fn nothing_until_warm_and_at_random_without_partners() {
        assert!(retrieve(&[0; 40], 40, 0).is_empty(), "40 presentations are not more than 40");
        assert_eq!(retrieve(&[0; 41], 40, 0).len(), 10);
        let all_different: Vec<u16> = (0..50).collect();
        assert_eq!(retrieve(&all_different, 40, 0).len(), 10, "no class has a partner: random");
        assert_eq!(retrieve(&[0; 7], 0, 0).len(), 7, "fewer stored than asked: all of them");
    }
}
