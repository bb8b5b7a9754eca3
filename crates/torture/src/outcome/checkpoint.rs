//! A checkpoint's bytes without its timings: `docs/model-file.md` says what stands where.

use anyhow::{Context, Result};
use serde_json::Value;

use super::without_neutral;

/// The table, the header and every array; without the checksum, seconds, the highest memory, and
/// how far the log was, whose digits of seconds vary.
pub fn without_timings(bytes: &[u8]) -> Result<Vec<u8>> {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length) as usize).context("no length")?;
    let table = bytes.get(8..8 + length).context("no table")?;
    let mut table: Value = serde_json::from_slice(table).context("the table is no JSON")?;
    let header = table["__metadata__"]["rehearsal"].as_str().context("no header")?;
    let mut header: Value = serde_json::from_str(header).context("the header is no JSON")?;
    let top = header.as_object_mut().context("the header is no table")?;
    top.remove("sha256");
    without_neutral(&mut header["config"]);
    without_neutral(&mut header["run"]["settings"]);
    if let Some(progress) = header["run"]["progress"].as_object_mut() {
        for key in ["task_seconds", "phases", "peak_memory_bytes", "steps_length", "log"] {
            progress.remove(key);
        }
    }
    table.as_object_mut().context("the table is no table")?.remove("__metadata__");
    let mut kept = format!("{table}\n{header}\n").into_bytes();
    kept.extend_from_slice(&bytes[8 + length..]);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(seconds: f64, weight: u8) -> Vec<u8> {
        let header = serde_json::json!({
            "sha256": seconds.to_string(), "config": { "lr": 0.1, "threads": 1 },
            "run": { "settings": {}, "progress": { "task_seconds": [seconds], "matrix": [[0.5]] } },
        });
        let table = serde_json::json!({ "__metadata__": { "rehearsal": header.to_string() }, "w": { "shape": [1] } });
        let table = table.to_string();
        [&(table.len() as u64).to_le_bytes()[..], table.as_bytes(), &[weight]].concat()
    }

    #[test]
    fn only_timings_may_differ() {
        let of = |seconds, weight| without_timings(&file(seconds, weight)).unwrap();
        assert_eq!(of(1.0, 7), of(2.5, 7));
        assert_ne!(of(1.0, 7), of(1.0, 8));
        assert!(without_timings(&file(1.0, 7)[..20]).is_err());
    }
}
