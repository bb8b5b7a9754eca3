//! The update of ASER (Shim et al., 2021): those samples stay that help most to classify the memory by
//! nearest neighbours.

use super::{Memorized, Memory, Policy, fill};
use crate::{
    rng::Rng,
    sample::{Sample, Slot},
    sample_probe::SampleProbe,
    shapley::{PER_CLASS, Points, ShapleyOptions, descending, knn_shapley},
};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Aser {
    /// How values are computed.
    pub shapley: ShapleyOptions,
}

impl Policy for Aser {
    fn insert(&self, memory: &mut Memory, samples: Vec<Memorized>, probe: &mut dyn SampleProbe, rng: &mut Rng) {
        let samples = fill(memory, samples);
        if samples.is_empty() {
            return;
        }
        let batch: Vec<Sample> = samples.iter().map(|sample| sample.sample.clone()).collect();
        let evaluating = memory.draw_by_class(PER_CLASS, &[], rng);
        let minority = minority(memory, &batch, rng.uniform(0.0, 1.0 / probe.classes() as f64));
        let candidates = Self::candidates(memory, &evaluating, probe.classes(), rng);
        let values = self.values(memory, &candidates, &batch, &evaluating, &minority, probe);
        let (kept, dropped) = cut(&values, candidates.len());
        let mut replaced = vec![None; samples.len()];
        for (new, old) in kept.into_iter().zip(dropped) {
            replaced[new] = Some(candidates[old]);
        }
        for (sample, slot) in samples.into_iter().zip(replaced) {
            memory.place(sample, slot);
        }
    }
}

impl Aser {
    /// Random slots that do not evaluate, as many for each of `classes` classes as evaluate.
    fn candidates(memory: &Memory, evaluating: &[Slot], classes: usize, rng: &mut Rng) -> Vec<Slot> {
        let others = memory.except(evaluating);
        let drawn = rng.distinct(others.len(), PER_CLASS * classes);
        drawn.into_iter().map(|index| others[index]).collect()
    }

