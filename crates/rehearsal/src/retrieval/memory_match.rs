//! Memory matching: a few random samples, each with a partner of its class.

use super::{Retrieval, Retrieved};
use crate::{memory::Memory, probe::Probe, rng::Rng, sample::Slot};

/// How often a draw without a partner for everyone is made again before giving up.
const TRIES: usize = 100;
/// Nothing is retrieved until more samples than this were seen.
const WARM_UP: u64 = 40;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMatch;

impl Retrieval for MemoryMatch {
    /// The drawn, then their partners in the same order; at random where the memory has no such pairs.
    fn retrieve(&self, count: usize, memory: &Memory, _: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        if memory.samples_seen() <= WARM_UP {
            return Vec::new();
        }
        let (pairs, by_class) = (count / 2, memory.by_class());
        let enough = memory.len() >= 2 * pairs;
        let matched = enough.then(|| (0..TRIES).find_map(|_| matched(memory, &by_class, pairs, rng))).flatten();
        let slots = matched.unwrap_or_else(|| memory.draw(2 * pairs, rng));
        slots.into_iter().map(Retrieved::from).collect()
    }
}

/// One draw and its partners, all distinct; none if a class has no partner left.
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
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        memory::testing::{full, sample},
        rng::RngStream,
    };

    /// The slots that are retrieved from a memory that has seen these labels, and then as
    /// many more samples as it takes to warm it up.
    fn retrieve(labels: &[u16], pairs: usize, seed: u64) -> Vec<(usize, u16)> {
        let mut memory = full(labels);
        while memory.samples_seen() <= WARM_UP {
            memory.place(sample(0, 0).into(), None);
        }
        let mut rng = Rng::new(seed, RngStream::Retrieval, &[]);
        let slots = MemoryMatch.retrieve(2 * pairs, &memory, &mut (), &mut rng);
        slots.into_iter().map(|retrieved| (retrieved.slot.0, memory.label(retrieved.slot).0)).collect()
    }

    fn distinct(slots: &[(usize, u16)]) -> Vec<usize> {
        slots.iter().map(|(slot, _)| *slot).collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn every_drawn_sample_has_a_partner_of_its_class() {
        let labels: Vec<u16> = (0..60).map(|slot| slot % 6).collect();
        for seed in 0..50 {
            let slots = retrieve(&labels, 5, seed);
            assert_eq!(slots.len(), 10);
            for (drawn, partner) in slots[..5].iter().zip(&slots[5..]) {
                assert_eq!(drawn.1, partner.1);
            }
            assert_eq!(distinct(&slots).len(), 10);
        }
    }

    #[test]
    fn nothing_until_more_than_the_warm_up_were_seen() {
        let retrieved = |labels: &[u16]| {
            let memory = full(labels);
            MemoryMatch.retrieve(10, &memory, &mut (), &mut Rng::new(0, RngStream::Retrieval, &[])).len()
        };
        assert_eq!((retrieved(&[0; 40]), retrieved(&[0; 41])), (0, 10));
    }

    #[test]
    fn without_partners_slots_are_drawn_at_random() {
        let all_different: Vec<u16> = (0..50).collect();
        let mut drawn = BTreeSet::new();
        for seed in 0..100 {
            let slots = retrieve(&all_different, 5, seed);
            assert_eq!(distinct(&slots).len(), 10, "no slot twice");
            drawn.extend(distinct(&slots));
        }
        assert_eq!(drawn.len(), 50, "each slot in one of 100 draws");
        let few = retrieve(&[0; 7], 5, 0);
        assert_eq!((few.len(), distinct(&few)), (7, (0..7).collect()), "fewer stored than asked: all of them");
    }
}
