//! Some of a grid's runs, by their settings: `method=pcr,seed=0`.

use std::{collections::BTreeMap, str::FromStr};

use thiserror::Error;
use toml::Value;

use crate::Planned;

/// Which runs: those that have, for every setting that is named, one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(BTreeMap<String, Vec<String>>);

/// Why no runs can be chosen.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OnlyError {
    /// It is not a setting and a value.
    #[error("`{0}` should be a setting and a value, such as method=pcr,seed=0")]
    Unreadable(String),
    /// No run has it.
    #[error("no run of the grid has {name}={value}: {}", values(name, known))]
    Nobody {
        /// The setting.
        name: String,
        /// Its value.
        value: String,
        /// The values that there are.
        known: Vec<String>,
    },
    /// No run has all of it.
    #[error("no run of the grid has all of these settings")]
    NobodyHasAll,
}

fn values(name: &str, known: &[String]) -> String {
    if known.is_empty() { format!("no run sets {name}") } else { format!("{name} is {}", known.join(", ")) }
}

impl FromStr for Only {
    type Err = OnlyError;

    fn from_str(text: &str) -> Result<Self, OnlyError> {
        let mut only = Self::default();
        for part in text.split(',') {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    only.0.entry(name.into()).or_default().push(value.into());
                }
                _ => return Err(OnlyError::Unreadable(part.into())),
            }
        }
        Ok(only)
    }
}

impl Only {
    /// The runs that have these settings.
    ///
    /// # Errors
    /// No run has a value, or the combination.
    pub fn of<'a>(&self, runs: &'a [Planned]) -> Result<Vec<&'a Planned>, OnlyError> {
        for (name, values) in &self.0 {
            let mut known: Vec<String> = Vec::new();
            for value in runs.iter().filter_map(|run| run.settings.get(name)).map(plain) {
                if !known.contains(&value) {
                    known.push(value);
                }
            }
            if let Some(value) = values.iter().find(|value| !known.contains(value)) {
                return Err(OnlyError::Nobody { name: name.clone(), value: value.clone(), known });
            }
        }
        let fits = |run: &&Planned| {
            self.0
                .iter()
                .all(|(name, values)| run.settings.get(name).is_some_and(|value| values.contains(&plain(value))))
        };
        let meant: Vec<&Planned> = runs.iter().filter(fits).collect();
        if meant.is_empty() { Err(OnlyError::NobodyHasAll) } else { Ok(meant) }
    }
}

/// A value as a person writes it, without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    fn chosen(only: &str) -> Result<Vec<String>, String> {
        let grid = "[axes]\nmethod = ['er', 'pcr']\nseed = [0, 1, 2]\n[[exclude]]\nmethod = 'er'\nseed = 2\n";
        let runs = Grid::parse(grid).unwrap().runs().unwrap();
        let only: Only = only.parse().map_err(|error: OnlyError| error.to_string())?;
        only.of(&runs)
            .map(|runs| runs.iter().map(|run| run.name.to_string()).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_and_values_are_or() {
        assert_eq!(chosen("method=pcr").unwrap(), ["pcr-seed0", "pcr-seed1", "pcr-seed2"]);
        assert_eq!(chosen("method=er, seed=1").unwrap(), ["er-seed1"]);
        assert_eq!(chosen("seed=0,seed=2").unwrap(), ["er-seed0", "pcr-seed0", "pcr-seed2"]);
    }

    #[test]
    fn settings_that_no_run_has_are_refused() {
        assert_eq!(chosen("pcr").unwrap_err(), "`pcr` should be a setting and a value, such as method=pcr,seed=0");
        assert_eq!(chosen("method=prc").unwrap_err(), "no run of the grid has method=prc: method is er, pcr");
        assert_eq!(chosen("width=4").unwrap_err(), "no run of the grid has width=4: no run sets width");
        assert_eq!(chosen("method=er,seed=2").unwrap_err(), "no run of the grid has all of these settings");
    }
}
