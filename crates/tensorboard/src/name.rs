//! Names of event files: `events.out.tfevents.<seconds>.<number>.rehearsal`. TensorBoard reads a
//! directory's files in the order of their names.

use std::{fs, io, path::Path};

const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".rehearsal";

/// The name of an event file: the second in which it was started, and its number within that second.
/// Names sort as these do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    seconds: u64,
    number: u32,
}

impl Name {
    /// A name after all names in a directory: of this second, or of the last file's second if the
    /// clock was set back.
    pub fn after_all(directory: &Path, seconds: u64) -> io::Result<Self> {
        let mut last = None;
        for entry in fs::read_dir(directory)? {
            last = last.max(entry?.file_name().to_str().and_then(Self::read));
        }
        let now = Self { seconds, number: 0 };
        Ok(last.map_or(now, |last| last.next().max(now)))
    }

    /// The next name of the same second.
    pub fn next(self) -> Self {
        Self { number: self.number + 1, ..self }
    }

    fn read(name: &str) -> Option<Self> {
        let (seconds, number) = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('.')?;
        Some(Self { seconds: seconds.parse().ok()?, number: number.parse().ok()? })
    }
}

/// Numbers are padded with zeros, so that names sort as numbers do.
impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{PREFIX}{:010}.{:05}{SUFFIX}", self.seconds, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_in(directory: &Path, seconds: u64) -> String {
        Name::after_all(directory, seconds).unwrap().to_string()
    }

    #[test]
    fn names_are_in_the_order_of_writing() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let mut names = Vec::new();
        // The same second three times, then the clock is set back, then time moves on.
        for seconds in [1_700_000_000, 1_700_000_000, 1_700_000_000, 999, 1_700_000_001] {
            names.push(next_in(directory, seconds));
            fs::write(directory.join(names.last().unwrap()), "").unwrap();
        }
        assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert_eq!(names[3], "events.out.tfevents.1700000000.00003.rehearsal");
        assert_eq!(names[4], "events.out.tfevents.1700000001.00000.rehearsal");
    }

    #[test]
    fn other_files_do_not_matter() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["events.out.tfevents.9.host.1", "events.out.tfevents.x.y.rehearsal", "result.json"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(next_in(directory.path(), 5), "events.out.tfevents.0000000005.00000.rehearsal");
    }
}
