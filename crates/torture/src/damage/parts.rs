//! The parts of a file, so that damage comes to each of them, however small.

use std::{ops::Range, path::Path};

use serde_json::Value;

/// Parts of a file, by name.
type Parts = Vec<(String, Range<usize>)>;

/// A model's file by length, table, header and arrays; a pack by header, images and journal; text by
/// lines; else the whole.
pub fn parts(path: &Path, bytes: &[u8]) -> Parts {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parts = if name.ends_with(".safetensors") {
        model(bytes).unwrap_or_default()
    } else if name.contains(".pack") && bytes.len() > 4096 {
        pack(bytes)
    } else if std::str::from_utf8(bytes).is_ok() {
        lines(bytes)
    } else {
        Parts::new()
    };
    if parts.is_empty() { vec![("all".into(), 0..bytes.len())] } else { parts }
}

fn model(bytes: &[u8]) -> Option<Parts> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?) as usize;
    let end = 8usize.checked_add(length)?;
    let table: Value = serde_json::from_slice(bytes.get(8..end)?).ok()?;
    let mut parts = vec![("length".into(), 0..8), ("table".into(), 8..end)];
    // The header may have megabytes; its beginning has what it is made of.
    parts.push(("checksum".into(), 8..end.min(160)));
    for (name, array) in table.as_object()? {
        let offset = |i: usize| Some(end + usize::try_from(array.get("data_offsets")?.get(i)?.as_u64()?).ok()?);
        if let (Some(from), Some(to)) = (offset(0), offset(1))
            && from < to
            && to <= bytes.len()
        {
            parts.push((name.clone(), from..to));
        }
    }
    Some(parts)
}

fn pack(bytes: &[u8]) -> Parts {
    let header = bytes.iter().position(|&byte| byte == b'}').unwrap_or(100).min(4095) + 1;
    let tail = bytes.len() - (bytes.len() - 4096).min(400);
    vec![
        ("header".into(), 0..header),
        ("padding".into(), header..4096),
        ("images".into(), 4096..bytes.len()),
        ("end".into(), tail..bytes.len()),
    ]
}

fn lines(bytes: &[u8]) -> Parts {
    let mut start = 0;
    let line = |(i, line): (usize, &[u8])| {
        let range = start..start + line.len();
        start = range.end;
        (format!("line {}", i + 1), range)
    };
    bytes.split_inclusive(|&byte| byte == b'\n').enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_array_of_a_model_is_a_part() {
        let table = r#"{"a":{"data_offsets":[0,4]},"b":{"data_offsets":[4,6]}}"#;
        let file = [&(table.len() as u64).to_le_bytes()[..], table.as_bytes(), &[7; 6]].concat();
        let parts = parts(Path::new("x/latest.safetensors"), &file);
        let end = 8 + table.len();
        assert_eq!(parts[3..], [("a".into(), end..end + 4), ("b".into(), end + 4..end + 6)]);
        assert_eq!(parts[0], ("length".into(), 0..8));
    }

    #[test]
    fn lines_cover_a_text_and_what_is_unknown_is_one_part() {
        assert_eq!(parts(Path::new("a.json"), b"{\n}\n"), [("line 1".into(), 0..2), ("line 2".into(), 2..4)]);
        assert_eq!(parts(Path::new("a.bin"), &[0xff, 1]), [("all".into(), 0..2)]);
        assert_eq!(parts(Path::new("a.log"), b""), [("all".into(), 0..0)]);
    }
}
