//! A seal: the SHA-256 of a file, inside the file. It is computed with 64 zeros in its place.

use crate::sha256::sha256;

/// What stands in the place of the checksum while it is computed.
pub const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Fills in the checksum of a text that has [`UNSEALED`] at byte `at`.
///
/// # Panics
/// If it stands somewhere else.
pub fn seal(mut text: String, at: usize) -> String {
    let place = at..at + UNSEALED.len();
    assert_eq!(text.get(place.clone()), Some(UNSEALED), "a text is sealed where it has a place for it");
    let sum = sha256(text.as_bytes());
    text.replace_range(place, &sum);
    text
}

/// Whether the checksum at byte `at` is that of the text.
pub fn is_whole(text: &str, at: usize) -> bool {
    let mut bytes = text.as_bytes().to_vec();
    take(&mut bytes, at).is_some_and(|sum| sum == sha256(&bytes))
}

/// Takes the checksum at byte `at` out of some bytes and leaves [`UNSEALED`] there, for callers that compute it piece by
/// piece; none if the bytes end before it does.
pub fn take(bytes: &mut [u8], at: usize) -> Option<String> {
    let place = bytes.get_mut(at..at.checked_add(UNSEALED.len())?)?;
    let sum = String::from_utf8_lossy(place).into_owned();
    place.copy_from_slice(UNSEALED.as_bytes());
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_and_every_other_place_breaks_a_seal() {
        let text = format!("sum = {UNSEALED}\nvalue = 1\n");
        let sealed = seal(text, 6);
        // printf 'sum = %064d\nvalue = 1\n' 0 | sha256sum
        let sum = "bc1d0b0ecaea87732f8255ac71133af823a4f26f2863c5ebcc2458bf5095b07e";
        assert_eq!(sealed, format!("sum = {sum}\nvalue = 1\n"));
        assert!(is_whole(&sealed, 6));
        for at in (0..sealed.len()).filter(|at| *at != 6).chain([usize::MAX]) {
            assert!(!is_whole(&sealed, at), "{at}");
        }
        for at in 0..sealed.len() {
            for bit in 0..7 {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(!is_whole(&String::from_utf8(bytes).unwrap(), 6), "bit {bit} of byte {at}");
            }
        }
        let mut bytes = sealed.into_bytes();
        assert_eq!(take(&mut bytes, 6).as_deref(), Some(sum));
        assert_eq!(take(&mut bytes, 6).as_deref(), Some(UNSEALED));
        assert_eq!(take(&mut bytes, 60), None);
    }
}
