//! The memory: raw images that outlive their task, and the policies that decide who stays.

mod reservoir;

pub use reservoir::Reservoir;

use crate::{
    chance::Chance,
    choice::choice,
    sample::{Sample, Slot},
};

/// A bounded store of samples.
#[derive(Clone, Debug)]
pub struct Memory {
    capacity: usize,
    slots: Vec<Sample>,
    presented: u64,
}

/// The policies a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// Every presentation so far with the same probability.
    Reservoir,
}
choice!(PolicyKind, "memory policy", Reservoir = "reservoir");

impl PolicyKind {
    /// The policy, ready to decide.
    pub fn build(self) -> Box<dyn Policy> {
        match self {
            Self::Reservoir => Box::new(Reservoir),
        }
    }
}

/// Decides who stays in memory.
pub trait Policy: Send {
    /// Presents `samples` to the memory, one after another.
    fn offer(&mut self, memory: &mut Memory, samples: &[Sample], chance: &mut Chance);
}

impl Memory {
    /// An empty memory of at most `capacity` samples.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, slots: Vec::new(), presented: 0 }
    }

    /// A memory as it was saved.
    pub fn restore(capacity: usize, slots: Vec<Sample>, presented: u64) -> Self {
        assert!(slots.len() <= capacity, "more samples than slots");
        Self { capacity, slots, presented }
    }

    /// How many samples fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many samples are stored.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many samples have ever been presented.
    pub fn presented(&self) -> u64 {
        self.presented
    }

    /// What is stored, by slot.
    pub fn samples(&self) -> &[Sample] {
        &self.slots
    }

    /// The samples in `slots`, in that order.
    pub fn at(&self, slots: &[Slot]) -> Vec<Sample> {
        slots.iter().map(|slot| self.slots[slot.0].clone()).collect()
    }

    /// `count` distinct slots, uniformly, in the order drawn; all of them where fewer are stored.
    pub fn draw(&self, count: usize, chance: &mut Chance) -> Vec<Slot> {
        chance.distinct(self.len(), count).into_iter().map(Slot).collect()
    }

    /// Counts a presentation and puts the sample into `slot`: a stored one's, the next free one, or none.
    fn place(&mut self, sample: &Sample, slot: Option<Slot>) {
        self.presented += 1;
        match slot {
            Some(Slot(slot)) if slot == self.slots.len() => self.slots.push(sample.clone()),
            Some(Slot(slot)) => self.slots[slot] = sample.clone(),
            None => {}
        }
    }
}
