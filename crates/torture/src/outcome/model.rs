//! A model's directory without what differs from time to time: when something happened.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Outcome;

/// Every version's file, byte for byte; the history without its times; which version is used, and
/// what is kept. Nothing half-written is left.
pub fn of_model(directory: &Path) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (name, bytes) in Outcome::of_tree(directory)?.0 {
        let bytes = match name.as_str() {
            // How far a visit was that is over may be left where a file could not be removed: the next one
            // does that.
            "lock" | "learning.safetensors" => continue,
            "model.toml" => settings(&bytes),
            "history.jsonl" => history(&bytes)?,
            name if name.starts_with("versions/") && name.ends_with(".safetensors") => bytes,
            other => bail!("{other} is left"),
        };
        outcome = outcome.with(&name, bytes);
    }
    fs::metadata(directory.join("model.toml")).context("there is no model.toml")?;
    Ok(outcome)
}

/// Without its own checksum and that of the history, in which times stand.
fn settings(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let counts =
        |line: &&str| !["sha256 = \"", "history-sha256", "history-bytes"].iter().any(|key| line.starts_with(key));
    text.lines().filter(counts).collect::<Vec<_>>().join("\n").into_bytes()
}

/// Without times; and of images that were removed, without how many: a process that was killed has
/// removed some before.
fn history(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut text = String::new();
    for line in std::str::from_utf8(bytes).context("history.jsonl")?.lines() {
        let mut value: Value = serde_json::from_str(line).context("history.jsonl")?;
        let is_removal = value["event"] == "removed";
        if let Some(table) = value.as_object_mut() {
            table.remove("when");
            if is_removal {
                table.remove("images");
            }
        }
        text += &format!("{value}\n");
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_do_not_count_and_rests_do() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("versions/0001.safetensors", "one");
        write("lock", "");
        write("model.toml", "sha256 = \"a\"\ncurrent = 1\nhistory-sha256 = \"b\"\nsha256 = [\"c\"]\n");
        write("history.jsonl", "{\"event\":\"learned\",\"when\":\"now\",\"images\":3}\n");
        let first = of_model(place.path()).unwrap();
        write("history.jsonl", "{\"event\":\"learned\",\"when\":\"then\",\"images\":3}\n");
        write("model.toml", "sha256 = \"x\"\ncurrent = 1\nhistory-sha256 = \"y\"\nsha256 = [\"c\"]\n");
        assert_eq!(of_model(place.path()).unwrap(), first);
        write("model.toml", "sha256 = \"x\"\ncurrent = 1\nhistory-sha256 = \"y\"\nsha256 = [\"d\"]\n");
        assert_ne!(of_model(place.path()).unwrap(), first);
        write("versions/0001.safetensors.partial", "");
        assert!(of_model(place.path()).unwrap_err().to_string().contains("is left"));
    }
}
