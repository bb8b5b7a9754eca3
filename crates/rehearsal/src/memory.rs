//! The memory (replay buffer): raw images that outlive their task, and the policies that decide which of them stay.

mod aser;
mod class_balanced;
mod gss;
mod reservoir;

use std::sync::Arc;

pub use aser::Aser;
pub use class_balanced::ClassBalanced;
pub use gss::{Gss, GssOptions};
pub use reservoir::Reservoir;

use rehearsal_data::{choice, choice::About};

use crate::{
    rng::Rng,
    sample::{Class, Sample, Slot},
    sample_probe::SampleProbe,
    shapley::ShapleyOptions,
};

/// A stored sample, and what was noted about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Memorized {
    /// The sample.
    pub sample: Sample,
    /// The logits of all classes that the network gave it in the step it came with, where the
    /// method keeps them (DER++).
    pub logits: Option<Arc<[f32]>>,
    /// GSS: how similar its gradient was to those of the memory when it was stored; otherwise 0.
    pub similarity: f32,
}

impl From<Sample> for Memorized {
    fn from(sample: Sample) -> Self {
        Self { sample, logits: None, similarity: 0.0 }
    }
}

/// A bounded store of samples.
///
/// ```
/// use rehearsal::{memory::Memory, prelude::*, sample::{Slot, TaskId}};
///
/// let mut memory = Memory::new(2);
/// let sample = Sample { image: Image::from(vec![0; 3]), label: Class(0), task: TaskId(0) };
/// memory.place(sample.clone().into(), Some(Slot(0))); // stored
/// memory.place(sample.into(), None); // seen, not stored
/// assert_eq!((memory.len(), memory.samples_seen()), (1, 2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    capacity: usize,
    slots: Vec<Memorized>,
    samples_seen: u64,
    seen_by_class: Vec<u64>,
}

/// The policies a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyKind {
    /// Every sample so far with the same probability.
    Reservoir,
    /// A reservoir per class: the largest class gives way.
    ClassBalanced,
    /// GSS-greedy: samples whose gradients are unlike those of the memory.
    Gss,
    /// Adversarial Shapley value: samples that help to classify their neighbours.
    Aser,
}
choice!(
    PolicyKind,
    "memory policy",
    Reservoir = "reservoir",
    ClassBalanced = "class-balanced",
    Gss = "gss",
    Aser = "aser",
);

impl PolicyKind {
    /// The policy, ready to decide.
    pub fn build(self, gss: GssOptions, shapley: ShapleyOptions) -> Arc<dyn Policy> {
        match self {
            Self::Reservoir => Arc::new(Reservoir),
            Self::ClassBalanced => Arc::new(ClassBalanced),
            Self::Gss => Arc::new(Gss(gss)),
            Self::Aser => Arc::new(Aser { shapley }),
        }
    }

    /// What it does and costs.
    pub fn about(self) -> About {
        let (does, costs) = match self {
            Self::Reservoir => ("every sample with the same probability", ""),
            Self::ClassBalanced => ("a reservoir per class; the largest gives way", ""),
            Self::Gss => {
                ("samples whose gradients are unlike the memory's", "gradients of 10 groups and of each new sample")
            }
            Self::Aser => ("samples that help to classify the others", "features of 4 slots a class, Shapley values"),
        };
        About { does, costs }
    }
}

/// Decides which samples stay in memory. It has no state of its own: what it notes about a sample stays
/// with the sample, so that a resumed run decides as an uninterrupted one would.
pub trait Policy: Send + Sync {
    /// Inserts `samples`, all of one step, after that step: one call for each of [`Memory::place`].
    fn insert(&self, memory: &mut Memory, samples: Vec<Memorized>, probe: &mut dyn SampleProbe, rng: &mut Rng);
}

impl Memory {
    /// An empty memory of at most `capacity` samples.
    pub fn new(capacity: usize) -> Self {
        Self::restore(capacity, Vec::new(), Vec::new())
    }

