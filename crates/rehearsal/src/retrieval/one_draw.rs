//! Retrieval by loss change from one draw: both ends of the same candidates, which are scored once.

use super::{Retrieval, Retrieved, Side, loss_change::extreme};
use crate::{memory::Memory, probe::Probe, rng::Rng};

/// The highest of one draw, then the lowest of what is left of it: no slot twice.
#[derive(Clone, Copy, Debug)]
pub struct OneDraw {
    /// How many of the samples whose loss the coming update would raise most.
    pub high: usize,
    /// How many of those whose loss it would lower most.
    pub low: usize,
    /// How many distinct slots the draw looks at.
    pub candidates: usize,
}

impl Retrieval for OneDraw {
    /// Where fewer are stored than asked for, the high side is served first.
    fn retrieve(&self, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        let draw = memory.draw(self.candidates, rng);
        let changes = probe.loss_change(&draw);
        let mut picked = extreme(&draw, &changes, self.high, Side::High);
        let lowest = extreme(&draw, &changes, draw.len() - picked.len(), Side::Low);
        let free = |retrieved: &Retrieved| picked.iter().all(|taken| taken.slot != retrieved.slot);
        let low: Vec<Retrieved> = lowest.into_iter().filter(free).take(self.low).collect();
        picked.extend(low);
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::full, rng::RngStream, sample::Slot};

    /// The change of loss is the slot's number, seven times over modulo 40; it counts draws.
    struct Table(usize);

    impl Probe for Table {
        fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
            self.0 += 1;
            slots.iter().map(|slot| ((slot.0 * 7) % 40) as f32).collect()
        }
    }

    fn retrieve(stored: usize, high: usize, low: usize, candidates: usize) -> (Vec<(Side, f32)>, usize) {
        let (memory, mut probe) = (full(&vec![0; stored]), Table(0));
        let rng = &mut Rng::new(1, RngStream::Retrieval, &[]);
        let picked = OneDraw { high, low, candidates }.retrieve(&memory, &mut probe, rng);
        let mut slots: Vec<Slot> = picked.iter().map(|retrieved| retrieved.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), picked.len(), "no slot twice");
        (picked.iter().map(|retrieved| (retrieved.side.unwrap(), retrieved.loss_change.unwrap())).collect(), probe.0)
    }

    #[test]
    fn both_ends_of_one_draw() {
        let (picked, asked) = retrieve(40, 3, 2, 40);
        assert_eq!(asked, 1, "scored once");
        let (high, low) = (Side::High, Side::Low);
        assert_eq!(picked, [(high, 39.0), (high, 38.0), (high, 37.0), (low, 0.0), (low, 1.0)]);
    }

    #[test]
    fn too_few_for_both_ends() {
        let sides = |picked: Vec<(Side, f32)>| picked.into_iter().map(|(side, _)| side).collect::<Vec<_>>();
        assert_eq!(sides(retrieve(4, 3, 3, 50).0), [Side::High, Side::High, Side::High, Side::Low]);
        assert_eq!(sides(retrieve(2, 3, 3, 50).0), [Side::High; 2]);
        assert!(retrieve(0, 3, 3, 50).0.is_empty());
    }
}
