//! GSS-greedy: gradient-based sample selection (Aljundi et al., 2019). A sample whose gradient
//! points away from those of the memory is more likely to stay; one that is like the others is more
//! likely to go.

use serde::{Deserialize, Serialize};

use super::{Memorized, Memory, Policy};
use crate::{
    gradients::FlatGradient,
    rng::Rng,
    sample::{Sample, Slot},
    sample_probe::SampleProbe,
};

/// The similarity of samples that come into an empty memory: there is nothing to compare them with.
const FIRST_SIMILARITY: f32 = 0.1;

/// What gradients are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GssOptions {
    /// How many groups of stored samples at most.
    #[serde(rename = "gss-groups")]
    pub groups: usize,
    /// How many samples each group has.
    #[serde(rename = "gss-group-size")]
    pub group_size: usize,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Gss(pub GssOptions);

impl Policy for Gss {
    fn insert(&self, memory: &mut Memory, samples: Vec<Memorized>, probe: &mut dyn SampleProbe, rng: &mut Rng) {
        let rows = self.reference_rows(memory, probe, rng);
        let free = (memory.capacity() - memory.len()).min(samples.len());
        let mut left = samples;
        let mut first: Vec<Memorized> = left.drain(..free).collect();
        compare(&mut first, &rows, probe);
        for sample in first {
            let next = Slot(memory.len());
            memory.place(sample, Some(next));
        }
        let batch: Vec<Sample> = left.iter().map(|sample| sample.sample.clone()).collect();
        let unlike = !left.is_empty() && similarities(&rows, &[&batch], probe)[0].is_some_and(|cosine| cosine < 0.0);
        let victims = if unlike { draw(memory, left.len(), rng) } else { Vec::new() };
        compare(&mut left[..victims.len()], &rows, probe);
        let mut victims = victims.into_iter();
        for sample in left {
            let slot = victims
                .next()
                .filter(|&victim| rng.happens(replacement(sample.similarity, memory.slots()[victim.0].similarity)));
            memory.place(sample, slot);
        }
    }
}

impl Gss {
    /// The gradients of disjoint groups of the memory, shuffled; none of an empty one.
    fn reference_rows(&self, memory: &Memory, probe: &mut dyn SampleProbe, rng: &mut Rng) -> Vec<FlatGradient> {
        let size = self.0.group_size.min(memory.len());
        if size == 0 {
            return Vec::new();
        }
        let shuffled = memory.draw(self.0.groups.saturating_mul(size), rng);
        let groups = shuffled.chunks_exact(size);
        groups.map(|slots| probe.gradient(&memory.at(slots)).flat()).collect()
    }
}

/// Notes the similarity of each sample.
fn compare(samples: &mut [Memorized], rows: &[FlatGradient], probe: &mut dyn SampleProbe) {
    let alone: Vec<&[Sample]> = samples.iter().map(|sample| std::slice::from_ref(&sample.sample)).collect();
    let found = similarities(rows, &alone, probe);
    let noted = samples.iter_mut().zip(found);
    noted.for_each(|(sample, found)| sample.similarity = found.unwrap_or(FIRST_SIMILARITY));
}

/// For each batch, the highest cosine of its gradient to any row; none without rows. On a GPU they
/// are read back together.
fn similarities(rows: &[FlatGradient], batches: &[&[Sample]], probe: &mut dyn SampleProbe) -> Vec<Option<f32>> {
    if rows.is_empty() {
        return vec![None; batches.len()];
    }
    let gradients = batches.iter().map(|batch| probe.gradient(batch).flat());
    let highest = |cosines: Vec<f32>| cosines.into_iter().max_by(f32::total_cmp);
    FlatGradient::cosines(rows, gradients).into_iter().map(highest).collect()
}

/// `count` distinct slots, those of high similarities (gradients like the others') with higher probability.
fn draw(memory: &Memory, count: usize, rng: &mut Rng) -> Vec<Slot> {
    let similarities: Vec<f64> = memory.slots().iter().map(|stored| f64::from(stored.similarity)).collect();
    rng.weighted_distinct(&weights(&similarities), count).into_iter().map(Slot).collect()
}

