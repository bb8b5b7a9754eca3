//! How far cheaper scores agree with the exact change of loss: all of them are asked about the same
//! candidates, before each step of one learner, whose memory keeps features.

use anyhow::Result;
use rehearsal::{
    Learner,
    config::PartialConfig,
    probe::{Incoming, Probe, ScoreKind, ScoreNorm, Scoring, StepProbe},
    retrieval::RetrievalKind,
    rng::{Rng, RngStream},
    sample::{Sample, Slot},
    views::AugmentationKey,
};
use rehearsal_measure::spearman;

use super::batches::Batches;

/// Means over steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// Spearman's, with the exact change of loss.
    pub rank_correlation: f64,
    /// The share of the highest in common with the exact score's.
    pub high_overlap: f64,
    /// Of the lowest.
    pub low_overlap: f64,
}

type Asked = (ScoreKind, ScoreNorm);

/// The exact one first.
const ASKED: [Asked; 6] = [
    (ScoreKind::LookAhead, ScoreNorm::Batch),
    (ScoreKind::LookAhead, ScoreNorm::Eval),
    (ScoreKind::HeadAhead, ScoreNorm::Batch),
    (ScoreKind::LastLayer, ScoreNorm::Batch),
    (ScoreKind::LastLayer, ScoreNorm::Eval),
    (ScoreKind::KeptFeatures, ScoreNorm::Eval),
];

/// The agreement of every score that is asked.
pub fn of_scores(settings: &PartialConfig, batches: &Batches) -> Result<Vec<(Asked, Agreement)>> {
    let kept = PartialConfig {
        retrieval: Some(RetrievalKind::Balanced),
        score: Some(ScoreKind::KeptFeatures),
        ..PartialConfig::default()
    };
    let mut learner = batches.learner(&settings.overridden_by(&kept))?;
    let (mut sums, mut steps) = ([Agreement::default(); ASKED.len()], 0.0);
    for batch in batches.iter() {
        batch.begin(&mut learner)?;
        if batch.is_measured {
            let scores = ask(&learner, batch.samples, batches);
            let ratio = learner.config().ratio.map_or((0, 0), |ratio| (ratio.high, ratio.low));
            for (sum, scores_of_one) in sums.iter_mut().zip(&scores) {
                sum.add(&scores[0], scores_of_one, ratio);
            }
            steps += 1.0;
        }
        learner.step(batch.samples)?;
    }
    Ok(ASKED.into_iter().zip(sums.map(|sum| sum.over(steps))).collect())
}

/// The change of loss of the same candidates by each score, before the coming step.
fn ask(learner: &Learner, incoming: &[Sample], batches: &Batches) -> Vec<Vec<f64>> {
    let (config, steps) = (learner.config(), learner.cursor().steps);
    // Another draw than the step's own, which is the first of its stream.
    let rng = &mut Rng::new(config.seed, RngStream::Retrieval, &[steps, 1]);
    let candidates: Vec<Slot> = learner.memory().draw(config.candidates, rng);
    let key = AugmentationKey { seed: config.seed, what: RngStream::Augmentation, step: steps, before: 0 };
    let anchors = config.views.apply(incoming, batches.shape(), key, &learner.network().device());
    let answer = |(score, norm): Asked| {
        let (lr, shape, feature_age) = (config.optimizer.lr, batches.shape(), config.feature_age.unwrap_or(0));
        let scoring = Scoring { score, lr, norm, shape, steps, feature_age };
        let incoming = Incoming { samples: incoming, anchors: &anchors, seen: learner.classes().seen() };
        let mark = &mut |_| {};
        let mut probe = StepProbe::new(learner.network(), learner.memory(), incoming, scoring, mark);
        probe.loss_change(&candidates).into_iter().map(f64::from).collect()
    };
    ASKED.into_iter().map(answer).collect()
}

impl Agreement {
    fn add(&mut self, exact: &[f64], found: &[f64], (high, low): (usize, usize)) {
        self.rank_correlation += spearman(exact, found).unwrap_or(0.0);
        self.high_overlap += overlap(exact, found, high, |a, b| b.total_cmp(a));
        self.low_overlap += overlap(exact, found, low, f64::total_cmp);
    }

    fn over(self, steps: f64) -> Self {
        Self {
            rank_correlation: self.rank_correlation / steps,
            high_overlap: self.high_overlap / steps,
            low_overlap: self.low_overlap / steps,
        }
    }
}

/// The share of the first `count` by one score that are among the first by the other.
fn overlap(exact: &[f64], found: &[f64], count: usize, order: fn(&f64, &f64) -> std::cmp::Ordering) -> f64 {
    let first = |scores: &[f64]| -> Vec<usize> {
        let mut places: Vec<usize> = (0..scores.len()).collect();
        places.sort_by(|&a, &b| order(&scores[a], &scores[b]));
        places.truncate(count);
        places
    };
    let (exact, found) = (first(exact), first(found));
    found.iter().filter(|place| exact.contains(place)).count() as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_shares_of_the_picks_at_each_end() {
        let (exact, found) = ([4.0, 3.0, 2.0, 1.0, 0.0, -1.0], [4.0, 0.0, 5.0, 1.0, -2.0, 2.0]);
        let mut agreement = Agreement::default();
        agreement.add(&exact, &found, (2, 2));
        agreement.add(&exact, &exact, (2, 2));
        let agreement = agreement.over(2.0);
        assert!((agreement.high_overlap - 0.75).abs() < 1e-12 && (agreement.low_overlap - 0.75).abs() < 1e-12);
        assert!(agreement.rank_correlation > 0.5 && agreement.rank_correlation < 1.0);
    }
}
