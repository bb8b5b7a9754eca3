//! Damages a file: in every way, and in every part of it, even if the part is small.

use std::{fs, ops::Range, os::unix::fs::symlink, path::Path, process::Command};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::{random::Random, table::PACK_HEADER};

/// Numbers that replace others, in texts and in eight bytes.
const TEXT_NUMBERS: [&str; 9] = [
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0",
    "1e308",
    "99999999",
    "NaN",
    "9007199254740993",
    "2147483648",
];
const NUMBERS: [u64; 6] = [u64::MAX, 0, 1 << 63, 1 << 40, u32::MAX as u64, 0x7ff8_0000_0000_0000];

/// Damages a file, and says how. `other` is the same file of another seed.
pub fn damage(path: &Path, other: Option<&Path>, random: &mut Random) -> Result<String> {
    let good = fs::read(path)?;
    for _ in 0..100 {
        let mut bytes = good.clone();
        let how = match (random.below(40), other.filter(|other| other.is_file())) {
            (0, _) => return replace(path, random),
            (1 | 2, Some(other)) => {
                bytes = fs::read(other)?;
                "replaced by that of another seed".into()
            }
            _ => damage_bytes(&mut bytes, path, random),
        };
        if bytes != good {
            fs::write(path, bytes)?;
            return Ok(how);
        }
    }
    bail!("{} cannot be damaged", path.display());
}

/// Replaces a file by something that is not a regular file.
fn replace(path: &Path, random: &mut Random) -> Result<String> {
    fs::remove_file(path)?;
    match random.below(5) {
        0 => return Ok("removed".into()),
        1 => fs::create_dir(path)?,
        2 => drop(Command::new("mkfifo").arg(path).status()?),
        3 => symlink("/dev/zero", path)?,
        _ => symlink(path, path)?,
    }
    Ok("replaced by a directory, a FIFO, a device or a link to itself".into())
}

fn damage_bytes(bytes: &mut Vec<u8>, path: &Path, random: &mut Random) -> String {
    let parts = parts(path, bytes);
    let (part, range) = random.pick(&parts).clone();
    if range.is_empty() {
        let count = 1 + random.below(20);
        bytes.extend(random.bytes(count));
        return "extended by noise".into();
    }
    let at = range.start + random.below(range.len());
    let most = 1 << random.below(12);
    let length = 1 + random.below((bytes.len() - at).min(most));
    let how = match random.below(12) {
        0..=3 => {
            bytes[at] ^= 1 << random.below(8);
            "a bit flipped"
        }
        4 => {
            bytes[at] = *random.pick(&[0, 1, 0x20, 0x30, 0x39, 0x7f, 0x80, 0xff]);
            "set"
        }
        5 => {
            bytes[at..at + length].fill(0);
            "zeroed"
        }
        6 => {
            bytes.truncate(at);
            "cut"
        }
        7 => {
            let more = 1 + random.below(5000);
            let noise = random.below(2) == 0;
            bytes.extend(if noise { random.bytes(more) } else { vec![0; more] });
            "extended"
        }
        8 => {
            let to = random.below(bytes.len() - length + 1);
            bytes.copy_within(at..at + length, to);
            "copied elsewhere"
        }
        9 => {
            bytes.drain(at..at + length);
            "removed"
        }
        _ => return format!("{part}: {}", replace_number(bytes, range, random)),
    };
    format!("{part}: {how} at byte {at} (length {length})")
}

/// Replaces a number: the digits of a text, or eight bytes.
fn replace_number(bytes: &mut Vec<u8>, range: Range<usize>, random: &mut Random) -> String {
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits: Vec<usize> = range.clone().filter(|&at| bytes[at].is_ascii_digit()).collect();
    if digits.is_empty() || random.below(4) == 0 && bytes.len() >= 8 {
        let at = range.start.min(bytes.len().saturating_sub(8));
        let (number, end) = (*random.pick(&NUMBERS), (at + 8).min(bytes.len()));
        bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        return format!("{number} at byte {at}");
    }
    let at = *random.pick(&digits);
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_number(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_number(byte)).count();
    let number = *random.pick(&TEXT_NUMBERS);
    let before: Vec<u8> = bytes.splice(start..end, number.bytes()).collect();
    format!("{} at byte {start} replaced by {number}", String::from_utf8_lossy(&before))
}