/// The weight with which each slot is drawn for replacement.
fn weights(similarities: &[f64]) -> Vec<f64> {
    let lowest = similarities.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = similarities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    similarities.iter().map(|similarity| (similarity - lowest) / (highest - lowest + 0.01) + 1e-12).collect()
}

/// The probability that a sample of similarity `new` replaces one of similarity `stored`.
fn replacement(new: f32, stored: f32) -> f64 {
    let [c, s] = [new, stored].map(|cosine| f64::midpoint(f64::from(cosine), 1.0));
    s / (c + s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gradients::Gradients,
        memory::testing::{full, sample},
        rng::RngStream,
    };

    /// The gradient of a group is its mean image, as a point on the circle: byte 0 is east, 64 north, 128 west.
    struct Circle;

    impl SampleProbe for Circle {
        fn gradient(&mut self, samples: &[Sample]) -> Gradients {
            let angle = |sample: &Sample| f32::from(sample.image[0]) / 256.0 * std::f32::consts::TAU;
            let mean = |part: fn(f32) -> f32| {
                samples.iter().map(|sample| part(angle(sample))).sum::<f32>() / samples.len() as f32
            };
            Gradients::from_values(&[mean(f32::cos), mean(f32::sin)])
        }
    }

    const GSS: Gss = Gss(GssOptions { groups: 10, group_size: 10 });

    fn insert(memory: &mut Memory, ids: &[u8], seed: u64) {
        let samples = ids.iter().map(|&id| sample(0, id).into()).collect();
        GSS.insert(memory, samples, &mut Circle, &mut Rng::new(seed, RngStream::Reservoir, &[]));
    }

    fn ids(memory: &Memory) -> Vec<u8> {
        memory.slots().iter().map(|stored| stored.sample.image[0]).collect()
    }

    #[test]
    fn v9_weights_and_probabilities() {
        let found = weights(&[0.1, 0.5, -0.2, 0.9]);
        let expected = [0.270_270_27, 0.630_630_63, 0.0, 0.990_990_99];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{found:?}");
        assert!((replacement(-0.6, 0.9) - 0.826_086_96).abs() < 1e-7);
        let mut rng = Rng::new(0, RngStream::Reservoir, &[]);
        assert!((0..2000).all(|_| rng.weighted_distinct(&found, 1) != [2]), "the least like the others stays");
    }

    #[test]
    fn v9_the_first_samples_score_a_tenth_and_later_ones_their_similarity() {
        let mut memory = Memory::new(4);
        insert(&mut memory, &[0, 10], 0);
        assert!(memory.slots().iter().all(|stored| (stored.similarity - 0.1).abs() < 1e-7));
        insert(&mut memory, &[69], 0);
        let cosine = (64.0 / 256.0 * std::f32::consts::TAU).cos();
        assert!((memory.slots()[2].similarity - cosine).abs() < 1e-5, "one group, whose mean points to 5");
    }

    #[test]
    fn v9_a_batch_like_the_memory_replaces_nothing() {
        let mut memory = full(&[0; 4]);
        for seed in 0..50 {
            insert(&mut memory, &[1, 2], seed);
        }
        assert_eq!(ids(&memory), [0, 1, 2, 3]);
        assert_eq!(memory.samples_seen(), 4 + 100, "counted all the same");
    }

    #[test]
    fn a_batch_against_the_memory_replaces_what_is_most_like_the_others() {
        let mut memory = full(&[0; 4]);
        memory.slots[1].similarity = 0.9;
        let mut replaced = [0; 4];
        for seed in 0..400 {
            let mut memory = memory.clone();
            insert(&mut memory, &[130], seed);
            for (slot, id) in ids(&memory).into_iter().enumerate() {
                replaced[slot] += u32::from(id == 130);
            }
        }
        assert_eq!([replaced[0], replaced[2], replaced[3]], [0; 3], "the others have the lowest similarity");
        // c is nearly 0, so that the drawn slot is replaced almost surely.
        assert!(replaced[1] > 390, "{replaced:?}");
    }

    #[test]
    fn a_batch_that_half_fits_fills_the_free_slots_first() {
        let mut memory = Memory::new(3);
        insert(&mut memory, &[0, 1], 0);
        insert(&mut memory, &[2, 3, 4], 0);
        assert_eq!((ids(&memory), memory.samples_seen()), (vec![0, 1, 2], 5));
    }
}