    /// The value of each candidate slot, then of each of the batch, summed over all that evaluate.
    fn values(
        &self,
        memory: &Memory,
        candidates: &[Slot],
        batch: &[Sample],
        evaluating: &[Slot],
        minority: &[Sample],
        probe: &mut dyn SampleProbe,
    ) -> Vec<f64> {
        let mut points = |slots: &[Slot], new: &[Sample]| {
            let samples = [&memory.at(slots)[..], new].concat();
            Points::new(probe.features(&samples), &samples)
        };
        let (candidates, evaluating) = (points(candidates, batch), points(evaluating, minority));
        let mut sums = vec![0.0; candidates.len()];
        for row in knn_shapley(&candidates, &evaluating, self.shapley.neighbours) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

/// Those of the batch whose class has less than `share` of the memory.
fn minority(memory: &Memory, batch: &[Sample], share: f64) -> Vec<Sample> {
    let stored = memory.by_class();
    let share_of =
        |sample: &Sample| stored.get(sample.label.index()).map_or(0, Vec::len) as f64 / memory.len().max(1) as f64;
    batch.iter().filter(|sample| share_of(sample) < share).cloned().collect()
}

/// Of `slots` candidate slots followed by the batch, as many as there are slots make the cut, by
/// descending value. Who of the batch does, and which candidate slots do not, as many of the one as
/// of the other.
fn cut(values: &[f64], slots: usize) -> (Vec<usize>, Vec<usize>) {
    let mut stays = vec![false; values.len()];
    for &index in &descending(values)[..slots] {
        stays[index] = true;
    }
    let kept = (slots..values.len()).filter(|&index| stays[index]).map(|index| index - slots).collect();
    let dropped = (0..slots).filter(|&index| !stays[index]).collect();
    (kept, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::testing::{full, sample},
        rng::RngStream,
        shapley::ShapleyScore,
    };

    /// The feature is the image's byte.
    struct Bytes;

    impl SampleProbe for Bytes {
        fn features(&mut self, samples: &[Sample]) -> Vec<Vec<f32>> {
            samples.iter().map(|sample| vec![f32::from(sample.image[0])]).collect()
        }
        fn classes(&self) -> usize {
            2
        }
    }

    const SHAPLEY: ShapleyOptions = ShapleyOptions { score: ShapleyScore::Asvm, neighbours: 3 };

    #[test]
    fn the_cut_pairs_as_many_in_as_out() {
        assert_eq!(cut(&[0.5, 0.1, 0.4, 0.3, 0.05], 3), (vec![0], vec![1]));
        assert_eq!(cut(&[0.5, 0.4, 0.3], 2), (vec![], vec![]));
        assert_eq!(cut(&[0.1, 0.1, 0.1, 0.1], 2), (vec![], vec![]), "of equals the stored stay");
        assert_eq!(cut(&[0.0, 0.0, 1.0, 1.0, 1.0], 2), (vec![0, 1], vec![0, 1]));
    }

    #[test]
    fn a_class_with_less_than_its_share_is_a_minority() {
        let memory = full(&[0, 0, 0, 1]);
        let batch = [sample(0, 0), sample(1, 0), sample(2, 0)];
        let labels = |share| minority(&memory, &batch, share).iter().map(|s| s.label.0).collect::<Vec<_>>();
        assert_eq!(labels(0.3), [1, 2]);
        assert_eq!(labels(0.25), [2]);
        assert!(labels(0.0).is_empty());
    }

    #[test]
    fn v3_values_summed_over_all_that_evaluate() {
        // V3 in tenths: four candidates in memory and the fifth in the batch; four that evaluate in
        // memory, the last a minority.
        let stored = [(0, 0), (1, 10), (0, 20), (1, 40), (1, 4), (0, 32), (0, 1), (1, 60)];
        let mut memory = Memory::new(8);
        let left = fill(&mut memory, stored.map(|(label, tenths)| sample(label, tenths).into()).to_vec());
        assert!(left.is_empty());
        let slots: Vec<Slot> = (0..8).map(Slot).collect();
        let shapley = ShapleyOptions { neighbours: 2, ..SHAPLEY };
        let (batch, minority) = ([sample(0, 70)], [sample(0, 24)]);
        let policy = Aser { shapley };
        let values = policy.values(&memory, &slots[..4], &batch, &slots[4..], &minority, &mut Bytes);
        let expected = [0.6, 0.18333333, 0.85, 0.35, 0.51666667];
        assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{values:?}");
        assert_eq!(cut(&values, 4), (vec![0], vec![1]), "the new sample replaces the second candidate");
    }

    #[test]
    fn a_stored_sample_among_another_class_gives_way_in_time() {
        // Class 0 lives at small bytes, class 1 at large ones; slot 9 holds a class 0 that looks like class 1.
        let mut memory = full(&[0, 0, 0, 0, 0, 1, 1, 1, 1, 0]);
        for slot in 5..10 {
            memory.slots[slot].sample.image = [200 + slot as u8].into();
        }
        for step in 0..200 {
            let rng = &mut Rng::new(0, RngStream::Reservoir, &[step]);
            let new = vec![sample(0, 5).into(), sample(1, 206).into()];
            Aser { shapley: SHAPLEY }.insert(&mut memory, new, &mut Bytes, rng);
            assert_eq!((memory.len(), memory.samples_seen()), (10, 12 + 2 * step));
        }
        let misplaced = |stored: &Memorized| stored.sample.label.0 == 0 && stored.sample.image[0] > 100;
        assert!(!memory.slots().iter().any(misplaced));
    }

    #[test]
    fn a_memory_that_only_evaluates_stays_as_it_is() {
        let mut memory = full(&[0, 1, 0, 1]);
        let before = memory.slots().to_vec();
        let mut rng = Rng::new(0, RngStream::Reservoir, &[]);
        Aser { shapley: SHAPLEY }.insert(&mut memory, vec![sample(0, 9).into()], &mut Bytes, &mut rng);
        assert_eq!(memory.slots(), before);
    }
}