/// The parts of a file, by name: the length, table, header and arrays of safetensors; the header, padding and images of
/// a pack; the lines of a text; the whole of any other file.
fn parts(path: &Path, bytes: &[u8]) -> Vec<(String, Range<usize>)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = Vec::new();
    if name.ends_with(".safetensors") {
        parts = arrays(bytes).unwrap_or_default();
    } else if name.contains(".pack") && bytes.len() > PACK_HEADER {
        let header = bytes.iter().position(|&byte| byte == b'}').unwrap_or(100).min(PACK_HEADER - 1) + 1;
        let end = bytes.len() - (bytes.len() - PACK_HEADER).min(400);
        let ranges = [0..header, header..PACK_HEADER, PACK_HEADER..bytes.len(), end..bytes.len()];
        parts = ["header", "padding", "images", "end"].map(str::to_owned).into_iter().zip(ranges).collect();
    } else if std::str::from_utf8(bytes).is_ok() {
        let mut start = 0;
        for (i, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            parts.push((format!("line {}", i + 1), start..start + line.len()));
            start += line.len();
        }
    }
    if parts.is_empty() { vec![("all".into(), 0..bytes.len())] } else { parts }
}

fn arrays(bytes: &[u8]) -> Option<Vec<(String, Range<usize>)>> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?) as usize;
    let end = 8usize.checked_add(length)?;
    let table: Value = serde_json::from_slice(bytes.get(8..end)?).ok()?;
    // The header may have megabytes: the checksum stands at its beginning.
    let mut parts = vec![("length".into(), 0..8), ("table".into(), 8..end), ("checksum".into(), 8..end.min(160))];
    for (name, array) in table.as_object()? {
        let offset = |i: usize| Some(end + usize::try_from(array.get("data_offsets")?.get(i)?.as_u64()?).ok()?);
        let range = offset(0).zip(offset(1)).map(|(from, to)| from..to);
        parts.extend(
            range.filter(|range| !range.is_empty() && range.end <= bytes.len()).map(|range| (name.clone(), range)),
        );
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_damage_changes_the_file_and_is_the_same_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        for trial in 0..500 {
            let once = || {
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
                fs::write(&path, "lr = 0.1\nseed = 17\n").unwrap();
                let how = damage(&path, None, &mut Random::new(1, "", trial)).unwrap();
                let is_file = fs::symlink_metadata(&path).is_ok_and(|now| now.file_type().is_file());
                (how, is_file.then(|| fs::read(&path).unwrap()))
            };
            let (how, bytes) = once();
            assert!(bytes.as_deref() != Some(b"lr = 0.1\nseed = 17\n"), "{how}");
            assert_eq!(once(), (how, bytes));
        }
    }

    #[test]
    fn safetensors_have_a_part_for_each_array_texts_for_each_line_and_others_have_one() {
        let table = r#"{"a":{"data_offsets":[0,4]},"b":{"data_offsets":[4,6]}}"#;
        let file = [&(table.len() as u64).to_le_bytes()[..], table.as_bytes(), &[7; 6]].concat();
        let (found, end) = (parts(Path::new("x/latest.safetensors"), &file), 8 + table.len());
        assert_eq!(found[0], ("length".into(), 0..8));
        assert_eq!(found[3..], [("a".into(), end..end + 4), ("b".into(), end + 4..end + 6)]);
        assert_eq!(parts(Path::new("a.json"), b"{\n}\n"), [("line 1".into(), 0..2), ("line 2".into(), 2..4)]);
        assert_eq!(parts(Path::new("a.bin"), &[0xff, 1]), [("all".into(), 0..2)]);
        assert_eq!(parts(Path::new("a.log"), b""), [("all".into(), 0..0)]);
    }
}
