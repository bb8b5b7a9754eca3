//! Who may be replayed: all that is stored, or only what came with earlier tasks.

use std::borrow::Cow;

use super::Memory;
use crate::{
    choice::choice,
    sample::{Slot, TaskId},
};

/// Who may be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retrievable {
    /// All that is stored.
    #[default]
    All,
    /// What came with earlier tasks than the one that is learned. While nothing of them is stored, all.
    OldTasks,
}
choice!(Retrievable, "kind of retrievable samples", All = "all", OldTasks = "old-tasks");

/// A memory as a retrieval sees it: only with those that may be replayed, each in a slot of its own.
pub struct RetrievableMemory<'a> {
    memory: Cow<'a, Memory>,
    /// Where those of the slots are stored, where not all may be replayed.
    stored: Option<Vec<Slot>>,
}

impl Retrievable {
    /// Those of `memory` that may be replayed while `task` is learned.
    pub fn of(self, memory: &Memory, task: TaskId) -> RetrievableMemory<'_> {
        let old = |slot: &Slot| memory.slots()[slot.0].sample.task < task;
        let stored: Vec<Slot> = match self {
            Self::All => Vec::new(),
            Self::OldTasks => memory.except(&[]).into_iter().filter(old).collect(),
        };
        if stored.is_empty() || stored.len() == memory.len() {
            return RetrievableMemory { memory: Cow::Borrowed(memory), stored: None };
        }
        let slots = stored.iter().map(|slot| memory.slots()[slot.0].clone()).collect();
        // What was presented counts as before: some retrievals go by it.
        let old = Memory::restore(memory.capacity(), slots, memory.presented_by_class().to_vec());
        RetrievableMemory { memory: Cow::Owned(old), stored: Some(stored) }
    }
}

impl RetrievableMemory<'_> {
    /// What a retrieval is given.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where the sample in `slot` of what a retrieval is given is stored.
    pub fn stored(&self, slot: Slot) -> Slot {
        self.stored.as_ref().map_or(slot, |stored| stored[slot.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memorized, testing::sample};

    fn memory(tasks: &[u16]) -> Memory {
        let mut memory = Memory::new(tasks.len() + 2);
        for (slot, &task) in tasks.iter().enumerate() {
            let mut sample = sample(0, slot as u8);
            sample.task = TaskId(task);
            memory.place(Memorized::from(sample), Some(Slot(slot)));
        }
        memory.place(sample(1, 99).into(), None);
        memory
    }

    #[test]
    fn what_came_with_the_current_task_is_left_out() {
        let memory = memory(&[0, 2, 1, 2, 0]);
        let old = Retrievable::OldTasks.of(&memory, TaskId(2));
        let found: Vec<(u8, Slot)> =
            (0..old.memory().len()).map(|i| (old.memory().slots()[i].sample.image[0], old.stored(Slot(i)))).collect();
        assert_eq!(found, [(0, Slot(0)), (2, Slot(2)), (4, Slot(4))]);
        let same = |a: &Memory, b: &Memory| (a.presented(), a.capacity()) == (b.presented(), b.capacity());
        assert!(same(old.memory(), &memory), "warm-ups go by what was presented");
    }

    #[test]
    fn all_may_be_replayed_where_nothing_is_older_or_nobody_asked() {
        let memory = memory(&[1, 1, 0]);
        for (retrievable, task) in [(Retrievable::All, 1), (Retrievable::OldTasks, 0), (Retrievable::OldTasks, 2)] {
            let view = retrievable.of(&memory, TaskId(task));
            assert!(std::ptr::eq(view.memory(), &raw const memory) && view.stored(Slot(2)) == Slot(2));
        }
    }
}
