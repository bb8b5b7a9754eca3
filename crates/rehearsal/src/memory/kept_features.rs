//! Features that are kept with a stored sample from one step to another, so that it can be scored
//! without a pass.

use std::sync::Arc;

use super::Memory;
use crate::sample::Slot;

/// The features of a stored sample as the network once had them.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFeatures {
    /// `d` of them.
    pub values: Arc<[f32]>,
    /// How many steps the network had taken then.
    pub step: u64,
}

impl KeptFeatures {
    /// Whether they are no older than `most` steps, after `steps`.
    pub fn is_fresh(&self, steps: u64, most: u64) -> bool {
        steps.saturating_sub(self.step) <= most
    }
}

impl Memory {
    /// Keeps features with the sample in `slot`, in place of those it had.
    pub fn keep_features(&mut self, slot: Slot, features: KeptFeatures) {
        self.slots[slot.0].features = Some(features);
    }

    /// Keeps none: the network is another.
    pub fn forget_features(&mut self) {
        self.slots.iter_mut().for_each(|stored| stored.features = None);
    }
}
