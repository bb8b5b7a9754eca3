//! The frame around each message, that of `TFRecord` files: length, its checksum, message, its
//! checksum.

use crate::crc32c::crc32c;

/// A message in its frame.
pub fn record(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u64).to_le_bytes();
    [&length, &masked(&length)[..], message, &masked(message)].concat()
}

/// The checksum, turned and moved so that a checksum of data that hold checksums is not degenerate.
fn masked(bytes: &[u8]) -> [u8; 4] {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first record of every file that TensorFlow writes begins with these twelve bytes: the
    /// length 24 and its checksum.
    #[test]
    fn the_frame_is_tensorflows() {
        let framed = record(&[7; 24]);
        assert_eq!(framed[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xA3, 0x7F, 0x4B, 0x22]);
        assert_eq!(framed[12..36], [7; 24]);
        assert_eq!(framed.len(), 8 + 4 + 24 + 4);
    }
}
