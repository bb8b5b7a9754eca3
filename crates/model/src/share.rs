//! A share of a whole, as people write it: `0.9` or `90%`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A share between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(f64);

/// A text that is no share.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoShare {
    /// Neither a number nor a percentage.
    #[error("expected a percentage such as 3%, or a fraction such as 0.03")]
    NotANumber,
    /// Negative, or more than the whole.
    #[error("it must be between 0 and 1, or between 0% and 100%")]
    OutOfRange,
    /// A number that was probably meant in percent.
    #[error("write {percent}%, or {fraction} as a fraction")]
    WithoutSign {
        /// As it was written.
        percent: String,
        /// As a fraction.
        fraction: String,
    },
}

impl Share {
    /// None if it is not between 0 and 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// Between 0 and 1.
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// Between 0 and 100.
    pub fn percent(self) -> f64 {
        100.0 * self.0
    }
}

impl FromStr for Share {
    type Err = NoShare;

    /// A bare `1` is refused: it may mean 1 % or all.
    fn from_str(text: &str) -> Result<Self, NoShare> {
        let text = text.trim();
        let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
        let value: f64 = number.parse().map_err(|_| NoShare::NotANumber)?;
        if whole < 2.0 && (text == "1" || (value > 1.0 && value <= 100.0)) {
            let fraction = (value / 100.0).to_string();
            return Err(NoShare::WithoutSign { percent: number.to_owned(), fraction });
        }
        Self::new(value / whole).ok_or(NoShare::OutOfRange)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 100 × 0.07 is not 7.
        write!(f, "{}%", (1e10 * self.0).round() / 1e8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<f64, NoShare> {
        text.parse().map(Share::fraction)
    }

    #[test]
    fn a_fraction_or_a_percentage() {
        assert_eq!((parsed("0.9"), parsed("90%"), parsed(" 90 % ")), (Ok(0.9), Ok(0.9), Ok(0.9)));
        assert_eq!(
            (parsed("0"), parsed("0%"), parsed("1%"), parsed("1.0"), parsed("100%")),
            (Ok(0.0), Ok(0.0), Ok(0.01), Ok(1.0), Ok(1.0))
        );
        assert_eq!("7%".parse::<Share>().unwrap().to_string(), "7%");
        assert_eq!((parsed("3%"), "3%".parse::<Share>().unwrap().to_string()), (Ok(0.03), "3%".into()));
    }

    #[test]
    fn a_number_without_its_sign_is_refused_with_both_ways_to_write_it() {
        for (text, fraction) in [("3", "0.03"), ("1", "0.01"), ("90", "0.9"), ("2.5", "0.025")] {
            let expected = NoShare::WithoutSign { percent: text.into(), fraction: fraction.into() };
            assert_eq!(parsed(text), Err(expected), "{text}");
        }
        for text in ["-3", "-0.1", "101", "101%", "-1%", "NaN", "inf"] {
            assert_eq!(parsed(text), Err(NoShare::OutOfRange), "{text}");
        }
        for text in ["", "%", "three", "3 percent", "3%%"] {
            assert_eq!(parsed(text), Err(NoShare::NotANumber), "{text}");
        }
    }
}
