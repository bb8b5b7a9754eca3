//! Which arm is compared with which, over runs of the same data, seed and order of classes.

use super::Conditions;
use crate::{
    arm::{Arm, Replay, labels},
    pairs::{Pair, pairs},
    run::Run,
};

/// An arm against another, with the same conditions.
pub(super) struct Comparison<'a> {
    pub(super) label: String,
    pub(super) arm: &'a Arm,
    pub(super) other: &'a Arm,
    /// The other first, so that a positive difference says that the arm is higher.
    pub(super) pairs: Vec<Pair<'a>>,
}

impl Comparison<'_> {
    /// Whether the paper compares them: balanced retrieval with another of the same method.
    pub(super) fn is_of_paper(&self) -> bool {
        self.arm.is_balanced() && self.arm.method == self.other.method
    }
}

/// Every arm against its reference, and balanced retrieval against all others of its method.
pub(super) fn comparisons<'a>(conditions: &Conditions<'a>) -> Vec<Comparison<'a>> {
    let runs = |arm: &Arm| -> Vec<&'a Run> {
        conditions.groups.iter().filter(|group| group.arm == *arm).flat_map(|group| &group.runs).collect()
    };
    let mut arms: Vec<&'a Arm> = conditions.groups.iter().map(|group| &group.arm).collect();
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

/// What an arm is measured against: the same method with the same options replaying at random, or,
/// if it is that itself or was not run so, the first arm that replays at random.
pub(super) fn reference<'a>(arm: &Arm, arms: &[&'a Arm]) -> Option<&'a Arm> {
    let at_random = |other: &Arm| other.replay == Replay::Random && other.is_plain();
    let same =
        arms.iter().find(|other| at_random(other) && other.method == arm.method && other.options() == arm.options());
    let first = arms.iter().find(|other| at_random(other));
    same.filter(|other| **other != arm).or(first).copied().filter(|other| *other != arm)
}
