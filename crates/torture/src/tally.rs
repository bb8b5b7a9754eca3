//! What became of the trials: counted, and printed as the table of `docs/reliability.md`.

use std::collections::BTreeMap;

use crate::program::{Ended, Ending};

/// What became of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended with the result of an undisturbed one, bit for bit.
    Same,
    /// It said in a sentence what is wrong, with exit code 1 or 2.
    Refused(String),
    /// It ended well with another result.
    Another(String),
    /// The same command again, without disturbance, does not come to the end.
    Stuck(String),
    /// It ended with an exit code that it should not have, or without a sentence.
    Mute(String),
    /// It panicked.
    Panic(String),
    /// A signal ended it that we had not sent.
    Signal(String),
    /// It did not end.
    Hang(String),
}

/// What is wrong, in the order of the columns.
const WRONG: [&str; 6] = ["another result", "stuck", "no sentence", "panics", "signals", "hangs"];

impl Verdict {
    /// Of a call that ended badly; none of one that ended well.
    pub fn of_failure(ending: &Ending) -> Option<Self> {
        let told = || format!("{:?}: {}", ending.ended, ending.errors.trim());
        match ending.ended {
            _ if ending.has_panicked() => Some(Self::Panic(told())),
            Ended::Code(0) => None,
            Ended::Code(1 | 2 | 130) if !ending.sentence().is_empty() => Some(Self::Refused(ending.sentence().into())),
            // The system's loader could not even begin it.
            Ended::Code(127) => Some(Self::Refused(ending.sentence().into())),
            Ended::Code(_) => Some(Self::Mute(told())),
            Ended::Signal(_) => Some(Self::Signal(told())),
            Ended::Hung => Some(Self::Hang(told())),
        }
    }

    /// The column of what is wrong, and what was seen.
    pub fn wrong(&self) -> Option<(usize, &str)> {
        match self {
            Self::Same | Self::Refused(_) => None,
            Self::Another(what) => Some((0, what)),
            Self::Stuck(what) => Some((1, what)),
            Self::Mute(what) => Some((2, what)),
            Self::Panic(what) => Some((3, what)),
            Self::Signal(what) => Some((4, what)),
            Self::Hang(what) => Some((5, what)),
        }
    }

    pub fn column(&self) -> &'static str {
        self.wrong().map_or("", |(column, _)| WRONG[column])
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    trials: usize,
    disturbed: usize,
    refused: usize,
    same: usize,
    wrong: [usize; WRONG.len()],
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.trials += other.trials;
        self.disturbed += other.disturbed;
        self.refused += other.refused;
        self.same += other.same;
        self.wrong.iter_mut().zip(other.wrong).for_each(|(sum, more)| *sum += more);
    }
}

/// The trials of all parts.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<(String, String), Row>);

impl Tally {
    /// Counts a trial of a part on a subject, in which so many disturbances hit.
    pub fn count(&mut self, part: &str, subject: &str, disturbed: usize, verdict: &Verdict) {
        let row = self.0.entry((part.into(), subject.into())).or_default();
        row.trials += 1;
        row.disturbed += disturbed;
        match verdict.wrong() {
            Some((column, _)) => row.wrong[column] += 1,
            None if *verdict == Verdict::Same => row.same += 1,
            None => row.refused += 1,
        }
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.0.values().all(|row| row.wrong.iter().sum::<usize>() == 0)
    }

    /// How many disturbances of a part hit.
    pub fn disturbed(&self, part: &str) -> usize {
        self.0.iter().filter(|((of, _), _)| of == part).map(|(_, row)| row.disturbed).sum()
    }

    /// As Markdown: a row for each subject, and the sum of each part.
    pub fn table(&self) -> String {
        let head = format!("| | trials | disturbed | refused | same result | {} |\n", WRONG.join(" | "));
        let mut text = format!("{head}|---|{}\n", "---:|".repeat(4 + WRONG.len()));
        let mut parts: Vec<&str> = self.0.keys().map(|(part, _)| part.as_str()).collect();
        parts.dedup();
        for part in parts {
            let mut sum = Row::default();
            for ((_, subject), row) in self.0.iter().filter(|((of, _), _)| of == part) {
                sum.add(row);
                text += &line(&format!("{part}: {subject}"), row);
            }
            text += &line(&format!("**{part}**"), &sum);
        }
        text
    }
}

fn line(name: &str, row: &Row) -> String {
    let numbers = [row.trials, row.disturbed, row.refused, row.same].into_iter().chain(row.wrong);
    format!("| {name} | {} |\n", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn failure(ended: Ended, errors: &str) -> Option<Verdict> {
        Verdict::of_failure(&Ending { ended, out: Vec::new(), errors: errors.into(), lasted: Duration::ZERO })
    }

    #[test]
    fn endings_become_verdicts() {
        assert_eq!(failure(Ended::Code(0), ""), None);
        assert_eq!(failure(Ended::Code(2), "x\nerror: y\n"), Some(Verdict::Refused("error: y".into())));
        let column = |ended, errors: &str| failure(ended, errors).unwrap().column();
        assert_eq!(column(Ended::Code(1), ""), "no sentence");
        assert_eq!(column(Ended::Code(101), ""), "panics");
        assert_eq!(column(Ended::Code(1), "thread 'x' panicked at y"), "panics");
        assert_eq!(column(Ended::Code(0), "thread 'x' panicked at y"), "panics");
        assert_eq!(column(Ended::Signal(6), ""), "signals");
        assert_eq!(column(Ended::Hung, ""), "hangs");
    }

    #[test]
    fn a_table_has_every_subject_and_the_sums() {
        let mut tally = Tally::default();
        tally.count("kills", "run", 3, &Verdict::Same);
        tally.count("kills", "grid", 1, &Verdict::Refused("why".into()));
        assert!(tally.is_clean() && tally.disturbed("kills") == 4);
        tally.count("kills", "grid", 1, &Verdict::Another("bits".into()));
        assert!(!tally.is_clean());
        assert!(
            tally.table().ends_with("| **kills** | 3 | 5 | 1 | 1 | 1 | 0 | 0 | 0 | 0 | 0 |\n"),
            "{}",
            tally.table()
        );
    }
}
