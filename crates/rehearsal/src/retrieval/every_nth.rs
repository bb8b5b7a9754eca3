//! Scoring in every n-th step only: in the others, replay is random. Which steps these are follows
//! from how many have been taken, so a resumed run scores where an uninterrupted one would.

use std::sync::Arc;

use super::{Random, Retrieval, Retrieved};
use crate::{memory::Memory, probe::Probe, rng::Rng};

/// See the module.
#[derive(Clone)]
pub struct EveryNth {
    /// n; 1 is every step.
    pub every: u64,
    /// What chooses in those steps.
    pub scored: Arc<dyn Retrieval>,
    /// What chooses in the others.
    pub otherwise: Random,
}

impl Retrieval for EveryNth {
    fn retrieve(&self, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        if probe.steps().is_multiple_of(self.every) {
            self.scored.retrieve(memory, probe, rng)
        } else {
            self.otherwise.retrieve(memory, probe, rng)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::testing::full, retrieval::LossChange, rng::RngStream, sample::Slot};

    struct At(u64, usize);

    impl Probe for At {
        fn steps(&self) -> u64 {
            self.0
        }
        fn loss_change(&mut self, slots: &[Slot]) -> Vec<f32> {
            self.1 += slots.len();
            vec![0.0; slots.len()]
        }
    }

    #[test]
    fn the_first_and_every_third_step_after_it_is_scored() {
        let scored = Arc::new(LossChange { high: 2, low: 2, candidates: 8 });
        let retrieval = EveryNth { every: 3, scored, otherwise: Random { count: 4 } };
        let memory = full(&[0; 20]);
        for steps in 0..7 {
            let mut probe = At(steps, 0);
            let picked = retrieval.retrieve(&memory, &mut probe, &mut Rng::new(0, RngStream::Retrieval, &[steps]));
            assert_eq!(picked.len(), 4);
            let scored = steps % 3 == 0;
            assert_eq!(
                (probe.1, picked.iter().all(|retrieved| retrieved.side.is_some())),
                (16 * usize::from(scored), scored)
            );
        }
    }
}
