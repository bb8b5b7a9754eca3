//! Retrieval by loss change: MIR (n:0), IMIR (0:n), balanced (n/2:n/2) and every ratio between are
//! this one algorithm. Each end has its own draw.

use super::{Retrieval, Retrieved, Side};
use crate::{memory::Memory, probe::Probe, rng::Rng, sample::Slot};

/// The highest of one draw, then the lowest of another.
#[derive(Clone, Copy, Debug)]
pub struct LossChange {
    /// How many of the samples whose loss the coming update would raise most (conflicting: they protect old knowledge).
    pub high: usize,
    /// How many of those whose loss it would lower most (aligned: they keep the model plastic).
    pub low: usize,
    /// How many distinct slots each draw looks at.
    pub candidates: usize,
}

impl Retrieval for LossChange {
    fn retrieve(&self, _: usize, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        // A side that asks for nothing is neither drawn nor scored.
        let mut draw = |wanted: usize| if wanted == 0 { Vec::new() } else { memory.draw(self.candidates, rng) };
        let (for_high, for_low) = (draw(self.high), draw(self.low));
        self.pick(&for_high, &for_low, probe)
    }
}

impl LossChange {
    /// The highest changes of the first draw, descending, then the lowest of the second, ascending.
    /// A slot picked twice stays twice.
    pub fn pick(&self, for_high: &[Slot], for_low: &[Slot], probe: &mut dyn Probe) -> Vec<Retrieved> {
        let changes = probe.loss_changes(&[for_high, for_low]);
        let mut picked = extreme(for_high, &changes[0], self.high, Side::High);
        picked.extend(extreme(for_low, &changes[1], self.low, Side::Low));
        picked
    }
}

/// The `count` slots at one end of loss change, the farthest out first; equal ones in the order drawn.
fn extreme(draw: &[Slot], loss_changes: &[f32], count: usize, side: Side) -> Vec<Retrieved> {
    let mut order: Vec<usize> = (0..draw.len()).collect();
    order.sort_by(|&a, &b| match side {
        Side::High => loss_changes[b].total_cmp(&loss_changes[a]),
        Side::Low => loss_changes[a].total_cmp(&loss_changes[b]),
    });
    let retrieved =
        |index: usize| Retrieved { slot: draw[index], side: Some(side), loss_change: Some(loss_changes[index]) };
    order.into_iter().take(count).map(retrieved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::full, rng::RngStream};

    /// Answers with the scores of V2.
    struct Table;

    const V2_SCORES: [f32; 8] = [
        0.051_344_33,
        -0.028_501_03,
        0.006_699_01,
        0.080_996_44,
        -0.045_477_92,
        -0.004_633_29,
        -0.041_318_83,
        0.026_638_51,
    ];

    impl Probe for Table {
        fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
            slots.iter().map(|slot| V2_SCORES[slot.0]).collect()
        }
    }

    fn pick(high: usize, low: usize, for_high: &[usize], for_low: &[usize]) -> Vec<usize> {
        let slots = |draw: &[usize]| draw.iter().copied().map(Slot).collect::<Vec<_>>();
        let picked = LossChange { high, low, candidates: 50 }.pick(&slots(for_high), &slots(for_low), &mut Table);
        picked.into_iter().map(|retrieved| retrieved.slot.0).collect()
    }

    #[test]
    fn v2_selections() {
        let all = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(pick(8, 0, &all, &[]), [3, 0, 7, 2, 5, 1, 6, 4]);
        assert_eq!(pick(3, 0, &all, &[]), [3, 0, 7], "MIR");
        assert_eq!(pick(0, 3, &[], &all), [4, 6, 1], "IMIR");
        assert_eq!(pick(2, 2, &[0, 2, 4, 6], &[1, 3, 5, 7]), [0, 2, 1, 5]);
        assert_eq!(pick(2, 2, &all, &all), [3, 0, 4, 6]);
        assert_eq!(pick(0, 4, &[], &[1, 3, 5, 7]), [1, 5, 7, 3]);
        assert_eq!(pick(5, 0, &[1, 3, 5], &[]), [3, 5, 1], "fewer than asked: all");
        assert_eq!(pick(1, 1, &[3], &[3]), [3, 3], "a slot picked by both stays twice");
    }

    #[test]
    fn equal_scores_stay_in_the_order_drawn() {
        for side in [Side::High, Side::Low] {
            let picked = extreme(&[Slot(5), Slot(2), Slot(9)], &[1.0, 1.0, 1.0], 2, side);
            assert_eq!(picked.iter().map(|retrieved| retrieved.slot).collect::<Vec<_>>(), [Slot(5), Slot(2)]);
            assert!(picked.iter().all(|retrieved| retrieved.side == Some(side) && retrieved.loss_change == Some(1.0)));
        }
    }

    #[test]
    fn draws_are_independent_and_only_made_for_a_side_that_wants_some() {
        let retrieve = |stored: usize, high, low| {
            let memory = full(&vec![0; stored]);
            let mut probe = Counting(Vec::new());
            let retrieval = LossChange { high, low, candidates: 50 };
            let slots =
                retrieval.retrieve(high + low, &memory, &mut probe, &mut Rng::new(7, RngStream::Retrieval, &[]));
            (slots, probe.0)
        };
        let (slots, asked) = retrieve(100, 5, 5);
        assert_eq!((slots.len(), asked), (10, vec![50, 50]));
        assert_ne!(slots[..5], slots[5..], "two draws");
        assert_eq!(retrieve(100, 10, 0).1, [50, 0]);
        assert_eq!(retrieve(3, 5, 5).0.len(), 6, "fewer stored than asked: all of them, on each side");
        assert!(retrieve(0, 5, 5).0.is_empty());
    }

    /// Counts what it is asked and answers with zeros.
    struct Counting(Vec<usize>);

    impl Probe for Counting {
        fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
            self.0.push(slots.len());
            vec![0.0; slots.len()]
        }
    }
}
