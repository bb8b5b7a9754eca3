//! Pairs of runs of two arms with the same data, seed and order of classes.

use std::path::PathBuf;

use rehearsal_measure::{AccuracyMatrix, McNemar, Paired, Wilcoxon, mcnemar, mcnemar_of, wilcoxon};

use crate::{run::Run, settings::data, text::NONE};

/// Smaller differences of accuracies are rounding errors, which would break ties.
const NOISE: f64 = 1e-10;

/// A run of each arm.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Of the first arm.
    pub first: &'a Run,
    /// Of the second.
    pub second: &'a Run,
}

/// Pairs runs by data, seed and order of classes.
pub fn pairs<'a>(first: &[&'a Run], second: &[&'a Run]) -> Vec<Pair<'a>> {
    let partner = |run: &Run| second.iter().copied().find(|other| is_partner(run, other));
    first.iter().filter_map(|&run| Some(Pair { first: run, second: partner(run)? })).collect()
}

fn is_partner(one: &Run, other: &Run) -> bool {
    one.seed == other.seed
        && one.data_sha256 == other.data_sha256
        && data(&one.settings) == data(&other.settings)
        && one.class_names == other.class_names
}

/// The second minus the first, for every pair in which the measure is defined for both.
pub fn differences(pairs: &[Pair], measure: impl Fn(&AccuracyMatrix) -> Option<f64>) -> Vec<f64> {
    let difference = |pair: &Pair| Some(measure(&pair.second.matrix)? - measure(&pair.first.matrix)?);
    pairs.iter().filter_map(difference).map(|difference| (difference / NOISE).round() * NOISE).collect()
}

/// The Wilcoxon test of a measure over pairs.
pub fn test(pairs: &[Pair], measure: impl Fn(&AccuracyMatrix) -> Option<f64>) -> Wilcoxon {
    wilcoxon(&differences(pairs, measure))
}

/// How far a measure differs over pairs, the second minus the first; none without a pair.
pub fn difference(pairs: &[Pair], measure: impl Fn(&AccuracyMatrix) -> Option<f64>) -> Option<Paired> {
    Paired::from_differences(&differences(pairs, measure))
}

/// The smallest difference that the pairs detect, as a sentence without its full stop.
pub fn power_text(difference: &Paired, measure: &str) -> Option<String> {
    let points = 100.0 * difference.detectable?;
    Some(format!(
        "with these {} pairs and this spread, a difference of {measure} is detected 4 times in 5 if it is at least \
         {points:.1} percentage points",
        difference.n
    ))
}

impl Pair<'_> {
    /// McNemar's test of the final models on the same test images; none if one did not write its
    /// predictions.
    pub fn mcnemar(&self) -> Option<McNemar> {
        let (first, second) = (self.first.correct.as_ref()?, self.second.correct.as_ref()?);
        (first.len() == second.len()).then(|| mcnemar_of(first, second))
    }
}

/// The directories of all runs of some pairs.
pub fn paths(pairs: &[Pair]) -> Vec<PathBuf> {
    pairs.iter().flat_map(|pair| [pair.first.path.clone(), pair.second.path.clone()]).collect()
}

/// One test of all images of all seeds; none without a test.
pub fn pooled(tests: &[McNemar]) -> Option<McNemar> {
    let sum = |count: fn(&McNemar) -> u64| tests.iter().map(count).sum();
    (!tests.is_empty()).then(|| mcnemar(sum(|test| test.only_first), sum(|test| test.only_second)))
}

/// The p-value of a test over pairs as it is printed: one pair has none, because nothing else could have come out.
pub fn paired_p_text(pairs: usize, p: f64) -> String {
    if pairs > 1 { p_text(p) } else { NONE.to_owned() }
}

/// A p-value as it is printed.
pub fn p_text(p: f64) -> String {
    match p {
        p if p < 1e-4 => format!("{p:.1e}"),
        p => format!("{p:.4}"),
    }
}
