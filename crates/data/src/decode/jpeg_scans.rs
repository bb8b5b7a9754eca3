//! Whether a progressive JPEG lacks scans. Each scan makes the whole image sharper, so that one without its last scans looks
//! whole and blurred, and an end marker after them says nothing.
//!
//! What is missing of the last scan is not noticed: it only adds to what is there.

use super::jpeg_end::Segments;

/// Coefficients of a block.
const COEFFICIENTS: usize = 64;

/// Whether no scan gives some coefficient of some component its last bit. False for other kinds, and for what cannot be
/// followed: the decoder judges those.
pub(super) fn are_missing(jpeg: &[u8]) -> bool {
    missing(jpeg).unwrap_or(false)
}

fn missing(jpeg: &[u8]) -> Option<bool> {
    let mut segments = Segments::of(jpeg);
    // The identifier of each component, and which of its coefficients are complete.
    let mut components: Vec<(u8, [bool; COEFFICIENTS])> = Vec::new();
    while let Some((marker, content)) = segments.next() {
        match marker {
            0xc2 => {
                components = content.get(6..)?.chunks_exact(3).map(|part| (part[0], [false; COEFFICIENTS])).collect();
            }
            0xda => {
                let count = usize::from(*content.first()?);
                let (parts, rest) = content[1..].split_at_checked(2 * count)?;
                let [first, last, bits] = *rest.first_chunk()?;
                let range = usize::from(first)..=usize::from(last);
                let is_last_bit = bits.trailing_zeros() >= 4;
                let is_in_scan = |name: u8| parts.chunks_exact(2).any(|part| part[0] == name);
                for (_, complete) in components.iter_mut().filter(|(name, _)| is_last_bit && is_in_scan(*name)) {
                    complete.get_mut(range.clone())?.fill(true);
                }
                segments.skip_scan();
            }
            0xc0..=0xc1 | 0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => return None,
            _ => {}
        }
    }
    Some(components.iter().any(|(_, complete)| complete.contains(&false)))
}
