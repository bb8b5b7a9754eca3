//! The retrieval of ASER (Shim et al., 2021): samples that help to classify the memory
//! (cooperative) and stand between the new samples and their classes (adversarial), by KNN-Shapley
//! values.

use super::{Retrieval, Retrieved};
use crate::{
    memory::Memory,
    probe::Probe,
    rng::Rng,
    sample::Slot,
    shapley::{PER_CLASS, Points, ShapleyOptions, ShapleyScore, descending, knn_shapley},
};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Aser {
    /// How values are computed.
    pub shapley: ShapleyOptions,
}

impl Retrieval for Aser {
    /// At random until more samples were seen than fit.
    fn retrieve(&self, count: usize, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        if memory.samples_seen() <= memory.capacity() as u64 {
            return memory.draw(count, rng).into_iter().map(Retrieved::from).collect();
        }
        let candidates = memory.draw_by_class(PER_CLASS, &[], rng);
        let cooperative = memory.draw_by_class(PER_CLASS, &candidates, rng);
        let mut points = |slots: &[Slot]| Points::new(probe.features(slots), &memory.at(slots));
        let (among, friends) = (points(&candidates), points(&cooperative));
        let new = Points::new(probe.incoming_features(), probe.incoming());
        let scores = self.scores(&among, &friends, &new);
        descending(&scores).into_iter().take(count).map(|index| candidates[index].into()).collect()
    }
}

impl Aser {
    /// The score of each candidate; `cooperative` are other stored samples, `adversarial` the incoming ones.
    fn scores(&self, candidates: &Points, cooperative: &Points, adversarial: &Points) -> Vec<f64> {
        let rows = |points| knn_shapley(candidates, points, self.shapley.neighbours);
        let (cooperative, adversarial) = (rows(cooperative), rows(adversarial));
        let column = |rows: &[Vec<f64>], index: usize| rows.iter().map(|row| row[index]).collect::<Vec<f64>>();
        let score = |index| {
            let (friends, foes) = (column(&cooperative, index), column(&adversarial, index));
            match self.shapley.score {
                ShapleyScore::Asvm => mean(&friends) - mean(&foes),
                // Without friends (or foes) the term is 0.
                ShapleyScore::Asv => {
                    friends.iter().copied().reduce(f64::max).unwrap_or(0.0)
                        - foes.iter().copied().reduce(f64::min).unwrap_or(0.0)
                }
                ShapleyScore::NegSv => -foes.iter().sum::<f64>(),
            }
        };
        (0..candidates.len()).map(score).collect()
    }
}

/// The mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::testing::{full, sample},
        rng::RngStream,
        sample::Sample,
        shapley::tests::{points, v3_candidates},
    };

    fn aser(score: ShapleyScore, neighbours: usize) -> Aser {
        Aser { shapley: ShapleyOptions { score, neighbours } }
    }

    #[test]
    fn v3_scores_and_orders() {
        let expect = |score, expected: [f64; 5], order: [usize; 5]| {
            let cooperative = points(&[0.1, 6.0, 2.4], &[0, 1, 0]);
            let adversarial = points(&[0.4, 3.2], &[1, 0]);
            let found = aser(score, 2).scores(&v3_candidates(), &cooperative, &adversarial);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
            // The vectors print eight digits: what is equal in them is equal here.
            let rounded: Vec<f64> = found.iter().map(|score| (score * 1e8).round()).collect();
            assert_eq!(descending(&rounded), order);
        };
        expect(ShapleyScore::Asvm, [0.10277778, -0.175, 0.04722222, 0.01944444, 0.00555556], [0, 2, 3, 4, 1]);
        expect(ShapleyScore::Asv, [0.36666667, 0.38333333, 0.45, 0.55, 0.2], [3, 2, 1, 0, 4]);
        expect(ShapleyScore::NegSv, [-0.11666667, -0.28333333, -0.28333333, -0.11666667, -0.2], [0, 3, 4, 1, 2]);
    }

    #[test]
    fn without_other_stored_samples_the_cooperative_term_is_zero() {
        let (nobody, new) = (points(&[], &[]), points(&[0.4, 3.2], &[1, 0]));
        let scores = aser(ShapleyScore::Asvm, 2).scores(&v3_candidates(), &nobody, &new);
        assert!((scores[0] + 0.058_333_33).abs() < 1e-6, "{scores:?}");
    }

    /// The feature is the image's byte; one sample of class 0 at 3 comes in.
    struct Bytes<'a>(&'a Memory, Vec<Sample>, u32);

    impl Probe for Bytes<'_> {
        fn features(&mut self, slots: &[Slot]) -> Vec<Vec<f32>> {
            self.2 += 1;
            self.0.at(slots).iter().map(|sample| vec![f32::from(sample.image[0])]).collect()
        }
        fn incoming_features(&mut self) -> Vec<Vec<f32>> {
            vec![vec![3.0]]
        }
        fn incoming(&self) -> &[Sample] {
            &self.1
        }
    }

    #[test]
    fn asks_for_features_only_once_more_samples_were_seen_than_fit() {
        let mut memory = full(&[0, 1, 0, 1, 0, 1]);
        let mut rng = Rng::new(0, RngStream::Retrieval, &[]);
        let retrieve = |memory: &Memory, rng: &mut Rng| {
            let mut probe = Bytes(memory, vec![sample(0, 3)], 0);
            let slots = aser(ShapleyScore::Asvm, 3).retrieve(10, memory, &mut probe, rng);
            (slots.len(), probe.2)
        };
        assert_eq!(retrieve(&memory, &mut rng), (6, 0), "random: all that there are");
        memory.place(sample(0, 9).into(), None);
        assert_eq!(retrieve(&memory, &mut rng), (4, 2), "two of each class");
    }
}
