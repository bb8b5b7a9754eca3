//! The seal of a finished run: at the end of `result.json` stand the SHA-256 of the files that
//! belong to it and of its own text. What was changed since is found by whoever reads the run.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// What stands in the place of the checksum while it is computed.
const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// After the checksum.
const END: &str = "\"\n}\n";

/// Why a finished run is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("it is not as it was written: its checksum is another")]
pub struct BrokenSeal;

/// The SHA-256 of some bytes, in hexadecimal.
pub fn fingerprint(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a table in JSON with a seal at its end. `files` are the fingerprints of what belongs
/// to it.
pub fn seal(json: &str, files: &BTreeMap<&str, String>) -> String {
    let json = json.trim_end();
    let open = json.strip_suffix('}').unwrap_or(json).trim_end();
    let comma = if open == "{" { "" } else { "," };
    let files = serde_json::to_string(files).expect("names and digits");
    let text = format!("{open}{comma}\n  \"files\": {files},\n  \"sha256\": \"{UNSEALED}{END}");
    let sum = fingerprint(text.as_bytes());
    text.replace(UNSEALED, &sum)
}

/// The fingerprints in a sealed text, once its own is found to be right; none in a text that an
/// older version wrote without a seal.
///
/// # Errors
/// Something was changed since it was written.
pub fn fingerprints(json: &str) -> Result<Option<BTreeMap<String, String>>, BrokenSeal> {
    let table: Value = serde_json::from_str(json).map_err(|_| BrokenSeal)?;
    let sum = match (table.get("sha256"), table.get("files")) {
        (Some(sum), _) => sum,
        (None, Some(_)) => return Err(BrokenSeal),
        (None, None) => return Ok(None),
    };
    let sum = sum.as_str().filter(|sum| sum.len() == UNSEALED.len()).ok_or(BrokenSeal)?;
    let open = json.strip_suffix(END).and_then(|open| open.strip_suffix(sum)).ok_or(BrokenSeal)?;
    if fingerprint(format!("{open}{UNSEALED}{END}").as_bytes()) != sum {
        return Err(BrokenSeal);
    }
    let files = table.get("files").cloned().ok_or(BrokenSeal)?;
    serde_json::from_value(files).map(Some).map_err(|_| BrokenSeal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_breaks_the_seal() {
        let sealed = seal("{\n  \"accuracy\": 0.5\n}\n", &[("predictions.bin", fingerprint(b"abc"))].into());
        // printf abc | sha256sum
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let files = fingerprints(&sealed).unwrap().unwrap();
        assert_eq!(files, [("predictions.bin".to_owned(), sum.to_owned())].into());
        for at in 0..sealed.len() {
            for bit in 0..7 {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let text = String::from_utf8(bytes).unwrap();
                assert_eq!(fingerprints(&text), Err(BrokenSeal), "{text}");
            }
        }
        assert_eq!(fingerprints("{\n  \"accuracy\": 0.5\n}\n"), Ok(None));
    }

    #[test]
    fn a_sealed_text_is_still_the_table_that_it_was() {
        let sealed = seal("{\"a\": {\"b\": 1}}\n", &BTreeMap::new());
        let table: Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!(table["a"]["b"], 1);
        assert_eq!(fingerprints(&sealed), Ok(Some(BTreeMap::new())));
        assert_eq!(fingerprints(&seal("{}", &BTreeMap::new())), Ok(Some(BTreeMap::new())));
    }
}
