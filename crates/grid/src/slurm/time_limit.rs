//! The time limit of a task, as Slurm writes it.

use std::{fmt, str::FromStr};

/// A time limit, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    text: String,
    seconds: Option<u64>,
}

impl TimeLimit {
    /// In seconds; none if it is unlimited.
    pub fn seconds(&self) -> Option<u64> {
        self.seconds
    }
}

impl FromStr for TimeLimit {
    type Err = String;

    /// Minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
    /// days-hours:minutes:seconds, or `unlimited`.
    fn from_str(text: &str) -> Result<Self, String> {
        let limit = |seconds| Ok(Self { text: text.into(), seconds });
        if ["unlimited", "infinite"].contains(&text.to_lowercase().as_str()) {
            return limit(None);
        }
        let wrong = || {
            format!("`{text}` is not a time: write minutes (90), hours:minutes:seconds (1:30:00) or days-hours (2-12)")
        };
        let (days, rest) = match text.split_once('-') {
            Some((days, rest)) => (Some(number(days).ok_or_else(wrong)?), rest),
            None => (None, text),
        };
        let parts: Option<Vec<u64>> = rest.split(':').map(number).collect();
        let (hours, minutes, seconds) = match (days, parts.ok_or_else(wrong)?.as_slice()) {
            (None, &[minutes]) => (0, minutes, 0),
            (None, &[minutes, seconds]) => (0, minutes, seconds),
            (Some(_), &[hours]) => (hours, 0, 0),
            (Some(_), &[hours, minutes]) => (hours, minutes, 0),
            (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
            _ => return Err(wrong()),
        };
        limit(Some(((days.unwrap_or(0) * 24 + hours) * 60 + minutes) * 60 + seconds))
    }
}

/// A number small enough for sums not to overflow.
fn number(text: &str) -> Option<u64> {
    let digits = text.len() <= 9 && text.chars().all(|c| c.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_slurm_reads_it() {
        for (text, seconds) in [
            ("90", 90 * 60),
            ("1:30", 90),
            ("01:30:10", 5410),
            ("2-12", 60 * 3600),
            ("2-12:30", 60 * 3600 + 1800),
            ("1-0:0:1", 86401),
        ] {
            let limit: TimeLimit = text.parse().unwrap();
            assert_eq!((limit.seconds(), limit.to_string().as_str()), (Some(seconds), text));
        }
        assert_eq!("UNLIMITED".parse::<TimeLimit>().unwrap().seconds(), None);
        for text in ["", "soon", "1h", "-1", "1:2:3:4", "1-", "1.5", "99999999999999999999", "1\n"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text:?}");
        }
    }
}
