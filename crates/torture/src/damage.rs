//! Damage to the bytes of a file: of every kind, in every part of it.

mod parts;

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use parts::parts;

use crate::dice::Dice;

/// What is put where a number stood.
const HUGE: &[&str] = &[
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

/// Damages a file, and says how. `other` is a file of the same kind from elsewhere.
pub fn damage(path: &Path, other: Option<&Path>, dice: &mut Dice) -> Result<String> {
    let good = fs::read(path)?;
    for _ in 0..100 {
        let mut bytes = good.clone();
        let how = match dice.below(40) {
            0 => return replaced(path, dice),
            1 | 2 if other.is_some_and(Path::is_file) => {
                bytes = fs::read(other.context("there is one")?)?;
                "replaced by another one".into()
            }
            _ => damaged(&mut bytes, path, dice),
        };
        if bytes != good {
            fs::write(path, bytes)?;
            return Ok(how);
        }
    }
    bail!("{} cannot be damaged", path.display());
}

/// Puts something else in its place.
fn replaced(path: &Path, dice: &mut Dice) -> Result<String> {
    fs::remove_file(path)?;
    match dice.below(5) {
        0 => return Ok("removed".into()),
        1 => fs::create_dir(path)?,
        2 => drop(Command::new("mkfifo").arg(path).status()?),
        3 => symlink("/dev/zero", path)?,
        _ => symlink(path, path)?,
    }
    Ok("replaced by a directory, a FIFO, a device or a link to itself".into())
}

fn damaged(bytes: &mut Vec<u8>, path: &Path, dice: &mut Dice) -> String {
    let parts = parts(path, bytes);
    let (part, range) = dice.one(&parts).clone();
    if range.is_empty() {
        bytes.extend((0..=dice.below(20)).map(|_| dice.roll() as u8));
        return "extended by noise".into();
    }
    let at = range.start + dice.below(range.len());
    let most = 1 << dice.below(12);
    let length = 1 + dice.below((bytes.len() - at).min(most));
    let how = match dice.below(12) {
        0..=3 => {
            let bit = dice.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} flipped at {at}")
        }
        4 => {
            bytes[at] = *dice.one(&[0, 1, 0x20, 0x30, 0x39, 0x7f, 0x80, 0xff]);
            format!("byte {at} set")
        }
        5 => {
            bytes[at..at + length].fill(0);
            format!("{length} bytes zeroed at {at}")
        }
        6 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        7 => {
            let more = 1 + dice.below(5000);
            let noise = dice.below(2) == 0;
            bytes.extend((0..more).map(|_| if noise { dice.roll() as u8 } else { 0 }));
            format!("{more} bytes added")
        }
        8 => {
            let piece = bytes[at..at + length].to_vec();
            let to = dice.below(bytes.len() - length + 1);
            bytes[to..to + length].copy_from_slice(&piece);
            format!("{length} bytes from {at} copied to {to}")
        }
        9 => {
            bytes.drain(at..at + length);
            format!("{length} bytes taken out at {at}")
        }
        _ => huge(bytes, range, dice),
    };
    format!("{part}: {how}")
}

/// Replaces a number: digits of a text, or eight bytes of numbers.
fn huge(bytes: &mut Vec<u8>, range: std::ops::Range<usize>, dice: &mut Dice) -> String {
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits: Vec<usize> = range.clone().filter(|&at| bytes[at].is_ascii_digit()).collect();
    if digits.is_empty() || dice.below(4) == 0 && bytes.len() >= 8 {
        let at = range.start.min(bytes.len().saturating_sub(8));
        let number = *dice.one(&[u64::MAX, 0, 1 << 63, 1 << 40, u64::from(u32::MAX), f64::NAN.to_bits()]);
        let end = (at + 8).min(bytes.len());
        bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        return format!("{number} at {at}");
    }
    let at = *dice.one(&digits);
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_number(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_number(byte)).count();
    let number = *dice.one(HUGE);
    let before = String::from_utf8_lossy(&bytes[start..end]).into_owned();
    bytes.splice(start..end, number.bytes());
    format!("{before} at {start} replaced by {number}")
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
                let how = damage(&path, None, &mut Dice::new(1, "", trial)).unwrap();
                let kind = fs::symlink_metadata(&path).is_ok_and(|now| now.file_type().is_file());
                (how, kind.then(|| fs::read(&path).unwrap()))
            };
            let (how, bytes) = once();
            assert!(bytes.as_deref() != Some(b"lr = 0.1\nseed = 17\n"), "{how}");
            assert_eq!(once(), (how, bytes));
        }
    }
}
