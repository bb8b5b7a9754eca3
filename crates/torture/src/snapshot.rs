//! The results of commands, without what differs between two undisturbed runs.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{process::Exit, scenario::Same, table, tally::Verdict, workspace::files_below};

/// The bytes of files and of standard output, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, Vec<u8>>);

impl Snapshot {
    /// Of a directory, and of the output of a command that succeeded.
    pub fn new(same: Same, directory: &Path, exit: &Exit) -> Result<Self> {
        let mut all = BTreeMap::new();
        for &name in same {
            if let Some(form) = name.strip_prefix("stdout") {
                let form = form.strip_prefix(" as ").unwrap_or("");
                all.insert(name.into(), normalized(form, exit.stdout.clone())?);
                continue;
            }
            for path in files_below(&directory.join(name))? {
                let file = path.strip_prefix(directory)?.to_string_lossy().into_owned();
                if table::is_leftover(&file) {
                    bail!("{file} is left");
                }
                if !table::is_ignored(&file) {
                    let bytes = normalized(&file, fs::read(&path)?).with_context(|| file.clone())?;
                    all.insert(file, bytes);
                }
            }
        }
        Ok(Self(all))
    }

    /// Compares a result with this one.
    pub fn compare(&self, same: Same, directory: &Path, exit: &Exit) -> Verdict {
        match Self::new(same, directory, exit) {
            Ok(found) => self.difference(&found).map_or(Verdict::Same, Verdict::another_result),
            Err(error) => Verdict::another_result(format!("{error:#}")),
        }
    }

    /// The first difference of another one.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let mut names = self.0.keys().chain(other.0.keys());
        let name = names.find(|name| self.0.get(*name) != other.0.get(*name))?;
        let (Some(expected), Some(found)) = (self.0.get(name), other.0.get(name)) else {
            return Some(format!(
                "{name} {}",
                if self.0.contains_key(name) { "is missing" } else { "should not be there" }
            ));
        };
        let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
        let near = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[at.saturating_sub(20)..(at + 30).min(bytes.len())]).into_owned()
        };
        Some(format!("{name} differs at byte {at}: {:?} instead of {:?}", near(found), near(expected)))
    }
}

/// The bytes of a file without what varies.
fn normalized(file: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let varying = table::varying(file);
    let json = |text: &[u8]| -> Result<Value> {
        let mut value = serde_json::from_slice(text)?;
        varying.iter().for_each(|path| remove(&mut value, path));
        Ok(value)
    };
    Ok(match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("pack") => {
            // The header, which is padded with spaces, has the path of the folder: only its name is compared.
            let (header, images) = bytes.split_at(bytes.len().min(table::PACK_HEADER));
            let header = String::from_utf8_lossy(header).into_owned();
            let (before, rest) = header.split_once(table::PACK_ROOT).context("the header has no path")?;
            let (path, after) = rest.split_once('"').context("the header's path is cut")?;
            let name = path.rsplit('/').next().unwrap_or(path);
            [before.as_bytes(), name.as_bytes(), after.trim_end().as_bytes(), images].concat()
        }
        _ if varying.is_empty() => bytes,
        Some("json") => json(&bytes)?.to_string().into_bytes(),
        Some("jsonl") => {
            let lines = bytes.split_inclusive(|&byte| byte == b'\n');
            lines.map(|line| Ok(format!("{}\n", json(line)?))).collect::<Result<String>>()?.into_bytes()
        }
        Some("safetensors") => {
            let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length) as usize).context("no length")?;
            let table = bytes.get(8..8 + length).context("the table is cut")?;
            let mut table: Value = serde_json::from_slice(table).context("the table is not JSON")?;
            let header = table["__metadata__"]["rehearsal"].take();
            let header = json(header.as_str().context("no header")?.as_bytes())?;
            [format!("{table}\n{header}\n").as_bytes(), &bytes[8 + length..]].concat()
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes);
            let counts = |line: &&str| !varying.iter().any(|beginning| line.starts_with(beginning));
            text.lines().filter(counts).collect::<Vec<_>>().join("\n").into_bytes()
        }
    })
}

