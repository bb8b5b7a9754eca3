//! What was picked for one reason while a task is learned: from how old a task, of which classes, how
//! often from the same slots.

use rehearsal_runs::Picks;
use serde::{Deserialize, Serialize};

use crate::learner::Replayed;

/// Slots that were picked so often or more are counted together.
const MOST_REPLAYS: usize = 50;

/// The counters of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PickCounters {
    task_age: Vec<u64>,
    class_mix: Vec<u64>,
    /// How often each slot was picked.
    by_slot: Vec<u64>,
}

impl PickCounters {
    /// Counts a sample that was picked while `task` is learned.
    pub(super) fn add(&mut self, Replayed { sample, retrieved }: &Replayed, task: usize) {
        count(&mut self.task_age, task.saturating_sub(sample.task.index()));
        count(&mut self.class_mix, sample.label.index());
        count(&mut self.by_slot, retrieved.slot.0);
    }

    /// What they say when the task ends with `seen` classes and a memory of `slots` samples; nothing
    /// where nothing was picked. They are empty afterwards.
    pub(super) fn close(&mut self, seen: usize, slots: usize) -> Option<Picks> {
        let Self { task_age, mut class_mix, mut by_slot } = std::mem::take(self);
        if class_mix.is_empty() {
            return None;
        }
        class_mix.resize(seen.max(class_mix.len()), 0);
        by_slot.resize(slots.max(by_slot.len()), 0);
        let mut slots_by_replays = Vec::new();
        for replays in by_slot {
            count(&mut slots_by_replays, usize::try_from(replays).map_or(MOST_REPLAYS, |most| most.min(MOST_REPLAYS)));
        }
        Some(Picks { task_age, class_mix, slots_by_replays })
    }
}

/// One more at `index`.
fn count(counts: &mut Vec<u64>, index: usize) {
    counts.resize(counts.len().max(index + 1), 0);
    counts[index] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        retrieval::Retrieved,
        sample::{Class, Sample, Slot, TaskId},
    };

    fn picked(slot: usize, label: u16, task: u16) -> Replayed {
        let sample = Sample { image: [0].into(), label: Class(label), task: TaskId(task) };
        Replayed { sample, retrieved: Retrieved::from(Slot(slot)) }
    }

    #[test]
    fn ages_classes_and_replays_are_counted_until_the_task_ends() {
        let mut counters = PickCounters::default();
        for _ in 0..60 {
            counters.add(&picked(4, 1, 2), 2);
        }
        counters.add(&picked(0, 0, 0), 2);
        counters.add(&picked(0, 0, 0), 2);
        let picks = counters.close(4, 6).unwrap();
        assert_eq!((picks.task_age.as_slice(), picks.class_mix.as_slice()), (&[60, 0, 2][..], &[2, 60, 0, 0][..]));
        assert_eq!((picks.slots_by_replays.len(), &picks.slots_by_replays[..3]), (51, &[4, 0, 1][..]));
        assert_eq!((picks.slots_by_replays[50], picks.total()), (1, 62), "60 is 50 or more");
        assert_eq!(counters.close(4, 6), None, "every task has its own counters");
    }
}
