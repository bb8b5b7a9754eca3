//! What came out, without what differs from time to time: seconds, memory, and settings on which no
//! result depends.

mod checkpoint;
mod model;

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use rehearsal_runs::{Role, files};
use serde_json::Value;

/// What came out, by name. Two are the same only if every byte is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome(BTreeMap<String, Vec<u8>>);

impl Outcome {
    /// With one part more.
    pub fn with(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.0.insert(name.into(), bytes);
        self
    }

    /// With the parts of another, under a name.
    pub fn and(mut self, name: &str, other: Self) -> Self {
        self.0.extend(other.0.into_iter().map(|(part, bytes)| (format!("{name}/{part}"), bytes)));
        self
    }

    /// With every part as `as_told` tells it.
    pub fn told(mut self, as_told: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        self.0.values_mut().for_each(|bytes| *bytes = as_told(bytes));
        self
    }

    /// Without the parts whose names end so.
    pub fn without(mut self, ending: &str) -> Self {
        self.0.retain(|name, _| !name.ends_with(ending));
        self
    }

    /// Where another one differs first.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let mut names = self.0.keys().chain(other.0.keys());
        let name = names.find(|name| self.0.get(*name) != other.0.get(*name))?;
        let (ours, theirs) = (self.0.get(name), other.0.get(name));
        Some(match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let at = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
                let near = |bytes: &[u8]| {
                    String::from_utf8_lossy(&bytes[at.saturating_sub(20)..(at + 30).min(bytes.len())]).into_owned()
                };
                format!("{name} differs at byte {at}: {:?} for {:?}", near(theirs), near(ours))
            }
            (Some(_), None) => format!("{name} is missing"),
            _ => format!("{name} should not be there"),
        })
    }

    /// Of a finished run.
    pub fn of_run(directory: &Path) -> Result<Self> {
        let read = |name: &str| fs::read(directory.join(name)).with_context(|| format!("{name} cannot be read"));
        let mut outcome = Self::default()
            .with(files::RESULT, result(&read(files::RESULT)?)?)
            .with(files::PREDICTIONS, read(files::PREDICTIONS)?)
            .with(files::STEPS, steps(&read(files::STEPS)?)?)
            .with(files::CHECKPOINT, checkpoint::without_timings(&read(files::CHECKPOINT)?)?);
        if directory.join(files::DIAGNOSTICS).exists() {
            outcome = outcome.with(files::DIAGNOSTICS, read(files::DIAGNOSTICS)?);
        }
        // Only these may stand in the directory: nothing half-written is left.
        for entry in fs::read_dir(directory)?.chain(fs::read_dir(directory.join("checkpoint"))?) {
            let name = entry?.file_name();
            if name.to_string_lossy().ends_with(".partial") {
                bail!("{} is left", name.display());
            }
        }
        Ok(outcome)
    }

    /// Of a model.
    pub fn of_model(directory: &Path) -> Result<Self> {
        model::of_model(directory)
    }

    /// Every file below a directory.
    pub fn of_tree(root: &Path) -> Result<Self> {
        let mut outcome = Self::default();
        let mut left = vec![root.to_owned()];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(&directory).with_context(|| format!("{}", directory.display()))? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    left.push(entry.path());
                } else {
                    let name = entry.path().strip_prefix(root)?.to_string_lossy().into_owned();
                    outcome = outcome.with(&name, fs::read(entry.path())?);
                }
            }
        }
        Ok(outcome)
    }
}

/// `result.json`, as text of what must be the same.
pub fn result(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(bytes).context("result.json")?;
    let table = value.as_object_mut().context("result.json is no table")?;
    // The seal and the fingerprints cover seconds, too.
    for key in ["seconds", "samples_per_second", "peak_memory_bytes", "sha256", "files"] {
        table.remove(key);
    }
    if let Some(config) = table.get_mut("config") {
        without_neutral(config);
    }
    Ok(serde_json::to_vec_pretty(&value)?)
}

/// Settings on which no result depends are taken out.
fn without_neutral(settings: &mut Value) {
    if let Some(table) = settings.as_object_mut() {
        table.retain(|name, _| Role::of_setting(name) != Role::Neutral);
    }
}

/// `steps.jsonl` without the seconds of each task.
fn steps(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut text = String::new();
    for (i, line) in std::str::from_utf8(bytes).context("steps.jsonl")?.lines().enumerate() {
        let mut value: Value = serde_json::from_str(line).with_context(|| format!("steps.jsonl, line {}", i + 1))?;
        if let Some(table) = value.as_object_mut() {
            table.remove("seconds");
        }
        text += &format!("{value}\n");
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_do_not_count_and_all_else_does() {
        let of = |text: &str| result(text.as_bytes()).unwrap();
        let first = of(r#"{"accuracy":0.5,"seconds":{"total":1},"config":{"lr":0.1,"threads":1}}"#);
        assert_eq!(first, of(r#"{"accuracy":0.5,"seconds":{"total":2},"config":{"lr":0.1,"threads":2}}"#));
        assert_ne!(first, of(r#"{"accuracy":0.5,"seconds":{"total":1},"config":{"lr":0.2,"threads":1}}"#));
        let lines = |seconds: &str| steps(format!("{{\"step\":1}}\n{{\"seconds\":{seconds}}}\n").as_bytes()).unwrap();
        assert_eq!(lines("1.5"), lines("2"));
        let (a, b) = (Outcome::default().with("x", vec![1, 2]), Outcome::default().with("x", vec![1, 3]));
        assert!(a.difference(&b).unwrap().starts_with("x differs at byte 1") && a.difference(&a).is_none());
        assert_eq!(a.difference(&Outcome::default()).unwrap(), "x is missing");
    }
}
