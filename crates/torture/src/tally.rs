//! The verdicts of trials, counted and printed as the table of `docs/reliability.md`.

use std::collections::BTreeMap;

use crate::process::{Exit, Status};

/// What became of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The result of an undisturbed run, bit for bit.
    Same,
    /// An error message, with exit code 1 or 2.
    Refused(String),
    Wrong(Wrong, String),
}

/// What is wrong, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It succeeded with another result.
    AnotherResult,
    /// The same command, repeated without disturbance, does not succeed.
    Stuck,
    /// It failed without an error message, or with an unexpected exit code.
    NoMessage,
    Panic,
    /// A signal that we had not sent ended it.
    Signal,
    Hang,
}

const COLUMNS: &str =
    "trials | disturbed | refused | same result | another result | stuck | no message | panics | signals | hangs";

impl Verdict {
    /// The verdict on a command that failed; `None` if it succeeded.
    pub fn of_failure(exit: &Exit) -> Option<Self> {
        let wrong = |wrong| Some(Self::Wrong(wrong, format!("{:?}: {}", exit.status, exit.stderr.trim())));
        match exit.status {
            _ if exit.has_panicked() => wrong(Wrong::Panic),
            Status::Code(0) => None,
            Status::Code(1 | 2 | 130) if !exit.message().is_empty() => Some(Self::Refused(exit.message().into())),
            // The system's loader could not start it.
            Status::Code(127) => Some(Self::Refused(exit.message().into())),
            Status::Code(_) => wrong(Wrong::NoMessage),
            Status::Signal(_) => wrong(Wrong::Signal),
            Status::TimedOut => wrong(Wrong::Hang),
        }
    }

    /// The same for a command whose report on standard output says what is wrong.
    pub fn of_failed_report(exit: &Exit) -> Option<Self> {
        match Self::of_failure(exit) {
            Some(Self::Wrong(Wrong::NoMessage, why)) if !exit.stdout.is_empty() => Some(Self::Refused(why)),
            verdict => verdict,
        }
    }

    pub fn another_result(why: impl Into<String>) -> Self {
        Self::Wrong(Wrong::AnotherResult, why.into())
    }

    /// Says what was done, if something is wrong.
    pub fn after(self, what: &str) -> Self {
        match self {
            Self::Wrong(wrong, why) => Self::Wrong(wrong, format!("{what}: {why}")),
            fine => fine,
        }
    }

    pub fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong(..))
    }

    pub fn column(&self) -> usize {
        match self {
            Self::Refused(_) => 2,
            Self::Same => 3,
            Self::Wrong(wrong, _) => 4 + *wrong as usize,
        }
    }

    pub fn name(&self) -> &'static str {
        COLUMNS.split(" | ").nth(self.column()).unwrap_or("")
    }
}

type Row = [usize; 10];

/// The rows of all trials, by kind and subject.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<(String, String), Row>);

impl Tally {
    /// Counts a trial, in which something was disturbed some number of times.
    pub fn count(&mut self, kind: &str, subject: &str, disturbed: usize, verdict: &Verdict) {
        let row = self.0.entry((kind.into(), subject.into())).or_default();
        row[0] += 1;
        row[1] += disturbed;
        row[verdict.column()] += 1;
    }

    pub fn is_clean(&self) -> bool {
        self.0.values().flat_map(|row| &row[4..]).all(|&count| count == 0)
    }

    pub fn disturbed(&self, kind: &str) -> usize {
        self.0.iter().filter(|((of, _), _)| of == kind).map(|(_, row)| row[1]).sum()
    }

    /// Markdown: the sums of each kind, and a row for each subject.
    pub fn table(&self) -> String {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for ((kind, subject), counts) in &self.0 {
            for name in [format!("{kind}: {subject}"), format!("{kind}: **all**")] {
                let row = rows.entry(name).or_default();
                row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        let line = |(name, row): (&String, &Row)| format!("| {name} | {} |\n", row.map(|n| n.to_string()).join(" | "));
        let lines: String = rows.iter().map(line).collect();
        format!("| | {COLUMNS} |\n|---|{}\n{lines}", "---:|".repeat(10))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn exits_become_verdicts() {
        let verdict = |status, stderr: &str| {
            Verdict::of_failure(&Exit { status, stdout: vec![], stderr: stderr.into(), duration: Duration::ZERO })
        };
        assert_eq!(verdict(Status::Code(0), ""), None);
        assert_eq!(verdict(Status::Code(2), "x\nerror: y\n"), Some(Verdict::Refused("error: y".into())));
        let name = |status, stderr| verdict(status, stderr).unwrap().name();
        assert_eq!(name(Status::Code(1), ""), "no message");
        assert_eq!(name(Status::Code(101), ""), "panics");
        assert_eq!(name(Status::Code(1), "thread 'x' panicked at y"), "panics");
        assert_eq!(name(Status::Code(0), "thread 'x' panicked at y"), "panics");
        assert_eq!(name(Status::Signal(6), ""), "signals");
        assert_eq!(name(Status::TimedOut, ""), "hangs");
    }

    #[test]
    fn the_table_has_every_subject_and_the_sums() {
        let mut tally = Tally::default();
        tally.count("kills", "run", 3, &Verdict::Same);
        tally.count("kills", "grid", 1, &Verdict::Refused("why".into()));
        assert!(tally.is_clean());
        assert_eq!(tally.disturbed("kills"), 4);
        tally.count("kills", "grid", 1, &Verdict::another_result("bits"));
        assert!(!tally.is_clean());
        let table = tally.table();
        assert!(
            table.contains("| kills: **all** | 3 | 5 | 1 | 1 | 1 | 0 | 0 | 0 | 0 | 0 |\n| kills: grid | 2 |"),
            "{table}"
        );
    }
}
