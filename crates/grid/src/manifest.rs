//! The list of a grid's runs as a file: one line of JSON each, runnable alone.

use std::collections::BTreeSet;

use crate::{MOST_RUNS, Planned};

/// The text of `manifest.jsonl`.
pub fn manifest(runs: &[Planned]) -> String {
    let line = |run: &Planned| serde_json::to_string(run).expect("settings are plain data") + "\n";
    runs.iter().map(line).collect()
}

/// Reads it.
///
/// # Errors
/// A line is not what [`manifest`] writes: its number, and what is wrong with it.
pub fn read_manifest(text: &str) -> Result<Vec<Planned>, String> {
    let read = |(i, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", i + 1));
    let runs: Vec<Planned> = text.lines().take(MOST_RUNS + 1).enumerate().map(read).collect::<Result<_, String>>()?;
    if runs.is_empty() {
        return Err("it does not list any run".into());
    }
    if runs.len() > MOST_RUNS {
        return Err(format!("it lists more than {MOST_RUNS} runs, which is the most that a grid can have"));
    }
    let mut names = BTreeSet::new();
    match runs.iter().enumerate().position(|(i, run)| run.index != i || !names.insert(&run.name)) {
        None => Ok(runs),
        Some(i) => Err(format!("line {}: it should be run {i}, and of another name than those before", i + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn what_is_read_is_what_was_written() {
        let text = "[fixed]\nlr = 0.1\noffer = 'first-epoch'\n[axes]\nseed = [0, 1]\n";
        let runs = Grid::parse(text).unwrap().runs().unwrap();
        assert_eq!(read_manifest(&manifest(&runs)).unwrap(), runs);
        assert_eq!(manifest(&runs).lines().count(), 2);
        assert!(read_manifest("{}\n").unwrap_err().starts_with("line 1: missing field"));
        assert_eq!(read_manifest("").unwrap_err(), "it does not list any run");
        let cut = manifest(&runs).lines().skip(1).collect::<String>();
        assert!(read_manifest(&cut).unwrap_err().starts_with("line 1: it should be run 0"));
        for name in ["../evil", "/tmp/evil", "a/b", "..", "", "logs", "a\\u0007"] {
            let elsewhere = manifest(&runs).replace("seed1", name);
            let why = read_manifest(&elsewhere).unwrap_err();
            assert!(why.starts_with("line 2: ") && why.contains("does not name a run"), "{name}: {why}");
        }
        let twice = manifest(&runs).replace("seed1", "seed0");
        assert!(read_manifest(&twice).unwrap_err().starts_with("line 2: it should be run 1, and of another name"));
    }
}
