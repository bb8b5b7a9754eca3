//! The acceptance check: how much a session lost of the classes known before, on the same holdout
//! images, and whether the difference may be chance.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rehearsal_measure::mcnemar_of;
use serde::{Deserialize, Serialize};

use crate::{Answer, ClassScore, Digest, Score, Share};

/// The significance level.
const CHANCE: f64 = 0.05;

/// When a version is rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AcceptanceCheck {
    /// If the classes known before lost accuracy, and the loss is beyond chance.
    #[default]
    BeyondChance,
    /// If they lost more than this, by chance or not.
    AtMost(Share),
    /// Never.
    Off,
}

/// What became of the classes known before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Before the session.
    pub before: Score,
    /// After it, on the same images.
    pub after: Score,
    /// The p-value of McNemar's test.
    pub p: f64,
}

/// The holdout accuracy after a session, compared with the version before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acceptance {
    /// The classes known before; none if there are no holdout images of them.
    pub old: Option<Change>,
    /// The new classes; none if there are no holdout images of them.
    pub new: Option<Score>,
    /// Every class that can be predicted, in order of appearance.
    pub by_class: Vec<ClassScore>,
}

impl Change {
    /// Percentage points lost; negative if the accuracy rose.
    pub fn points_lost(&self) -> f64 {
        100.0 * (self.before.share().unwrap_or(0.0) - self.after.share().unwrap_or(0.0))
    }

    /// Whether the difference may be chance.
    pub fn is_within_chance(&self) -> bool {
        self.p >= CHANCE
    }
}

impl Acceptance {
    /// Compares the answers of the version before, which knew `known`, with those of the version
    /// after, which knows `classes`, on the same examples.
    pub(crate) fn new(before: &[Answer], known: &[Arc<str>], after: &[Answer], classes: &[Arc<str>]) -> Self {
        let is_old = |class: &Arc<str>| known.contains(class);
        let later: BTreeMap<Digest, &Answer> = after.iter().map(|answer| (answer.digest, answer)).collect();
        let pairs = before.iter().filter(|answer| is_old(&answer.class));
        let pairs: Vec<(&Answer, &Answer)> =
            pairs.filter_map(|answer| Some((answer, *later.get(&answer.digest)?))).collect();
        let right = |answers: Vec<&Answer>| answers.iter().map(|answer| answer.is_right()).collect::<Vec<bool>>();
        let (first, second): (Vec<&Answer>, Vec<&Answer>) = pairs.into_iter().unzip();
        let old = (!first.is_empty()).then(|| Change {
            before: Score::of(first.iter().copied()),
            after: Score::of(second.iter().copied()),
            p: mcnemar_of(&right(first.clone()), &right(second.clone())).p,
        });
        let new = Score::of(after.iter().filter(|answer| !is_old(&answer.class)));
        // Of a class that was known, on the same photos.
        let compared: BTreeSet<Digest> = before.iter().map(|answer| answer.digest).collect();
        let of_class = |class: &Arc<str>| {
            let is_old = is_old(class);
            let counts = |answer: &&Answer| answer.class == *class && (!is_old || compared.contains(&answer.digest));
            ClassScore {
                class: class.to_string(),
                score: Score::of(after.iter().filter(counts)),
                right_before: is_old.then(|| Score::of(before.iter().filter(counts)).right),
            }
        };
        Self { old, new: (new.total > 0).then_some(new), by_class: classes.iter().map(of_class).collect() }
    }

    /// Whether the version is rejected.
    pub fn rejects(&self, check: AcceptanceCheck) -> bool {
        self.old.is_some_and(|change| match check {
            AcceptanceCheck::BeyondChance => change.points_lost() > 0.0 && !change.is_within_chance(),
            // Rounding is not a loss.
            AcceptanceCheck::AtMost(most) => change.points_lost() > most.percent() + 1e-9,
            AcceptanceCheck::Off => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(list: &[(u16, bool)]) -> Vec<Answer> {
        let name = |class: u16| -> Arc<str> { ["a", "b", "c"][usize::from(class)].into() };
        let answer = |(number, &(class, right)): (usize, &(u16, bool))| Answer {
            digest: Digest::of(&number.to_le_bytes()),
            class: name(class),
            predicted: if right { name(class) } else { "x".into() },
            probability: 0.5,
        };
        list.iter().enumerate().map(answer).collect()
    }

    fn known(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn only_the_classes_known_before_count_and_chance_is_called_chance() {
        let before = answers(&[(0, true), (0, true), (1, true), (1, false), (2, false)]);
        let after = answers(&[(0, true), (0, false), (1, true), (1, false), (2, true)]);
        let acceptance = Acceptance::new(&before, &known(&["a", "b"]), &after, &known(&["a", "b", "c"]));
        let change = acceptance.old.unwrap();
        assert_eq!((change.before, change.after), (Score { right: 3, total: 4 }, Score { right: 2, total: 4 }));
        assert!((change.points_lost() - 25.0).abs() < 1e-9 && change.is_within_chance());
        assert_eq!(acceptance.new, Some(Score { right: 1, total: 1 }));
        let at_most = |share: f64| AcceptanceCheck::AtMost(Share::new(share).unwrap());
        assert!(acceptance.rejects(at_most(0.24)) && !acceptance.rejects(at_most(0.25)));
        assert!(!acceptance.rejects(AcceptanceCheck::BeyondChance), "one of four may be chance");
        assert_eq!(acceptance.by_class[0].points_lost(), Some(50.0));
        assert_eq!((acceptance.by_class[2].class.as_str(), acceptance.by_class[2].points_lost()), ("c", None));
        let all: Vec<(u16, bool)> = (0..20).map(|_| (0, true)).collect();
        let half: Vec<(u16, bool)> = (0..20).map(|i| (0, i % 2 == 0)).collect();
        let acceptance = Acceptance::new(&answers(&all), &known(&["a"]), &answers(&half), &known(&["a"]));
        assert!(!acceptance.old.unwrap().is_within_chance(), "ten of twenty lost, none won: p = 2 / 1024");
        assert!(acceptance.rejects(AcceptanceCheck::default()) && !acceptance.rejects(AcceptanceCheck::Off));
        assert!(!acceptance.rejects(at_most(0.5)), "a limit that was given is the only check");
        let won = Acceptance::new(&answers(&half), &known(&["a"]), &answers(&all), &known(&["a"]));
        assert!(!won.old.unwrap().is_within_chance() && !won.rejects(AcceptanceCheck::BeyondChance));
        assert_eq!(
            Acceptance::new(&[], &[], &answers(&half), &known(&["a"])).old,
            None,
            "a first session loses nothing"
        );
    }
}