/// Removes the value at a path of [`table::varying`].
fn remove(value: &mut Value, path: &str) {
    if let Some((condition, path)) = path.split_once('/') {
        if condition.split_once('=').is_some_and(|(name, wanted)| value[name] == wanted) {
            remove(value, path);
        }
        return;
    }
    match (path.split_once('.'), value) {
        (None, Value::Object(table)) if path == "!" => table.retain(|name, _| !table::is_neutral(name)),
        (None, Value::Object(table)) => drop(table.remove(path)),
        (Some(("*", rest)), Value::Array(items)) => items.iter_mut().for_each(|item| remove(item, rest)),
        (Some((name, rest)), Value::Object(table)) => {
            table.get_mut(name).into_iter().for_each(|inner| remove(inner, rest));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::Status;

    fn normal(file: &str, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        normalized(file, bytes.as_ref().to_vec()).unwrap()
    }

    #[test]
    fn results_are_the_same_whatever_their_times_and_threads() {
        let of = |text| normal("run/result.json", text);
        let first = of(r#"{"accuracy":0.5,"seconds":{"total":1},"config":{"lr":0.1,"threads":1}}"#);
        assert_eq!(first, of(r#"{"accuracy":0.5,"seconds":{"total":2},"config":{"lr":0.1,"threads":2}}"#));
        assert_ne!(first, of(r#"{"accuracy":0.5,"seconds":{"total":1},"config":{"lr":0.2,"threads":1}}"#));
        let lines = |text| normal("run/steps.jsonl", text);
        assert_eq!(lines("{\"step\":1}\n{\"seconds\":1.5}\n"), lines("{\"step\":1}\n{\"seconds\":2}\n"));
        assert_ne!(lines("{\"step\":1}\n{\"seconds\":1.5}\n"), lines("{\"step\":2}\n{\"seconds\":1.5}\n"));
        let pack = |path, image| normal("a.pack", format!("{:4096}{image}", format!("{{\"root\":\"{path}\"}}")));
        assert_eq!(pack("/here/photos", "x"), pack("/there/photos", "x"));
        assert_ne!(pack("/here/photos", "x"), pack("/here/other", "x"));
        assert_ne!(pack("/here/photos", "x"), pack("/here/photos", "y"));
        assert_eq!(normal("show.json", r#"{"versions":[{"bytes":7,"n":1}]}"#), br#"{"versions":[{"n":1}]}"#);
    }

    #[test]
    fn checkpoints_are_the_same_whatever_their_times() {
        let file = |seconds: f64, weight: u8| {
            let header = serde_json::json!({
                "sha256": seconds.to_string(), "config": { "lr": 0.1, "threads": 1 },
                "run": { "settings": {}, "progress": { "task_seconds": [seconds], "matrix": [[0.5]] } },
            });
            let table =
                serde_json::json!({ "__metadata__": { "rehearsal": header.to_string() }, "w": [1] }).to_string();
            [&(table.len() as u64).to_le_bytes()[..], table.as_bytes(), &[weight]].concat()
        };
        let of = |seconds, weight| normal("run/checkpoint/latest.safetensors", file(seconds, weight));
        assert_eq!(of(1.0, 7), of(2.5, 7));
        assert_ne!(of(1.0, 7), of(1.0, 8));
        assert!(normalized("latest.safetensors", file(1.0, 7)[..20].to_vec()).is_err());
    }

    #[test]
    fn models_are_the_same_whatever_their_times_and_leftovers_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let exit = Exit { status: Status::Code(0), stdout: vec![], stderr: String::new(), duration: Duration::ZERO };
        let with = |name: &str, text: &str| {
            let path = directory.path().join("m/versions").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            Snapshot::new(&["m"], directory.path(), &exit)
        };
        let history = |when, images| format!("{{\"event\":\"learned\",\"when\":\"{when}\",\"images\":{images}}}\n");
        with("0001.safetensors", "one").unwrap();
        with("../lock", "").unwrap();
        with("../model.toml", "sha256 = \"a\"\ncurrent = 1\nhistory-sha256 = \"b\"\nsha256 = [\"c\"]\n").unwrap();
        let first = with("../history.jsonl", &history("now", 3)).unwrap();
        assert_eq!(with("../history.jsonl", &history("then", 3)).unwrap(), first);
        assert_ne!(with("../history.jsonl", &history("then", 4)).unwrap(), first);
        with("../history.jsonl", &history("then", 3)).unwrap();
        let settings =
            |first, last| format!("sha256 = \"{first}\"\ncurrent = 1\nhistory-sha256 = \"y\"\nsha256 = [\"{last}\"]\n");
        assert_eq!(with("../model.toml", &settings("x", "c")).unwrap(), first);
        assert_ne!(with("../model.toml", &settings("x", "d")).unwrap(), first);
        assert!(with("0001.safetensors.partial", "").unwrap_err().to_string().contains("is left"));
    }

    #[test]
    fn a_difference_is_named_with_its_place() {
        let of = |bytes: &[u8]| Snapshot([("x".to_owned(), bytes.to_vec())].into());
        assert!(of(&[1, 2]).difference(&of(&[1, 3])).unwrap().starts_with("x differs at byte 1"));
        assert_eq!(of(&[1]).difference(&of(&[1])), None);
        assert_eq!(of(&[1]).difference(&Snapshot::default()).unwrap(), "x is missing");
    }
}
