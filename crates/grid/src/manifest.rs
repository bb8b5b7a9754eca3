//! The list of a grid's runs as a file: one line of JSON each, runnable alone.

use crate::Planned;

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
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(i, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", i + 1))).collect()
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
    }
}
