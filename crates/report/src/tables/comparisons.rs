//! Which arm is compared with which, over runs of the same data, seed and order of classes.

use crate::{
    arm::{Arm, Replay, labels},
    pairs::{Pair, pairs},
    run::Run,
    study::Group,
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

/// What an arm is measured against: the same method replaying at random, with the same options where
/// it was run so; or, if it is that itself or was not run so, the first arm that replays at random.
pub(super) fn reference<'a>(arm: &Arm, arms: &[&'a Arm]) -> Option<&'a Arm> {
    let at_random = || arms.iter().copied().filter(|other| other.replay == Replay::Random && other.is_plain());
    let of_method = || at_random().filter(|other| other.method == arm.method);
    let alike = of_method().find(|other| other.options() == arm.options());
    // Who replays at random with other options is a reference to who does not, not to its like.
    let near = of_method().find(|_| arm.replay != Replay::Random);
    alike.filter(|other| *other != arm).or(near).or(at_random().next()).filter(|other| *other != arm)
}
