//! Which arm is compared with which, over runs of the same data, seed and order of classes.

use rehearsal_measure::{AccuracyMatrix, holm};

use crate::{
    arm::{Arm, Replay, labels},
    pairs::{Pair, difference, pairs, test},
    run::Run,
    study::Group,
    table::Against,
};

/// An arm against another under the same conditions.
pub(super) struct Comparison<'a> {
    pub(super) label: String,
    pub(super) arm: &'a Arm,
    pub(super) other: &'a Arm,
    /// The other first: a positive difference means that the arm is higher.
    pub(super) pairs: Vec<Pair<'a>>,
}

impl Comparison<'_> {
    /// Whether the paper compares them: balanced retrieval with another of the same method.
    pub(super) fn is_of_paper(&self) -> bool {
        self.arm.is_balanced() && self.arm.method == self.other.method
    }
}

/// Every arm against its reference, and balanced retrieval against all others of its method.
pub(super) fn comparisons<'a>(groups: &[&'a Group]) -> Vec<Comparison<'a>> {
    let runs = |arm: &Arm| -> Vec<&'a Run> {
        groups.iter().filter(|group| group.arm == *arm).flat_map(|group| &group.runs).collect()
    };
    let mut arms: Vec<&'a Arm> = groups.iter().map(|group| &group.arm).collect();
    arms.sort();
    arms.dedup();
    let names = labels(&arms);
    let mut comparisons = Vec::new();
    for (&arm, name) in arms.iter().zip(&names) {
        let reference = reference(arm, &arms);
        for (&other, other_name) in arms.iter().zip(&names).filter(|(other, _)| **other != arm) {
            if reference == Some(other) || arm.is_balanced() && other.method == arm.method && !other.is_balanced() {
                let pairs = pairs(&runs(other), &runs(arm));
                if !pairs.is_empty() {
                    comparisons.push(Comparison { label: format!("{name} vs. {other_name}"), arm, other, pairs });
                }
            }
        }
    }
    comparisons
}

/// The arm that an arm is compared with: the same method with random retrieval and, if it was run, with
/// the same options; for that arm itself, or if it was not run, the first arm with random retrieval.
pub(super) fn reference<'a>(arm: &Arm, arms: &[&'a Arm]) -> Option<&'a Arm> {
    let at_random = || arms.iter().copied().filter(|other| other.replay == Replay::Random && other.is_plain());
    let of_method = || at_random().filter(|other| other.method == arm.method);
    let alike = of_method().find(|other| other.options() == arm.options());
    // Random retrieval with other options is a reference for other retrievals only.
    let near = of_method().find(|_| arm.replay != Replay::Random);
    alike.filter(|other| *other != arm).or(near).or(at_random().next()).filter(|other| *other != arm)
}

/// The differences of a measure in percentage points, one for each comparison that has pairs, with
/// tests and Holm's correction over all of them.
pub(super) fn against(compared: &[&[Pair]], measure: fn(&AccuracyMatrix) -> Option<f64>) -> Vec<Option<Against>> {
    let tested = |pairs: &&[Pair]| Some((difference(pairs, measure)?, test(pairs, measure).p));
    let tests: Vec<_> = compared.iter().map(tested).collect();
    let mut adjusted = holm(&tests.iter().flatten().map(|(_, p)| *p).collect::<Vec<_>>()).into_iter();
    tests
        .iter()
        .map(|tested| {
            tested.as_ref().map(|(difference, p)| Against::new(difference, 100.0, *p, adjusted.next().unwrap_or(1.0)))
        })
        .collect()
}
