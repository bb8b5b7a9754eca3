//! Random retrieval: distinct slots, uniformly.

use super::Retrieval;
use crate::{chance::Chance, memory::Memory, probe::Probe, sample::Slot};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// How many.
    pub count: usize,
}

impl Retrieval for Random {
    fn retrieve(&mut self, memory: &Memory, _: &mut dyn Probe, chance: &mut Chance) -> Vec<Slot> {
        memory.draw(self.count, chance)
    }
}
