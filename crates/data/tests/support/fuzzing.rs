//! Good bytes, damaged at random until the time of `REHEARSAL_FUZZ_SECONDS` is over.

use std::time::{Duration, Instant};

use super::dice::Dice;

/// One to eight damages: flipped bits, interesting bytes, cuts, repeats, pieces of other files.
fn damaged(good: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let mut bytes = good[dice.below(good.len())].clone();
    for _ in 0..=dice.below(8) {
        let at = dice.below(bytes.len());
        match dice.below(8) {
            _ if bytes.is_empty() => bytes.push(dice.roll() as u8),
            0 | 1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
            3 => bytes[at] = dice.roll() as u8,
            4 => {
                let number = [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, 65_536][dice.below(6)];
                let number = if dice.below(2) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            5 => bytes.truncate(at),
            6 => {
                let piece = bytes[at..(at + 1 + dice.below(64)).min(bytes.len())].to_vec();
                let place = dice.below(bytes.len());
                bytes.splice(place..place, piece);
            }
            _ => {
                let other = &good[dice.below(good.len())];
                let from = dice.below(other.len());
                let piece = &other[from..(from + 1 + dice.below(64)).min(other.len())];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
        }
    }
    bytes
}

/// Damages until the time is over. The reader may refuse what it likes, but must not panic or hang.
pub fn fuzz(good: &[Vec<u8>], read: impl Fn(&[u8])) {
    let seconds = std::env::var("REHEARSAL_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let start = Instant::now();
    let mut rounds = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        let bytes = damaged(good, rounds);
        let begun = Instant::now();
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&bytes)));
        let hexadecimal = || bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert!(read.is_ok(), "round {rounds} panics: {}", hexadecimal());
        assert!(begun.elapsed() < Duration::from_secs(5), "round {rounds} takes too long: {}", hexadecimal());
        rounds += 1;
    }
    assert!(rounds > 20, "only {rounds} rounds");
    eprintln!("{rounds} rounds");
}
