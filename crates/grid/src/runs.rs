//! The runs that a grid stands for.

use std::collections::BTreeSet;

use rehearsal_runs::{RunName, RunNameError};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{Grid, GridError};

/// One run of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// Its place in the list, from 0.
    pub index: usize,
    /// Its name, which is that of its directory.
    pub name: RunName,
    /// Every setting that the file sets.
    pub settings: Table,
}

/// Settings that come first in names, as values only.
const PLAIN: [&str; 4] = ["method", "retrieval", "ratio", "dataset"];

impl Grid {
    /// Every combination of the axes but the excluded, seed by seed.
    ///
    /// # Errors
    /// An exclusion leaves nothing out, all is excluded, or two combinations are the same run.
    pub fn runs(&self) -> Result<Vec<Planned>, GridError> {
        let combinations = self.combinations();
        for (i, exclusion) in self.exclude.iter().enumerate() {
            if !combinations.iter().any(|settings| has(settings, exclusion)) {
                return Err(GridError::ExcludesNothing(i + 1, exclusion.to_string().trim().replace('\n', ", ")));
            }
        }
        let all = combinations.len();
        let excluded = |settings: &Table| self.exclude.iter().any(|exclusion| has(settings, exclusion));
        let kept: Vec<Table> = combinations.into_iter().filter(|settings| !excluded(settings)).collect();
        if kept.is_empty() {
            return Err(GridError::AllExcluded(all));
        }
        let (mut runs, mut names) = (Vec::new(), BTreeSet::new());
        for (index, settings) in kept.into_iter().enumerate() {
            let name = self.name(&settings);
            if !names.insert(name.clone()) {
                return Err(GridError::SameRun(name.into()));
            }
            runs.push(Planned { index, name, settings });
        }
        Ok(runs)
    }

    /// Axes vary in alphabetical order, the last fastest; that of the seed slowest of all.
    fn combinations(&self) -> Vec<Table> {
        let of_seed = |values: &[Table]| values.iter().any(|settings| settings.contains_key("seed"));
        let (seeds, others): (Vec<_>, Vec<_>) = self.axes.values().partition(|values| of_seed(values));
        let mut combinations = vec![self.fixed.clone()];
        for values in seeds.into_iter().chain(others) {
            let with = |settings: &Table, value: &Table| {
                let mut settings = settings.clone();
                settings.extend(value.clone());
                settings
            };
            combinations = combinations
                .iter()
                .flat_map(|settings| values.iter().map(move |value| with(settings, value)))
                .collect();
        }
        combinations
    }

    /// The values of all axes, also of those with one value: when another value is added, the name stays.
    fn name(&self, settings: &Table) -> RunName {
        let varied = |name: &str| self.axes.values().flatten().any(|value| value.contains_key(name));
        let mut names: Vec<&str> = settings.keys().map(String::as_str).filter(|name| varied(name)).collect();
        let place = |name: &str| match PLAIN.iter().position(|plain| *plain == name) {
            Some(place) => place,
            None if name == "seed" => usize::MAX,
            None => PLAIN.len(),
        };
        names.sort_by_key(|name| place(name));
        let part = |name: &&str| match (&settings[*name], PLAIN.contains(name)) {
            (Value::String(text), _) => text.clone(),
            (value, true) => value.to_string(),
            (Value::Float(value), false) => format!("{name}{}", short(*value)),
            (value, false) => format!("{name}{value}"),
        };
        let name = names.iter().map(part).collect::<Vec<_>>().join("-");
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || "+-._".contains(c) { c } else { '-' }).collect();
        // Not hidden, not a path, and not the directory of logs.
        let with_prefix = |error: RunNameError| format!("run-{}", error.name).try_into();
        RunName::try_from(name).or_else(with_prefix).expect("`run-` and letters name a run")
    }
}

/// 0.1 or 1e38, whichever is shorter.
fn short(value: f64) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// Whether settings have all of some others.
fn has(settings: &Table, others: &Table) -> bool {
    others.iter().all(|(name, value)| settings.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        Grid::parse(text).unwrap().runs().unwrap().into_iter().map(|run| run.name.into()).collect()
    }

    #[test]
    fn every_combination_seed_by_seed() {
        let text = "[fixed]\nepochs = 2\n[axes]\nseed = [0, 7]\nmethod = ['er', 'pcr']\nmemory = [10, 20]\n";
        assert_eq!(
            names(text),
            [
                "er-memory10-seed0",
                "pcr-memory10-seed0",
                "er-memory20-seed0",
                "pcr-memory20-seed0",
                "er-memory10-seed7",
                "pcr-memory10-seed7",
                "er-memory20-seed7",
                "pcr-memory20-seed7",
            ]
        );
        let runs = Grid::parse(text).unwrap().runs().unwrap();
        assert!(runs.iter().enumerate().all(|(i, run)| run.index == i && run.settings["epochs"] == Value::Integer(2)));
    }

    #[test]
    fn tables_set_several_settings_and_exclusions_leave_out() {
        let text = "[axes]\nlearner = [{ method = 'er', retrieval = 'random' }, { method = 'fine-tune' }]\n\
                    dataset = ['cifar10', 'core50']\n[[exclude]]\nmethod = 'fine-tune'\ndataset = 'core50'\n";
        assert_eq!(names(text), ["er-random-cifar10", "fine-tune-cifar10", "er-random-core50"]);
    }

    #[test]
    fn names_stay_when_an_axis_gets_another_value() {
        assert_eq!(names("[axes]\nmethod = ['er']\nratio = ['7:3', '5:5']"), ["er-7-3", "er-5-5"]);
        assert_eq!(names("[axes]\nmethod = ['er']"), ["er"]);
        assert_eq!(names("[axes]\nmethod = ['er', 'pcr']"), ["er", "pcr"]);
        assert_eq!(names("[axes]\nlr = [0.05, 1e38, 1.0]"), ["lr0.05", "lr1e38", "lr1"]);
        assert_eq!(
            names("[axes]\ndataset = ['..', 'logs', 'a/b', 'manifest.jsonl', '']"),
            ["run-..", "run-logs", "a-b", "run-manifest.jsonl", "run-"]
        );
    }

    #[test]
    fn mistakes_are_refused() {
        let runs = |text: &str| Grid::parse(text).unwrap().runs().unwrap_err().to_string();
        let text = "[axes]\nseed = [0, 1]\n";
        assert_eq!(
            runs(&format!("{text}[[exclude]]\nseed = 2\n")),
            "exclusion 1 leaves nothing out: no combination has seed = 2"
        );
        assert_eq!(
            runs(&format!("{text}[[exclude]]\nseed = 0\n[[exclude]]\nseed = 1\n")),
            "all 2 combinations are excluded"
        );
        assert_eq!(
            runs("[axes]\na = [{ method = 'er', lr = 1 }, { lr = 1, method = 'e r' }, { lr = 1, method = 'e-r' }]"),
            "two combinations are the same run: e-r-lr1"
        );
    }
}
