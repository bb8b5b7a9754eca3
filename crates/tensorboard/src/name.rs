//! Names of event files: `events.out.tfevents.<seconds>.<number>.rehearsal`. TensorBoard reads the
//! files of a directory in the order of names.

use std::{fs, io, path::Path};

const BEFORE: &str = "events.out.tfevents.";
const BEHIND: &str = ".rehearsal";

/// The name of an event file: when it was begun, and which of that second it is. Names are in order
/// if these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    seconds: u64,
    number: u32,
}

impl Name {
    /// One behind all that are in a directory, of this second or, if the clock was set back, of
    /// that of the last.
    pub fn behind_all(directory: &Path, seconds: u64) -> io::Result<Self> {
        let mut last = None;
        for entry in fs::read_dir(directory)? {
            last = last.max(entry?.file_name().to_str().and_then(Self::read));
        }
        let now = Self { seconds, number: 0 };
        Ok(last.map_or(now, |last| last.next().max(now)))
    }

    /// The next of the same second.
    pub fn next(self) -> Self {
        Self { number: self.number + 1, ..self }
    }

    fn read(name: &str) -> Option<Self> {
        let (seconds, number) = name.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?.split_once('.')?;
        Some(Self { seconds: seconds.parse().ok()?, number: number.parse().ok()? })
    }
}

/// Digits are filled up with zeros, so that the order of the alphabet is that of numbers.
impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{BEFORE}{:010}.{:05}{BEHIND}", self.seconds, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_in(directory: &Path, seconds: u64) -> String {
        Name::behind_all(directory, seconds).unwrap().to_string()
    }

    #[test]
    fn names_are_in_the_order_of_writing() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let mut names = Vec::new();
        // The same second thrice, then the clock is set back, then it goes on.
        for seconds in [1_700_000_000, 1_700_000_000, 1_700_000_000, 999, 1_700_000_001] {
            names.push(next_in(directory, seconds));
            fs::write(directory.join(names.last().unwrap()), "").unwrap();
        }
        assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert_eq!(names[3], "events.out.tfevents.1700000000.00003.rehearsal");
        assert_eq!(names[4], "events.out.tfevents.1700000001.00000.rehearsal");
    }

    #[test]
    fn files_of_others_do_not_matter() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["events.out.tfevents.9.host.1", "events.out.tfevents.x.y.rehearsal", "result.json"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(next_in(directory.path(), 5), "events.out.tfevents.0000000005.00000.rehearsal");
    }
}
