//! Random retrieval: distinct slots, uniformly.

use super::{Retrieval, Retrieved};
use crate::{chance::Chance, memory::Memory, probe::Probe};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// How many.
    pub count: usize,
}

impl Retrieval for Random {
    fn retrieve(&self, memory: &Memory, _: &mut dyn Probe, chance: &mut Chance) -> Vec<Retrieved> {
        memory.draw(self.count, chance).into_iter().map(Retrieved::from).collect()
    }
}
