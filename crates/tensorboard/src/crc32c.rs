//! CRC-32C (Castagnoli), the checksum of records.

/// Castagnoli's polynomial, lowest power first.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// What eight more bits of zeros make of each remainder.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = (remainder >> 1) ^ if remainder & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// The checksum of some bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |remainder, &byte| (remainder >> 8) ^ TABLE[((remainder ^ u32::from(byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the catalogue of parametrised CRC algorithms, and vectors of RFC 3720,
    /// appendix B.4.
    #[test]
    fn known_checksums() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46DD_794E);
        assert_eq!(crc32c(b""), 0);
    }
}
