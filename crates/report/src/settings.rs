//! The settings of a run, as a table of names and values: what a newer version adds is kept and compared like the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Settings that do not change a run's results, or are what is averaged over.
const APART: &[&str] =
    &["seed", "threads", "data", "checkpoint-minutes", "version", "data-sha256", "diagnostics", "tensorboard"];

/// Settings that say what is learned: a column of a table.
const DATA: &[&str] = &[
    "dataset",
    "tasks",
    "classes",
    "class-order",
    "train-per-class",
    "test-per-class",
    "size",
    "stream",
    "blur",
    "task-classes",
    "skip-bad",
];

/// Settings that must agree for a comparison to be fair: one set of tables each.
const PROTOCOL: &[&str] = &[
    "epochs",
    "memory",
    "batch",
    "retrieved",
    "lr",
    "width",
    "backbone",
    "momentum",
    "weight-decay",
    "schedule",
    "offer",
    "device",
    "kernels",
];

/// Every setting of a run by its name in `config.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub BTreeMap<String, Value>);

impl Settings {
    /// A setting as text, without quotes.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).map(plain)
    }

    /// A setting that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// What is learned.
    pub fn data(&self) -> Part {
        self.part(|name| DATA.contains(&name))
    }

    /// What must agree for a comparison to be fair.
    pub fn protocol(&self) -> Part {
        self.part(|name| PROTOCOL.contains(&name))
    }

    /// How it is learned: the method, its retrieval, and every setting that is nothing else.
    pub fn arm(&self) -> Part {
        self.part(|name| ![APART, DATA, PROTOCOL].iter().any(|list| list.contains(&name)))
    }

    fn part(&self, wanted: impl Fn(&str) -> bool) -> Part {
        Part(self.0.iter().filter(|(name, _)| wanted(name)).map(|(name, value)| (name.clone(), plain(value))).collect())
    }
}

/// Some settings as text, comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part(pub BTreeMap<String, String>);

impl Part {
    /// One of them; empty if it is not said.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// One of them as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).parse().ok()
    }

    /// All but one.
    pub fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// The settings in which it differs from others, as words: "views raw, denominator set".
    pub fn distinction<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> String {
        let others: Vec<&Self> = others.into_iter().collect();
        let names: BTreeSet<&str> = others.iter().flat_map(|other| self.differing(other)).collect();
        let value = |name: &str| match self.get(name) {
            "" => "not said".to_owned(),
            value => value.to_owned(),
        };
        names.into_iter().map(|name| format!("{name} {}", value(name))).collect::<Vec<_>>().join(", ")
    }

    /// The names of the settings in which it differs from another.
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let names: BTreeSet<&str> = self.0.keys().chain(other.0.keys()).map(String::as_str).collect();
        names.into_iter().filter(|name| self.get(name) != other.get(name)).collect()
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: Value) -> Settings {
        Settings(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn every_setting_has_one_place_and_new_ones_belong_to_the_arm() {
        let run = settings(json!({"seed": 3, "dataset": "cifar100", "epochs": 1, "method": "pcr", "brand-new": 0.5}));
        assert_eq!(run.data().0.len() + run.protocol().0.len() + run.arm().0.len(), 4, "all but the seed");
        assert_eq!(run.arm().get("brand-new"), "0.5");
        assert_eq!(run.protocol().number("epochs"), Some(1.0));
        assert_eq!((run.arm().get("retrieval"), run.number("seed")), ("", Some(3.0)));
    }

    #[test]
    fn parts_say_where_they_differ() {
        let one = settings(json!({"method": "er", "views": "raw"})).arm();
        let other = settings(json!({"method": "pcr", "views": "raw", "ratio": "5:5"})).arm();
        assert_eq!(one.differing(&other), ["method", "ratio"]);
        assert_eq!(one.without("method").differing(&other.without("method")), ["ratio"]);
    }
}
