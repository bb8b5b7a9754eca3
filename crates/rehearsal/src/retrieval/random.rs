//! Random retrieval: distinct slots, uniformly.

use super::{Retrieval, Retrieved};
use crate::{memory::Memory, probe::Probe, rng::Rng};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Retrieval for Random {
    fn retrieve(&self, count: usize, memory: &Memory, _: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        memory.draw(count, rng).into_iter().map(Retrieved::from).collect()
    }
}
