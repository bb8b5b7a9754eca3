//! SHA-256 in hexadecimal.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of bytes that were given piece by piece.
pub fn finish(digest: Sha256) -> String {
    hex(&digest.finalize())
}

/// Reads to the end. See [`finish`].
///
/// # Errors
/// It cannot be read.
pub fn of_reader(mut from: impl Read) -> io::Result<Sha256> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(digest),
            Ok(read) => digest.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
    bytes.iter().flat_map(digits).collect()
}

/// The bytes that [`hex`] wrote; none if there are not `N`, or other characters.
pub fn from_hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digits: Option<Vec<u8>> = text.iter().map(|digit| Some(char::from(*digit).to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() == 2 * N)?;
    Some(std::array::from_fn(|index| digits[2 * index] << 4 | digits[2 * index + 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn bytes_pieces_and_readers_have_the_published_sum() {
        assert_eq!(sha256(b"abc"), ABC);
        assert_eq!(finish(Sha256::new().chain_update("a").chain_update("bc")), ABC);
        assert_eq!(finish(of_reader(&b"abc"[..]).unwrap()), ABC);
        let long = vec![7; 200_000];
        assert_eq!(finish(of_reader(&long[..]).unwrap()), sha256(&long));
    }

    #[test]
    fn hexadecimal_comes_back() {
        assert_eq!(hex(&[0, 0x0f, 0xa0, 0xff]), "000fa0ff");
        assert_eq!(from_hex(b"000fa0ff"), Some([0, 0x0f, 0xa0, 0xff]));
        assert_eq!(
            (from_hex::<4>(b"000fa0"), from_hex::<2>(b"000g"), from_hex::<2>("ü00".as_bytes())),
            (None, None, None)
        );
    }
}