    /// A memory as it was saved.
    pub fn restore(capacity: usize, slots: Vec<Memorized>, seen_by_class: Vec<u64>) -> Self {
        assert!(slots.len() <= capacity, "more samples than slots");
        assert!(
            slots.iter().all(|stored| stored.sample.label.index() < seen_by_class.len()),
            "a class that was never inserted"
        );
        let samples_seen = seen_by_class.iter().fold(0u64, |total, count| total.saturating_add(*count));
        Self { capacity, slots, samples_seen, seen_by_class }
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

    /// How many samples the policy has seen, stored or not.
    pub fn samples_seen(&self) -> u64 {
        self.samples_seen
    }

    /// The same by class, up to the highest class seen.
    pub fn seen_by_class(&self) -> &[u64] {
        &self.seen_by_class
    }

    /// What is stored, by slot.
    pub fn slots(&self) -> &[Memorized] {
        &self.slots
    }

    /// The samples in `slots`, in that order.
    pub fn at(&self, slots: &[Slot]) -> Vec<Sample> {
        slots.iter().map(|slot| self.slots[slot.0].sample.clone()).collect()
    }

    /// The class of the sample in `slot`.
    pub fn label(&self, slot: Slot) -> Class {
        self.slots[slot.0].sample.label
    }

    /// The slots of each class, by class, each in ascending order.
    pub fn by_class(&self) -> Vec<Vec<Slot>> {
        self.grouped(self.except(&[]))
    }

    /// All slots but those `taken`, in ascending order.
    pub fn except(&self, taken: &[Slot]) -> Vec<Slot> {
        let mut free = vec![true; self.len()];
        for slot in taken {
            free[slot.0] = false;
        }
        (0..self.len()).filter(|&slot| free[slot]).map(Slot).collect()
    }

    fn grouped(&self, slots: Vec<Slot>) -> Vec<Vec<Slot>> {
        let mut classes = vec![Vec::new(); self.seen_by_class.len()];
        for slot in slots {
            classes[self.label(slot).index()].push(slot);
        }
        classes
    }

    /// `count` distinct slots, uniformly, in the order drawn; all of them if fewer are stored.
    pub fn draw(&self, count: usize, rng: &mut Rng) -> Vec<Slot> {
        rng.distinct(self.len(), count).into_iter().map(Slot).collect()
    }

    /// Up to `count` slots of each class, uniformly, none of them `taken`; class by class.
    pub fn draw_by_class(&self, count: usize, taken: &[Slot], rng: &mut Rng) -> Vec<Slot> {
        let mut drawn = Vec::new();
        for slots in self.grouped(self.except(taken)) {
            drawn.extend(rng.distinct(slots.len(), count).into_iter().map(|index| slots[index]));
        }
        drawn
    }

    /// Stored logits get room for `classes` classes: what was never computed is NaN, which is no target.
    pub fn grow_logits(&mut self, classes: usize) {
        for logits in self.slots.iter_mut().filter_map(|stored| stored.logits.as_mut()) {
            let unknown = classes.saturating_sub(logits.len());
            *logits = logits.iter().copied().chain(std::iter::repeat_n(f32::NAN, unknown)).collect();
        }
    }

    /// Keeps only the samples for which `keep` is true, in their order. The samples seen stay counted.
    pub fn retain(&mut self, keep: impl FnMut(&Memorized) -> bool) {
        self.slots.retain(keep);
    }

    /// Changes how many samples fit. Where more are stored, the largest class gives way, sample by sample.
    pub fn resize(&mut self, capacity: usize, rng: &mut Rng) {
        self.capacity = capacity;
        while self.len() > capacity {
            let classes = self.by_class();
            let largest = classes.iter().rev().max_by_key(|slots| slots.len()).map_or(&[][..], Vec::as_slice);
            self.slots.remove(largest[rng.below(largest.len() as u64) as usize].0);
        }
    }

    /// Counts a presentation and puts the sample into `slot`: a stored one's, a free one (which is the next), or none.
    pub fn place(&mut self, sample: Memorized, slot: Option<Slot>) {
        let class = sample.sample.label.index();
        if self.seen_by_class.len() <= class {
            self.seen_by_class.resize(class + 1, 0);
        }
        self.seen_by_class[class] += 1;
        self.samples_seen += 1;
        match slot {
            Some(Slot(slot)) if slot >= self.slots.len() && self.len() < self.capacity => self.slots.push(sample),
            Some(Slot(slot)) => self.slots[slot] = sample,
            None => {}
        }
    }
}

/// Places samples into free slots while there are any; returns those left.
fn fill(memory: &mut Memory, mut samples: Vec<Memorized>) -> Vec<Memorized> {
    let free = memory.capacity - memory.len();
    let left = samples.split_off(free.min(samples.len()));
    for sample in samples {
        let next = Slot(memory.len());
        memory.place(sample, Some(next));
    }
    left
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::sample::TaskId;

    /// A sample of class `label` whose image is `id`.
    pub fn sample(label: u16, id: u8) -> Sample {
        Sample { image: [id].into(), label: Class(label), task: TaskId(0) }
    }

    /// A full memory with these labels; slot i's image is i.
    pub fn full(labels: &[u16]) -> Memory {
        let mut memory = Memory::new(labels.len());
        let samples = labels.iter().zip(0..).map(|(&label, id)| sample(label, id).into());
        assert!(fill(&mut memory, samples.collect()).is_empty());
        memory
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        testing::{full, sample},
        *,
    };
    use crate::{
        gradients::Gradients,
        rng::{Rng, RngStream},
        shapley::ShapleyScore,
    };
    use rehearsal_data::choice::Choice;

    #[test]
    fn a_draw_by_class_takes_some_of_each_and_none_twice() {
        let memory = full(&[0, 2, 0, 2, 2, 0, 3]);
        let mut rng = Rng::new(0, RngStream::Retrieval, &[]);
        let first = memory.draw_by_class(2, &[], &mut rng);
        let labels: Vec<u16> = first.iter().map(|&slot| memory.label(slot).0).collect();
        assert_eq!(labels, [0, 0, 2, 2, 3]);
        let second = memory.draw_by_class(2, &first, &mut rng);
        assert_eq!(second.len(), 2, "one of class 0 and one of class 2 are left: {second:?}");
        assert!(second.iter().all(|slot| !first.contains(slot)));
    }

    /// Features and gradients that follow from the image.
    struct Images;

    impl SampleProbe for Images {
        fn classes(&self) -> usize {
            4
        }
        fn features(&mut self, samples: &[Sample]) -> Vec<Vec<f32>> {
            samples.iter().map(|sample| vec![f32::from(sample.image[0] % 23)]).collect()
        }
        fn gradient(&mut self, samples: &[Sample]) -> Gradients {
            let angle: f32 = samples.iter().map(|sample| f32::from(sample.image[0])).sum();
            Gradients::from_values(&[angle.cos(), angle.sin()])
        }
    }

    proptest! {
        #[test]
        fn whatever_is_replaced_scores_stay_with_their_images_and_the_memory_keeps_its_size(
            capacity in 0usize..12,
            batches in prop::collection::vec(prop::collection::vec(0u16..4, 1..6), 1..12),
            seed in any::<u64>(),
        ) {
            let gss = GssOptions { groups: 2, group_size: 3 };
            let shapley = ShapleyOptions { score: ShapleyScore::Asvm, neighbours: 3 };
            for &kind in PolicyKind::ALL {
                let policy = kind.build(gss, shapley);
                let mut memory = Memory::new(capacity);
                let mut id = 0u8;
                for (step, labels) in batches.iter().enumerate() {
                    let arriving = labels.iter().map(|&label| {
                        id += 1;
                        Memorized { logits: Some([f32::from(id), 0.5].into()), ..sample(label, id).into() }
                    });
                    let rng = &mut Rng::new(seed, RngStream::Reservoir, &[step as u64]);
                    policy.insert(&mut memory, arriving.collect(), &mut Images, rng);
                }
                prop_assert_eq!(memory.samples_seen(), u64::from(id), "{}", kind);
                prop_assert_eq!(memory.len(), capacity.min(usize::from(id)), "{}", kind);
                for stored in memory.slots() {
                    let logits = stored.logits.as_deref().unwrap();
                    prop_assert_eq!(logits, &[f32::from(stored.sample.image[0]), 0.5], "{}", kind);
                }
            }
        }
    }
}
