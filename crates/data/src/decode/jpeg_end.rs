//! Whether the scan of a JPEG ends before its last block. Decoders fill the rest, and an end marker after it says nothing.
//!
//! Only the code lengths of the Huffman tables are followed: no coefficient is computed.

use image::{DynamicImage, GenericImageView};

/// The widest unit of blocks, in pixels.
const WIDEST: u32 = 32;
/// The width of a block.
const BLOCK: u32 = 8;
/// Levels by which rounding may make two filled blocks differ.
const ROUNDING: i16 = 8;

/// The marker after the last scan.
const END: u8 = 0xd9;

/// Where a reader of a JPEG's segments is.
pub(super) struct Segments<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A Huffman table: for the next 16 bits the length of a code, 0 for none, and its symbol.
type Table = Vec<(u8, u8)>;

/// What the segments before a scan say.
#[derive(Default)]
struct Frame {
    height: usize,
    width: usize,
    /// Identifier, and blocks across and down in a unit.
    components: Vec<(u8, usize, usize)>,
    /// For constants, then for the other coefficients.
    tables: [[Option<Table>; 4]; 2],
    /// Units between restarts; 0 for no restarts.
    restart: usize,
}

/// Whether the only scan of a sequential JPEG ends early. False for other kinds, and for what cannot be followed: the
/// decoder judges those.
pub(super) fn is_early(jpeg: &[u8]) -> bool {
    ends_early(jpeg).unwrap_or(false)
}

/// Whether the end of a decoded image may be what a decoder fills: the last block is, but for its brightness, the one
/// before it.
pub(super) fn may_be_filled(image: &DynamicImage) -> bool {
    let (width, height) = image.dimensions();
    if width < WIDEST + BLOCK || height == 0 {
        return true;
    }
    let is_even = |channel: usize| {
        let difference = |x: u32| {
            let [here, before] = [x, x - WIDEST].map(|x| image.get_pixel(x, height - 1).0[channel]);
            let is_clipped = [0, 255].iter().any(|end| here == *end || before == *end);
            (!is_clipped).then(|| i16::from(here) - i16::from(before))
        };
        let differences: Vec<i16> = (width - BLOCK..width).filter_map(difference).collect();
        let (least, most) = (differences.iter().min(), differences.iter().max());
        least.zip(most).is_none_or(|(least, most)| most - least <= ROUNDING)
    };
    (0..3).all(is_even)
}

fn ends_early(jpeg: &[u8]) -> Option<bool> {
    let mut segments = Segments::of(jpeg);
    let mut frame = Frame::default();
    loop {
        let (marker, content) = segments.next()?;
        match marker {
            0xc0 | 0xc1 => frame.set_size(content)?,
            0xc4 => frame.add_tables(content)?,
            0xdd => frame.restart = usize::from(u16::from_be_bytes(*content.first_chunk()?)),
            0xda => return frame.is_early(content, jpeg.get(segments.at..)?),
            // Progressive, lossless, arithmetic coding, hierarchical.
            0xc2..=0xcf => return None,
            _ => {}
        }
    }
}

impl<'a> Segments<'a> {
    pub(super) fn of(jpeg: &'a [u8]) -> Self {
        Self { bytes: jpeg, at: 2 }
    }

    /// Marker and content of the next segment; none at the end.
    pub(super) fn next(&mut self) -> Option<(u8, &'a [u8])> {
        while *self.bytes.get(self.at)? == 0xff && *self.bytes.get(self.at + 1)? == 0xff {
            self.at += 1;
        }
        let header = self.bytes.get(self.at..self.at + 4).filter(|header| header[1] != END)?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let content = self.bytes.get(self.at + 4..self.at + 2 + length)?;
        self.at += 2 + length;
        (header[0] == 0xff).then_some((header[1], content))
    }

    /// To the marker after a scan that is no restart.
    pub(super) fn skip_scan(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7);
        self.at += rest.windows(2).position(is_marker).unwrap_or(rest.len());
    }
}

impl Frame {
    fn set_size(&mut self, content: &[u8]) -> Option<()> {
        let side = |at: usize| Some(usize::from(u16::from_be_bytes(*content.get(at..)?.first_chunk()?)));
        (self.height, self.width) = (side(1)?, side(3)?);
        let component = |part: &[u8]| (part[0], usize::from(part[1] >> 4), usize::from(part[1] & 15));
        self.components = content.get(6..)?.chunks_exact(3).map(component).collect();
        let is_sampling = |part: &usize| (1..=4).contains(part);
        let fits = self.components.iter().all(|(_, across, down)| is_sampling(across) && is_sampling(down));
        (fits && !self.components.is_empty() && self.height > 0 && self.width > 0).then_some(())
    }

    fn add_tables(&mut self, mut content: &[u8]) -> Option<()> {
        while let Some((&name, rest)) = content.split_first() {
            let (counts, symbols) = (rest.get(..16)?, rest.get(16..)?);
            let (mut table, mut code, mut used) = (vec![(0, 0); 1 << 16], 0_usize, 0);
            for (length, count) in (1_u8..).zip(counts) {
                for _ in 0..*count {
                    let entries = table.get_mut(code..code + (1 << (16 - length)))?;
                    entries.fill((length, *symbols.get(used)?));
                    (code, used) = (code + (1 << (16 - length)), used + 1);
                }
            }
            *self.tables.get_mut(usize::from(name >> 4))?.get_mut(usize::from(name & 15))? = Some(table);
            content = &symbols[used..];
        }
        Some(())
    }

    /// Follows a scan of all components.
    fn is_early(&self, content: &[u8], scan: &[u8]) -> Option<bool> {
        let parts = content.get(1..1 + 2 * usize::from(*content.first()?))?.chunks_exact(2);
        if parts.len() != self.components.len() {
            return None;
        }
        let alone = parts.len() == 1;
        let (mut blocks, mut most) = (Vec::new(), (1, 1));
        for part in parts {
            let (_, across, down) = *self.components.iter().find(|(name, ..)| *name == part[0])?;
            let tables = [usize::from(part[1] >> 4), usize::from(part[1] & 15)];
            let [constant, other] = [0, 1].map(|kind| self.tables[kind].get(tables[kind])?.as_ref());
            // A component that is alone is not divided into units.
            let count = if alone { 1 } else { across * down };
            if !alone {
                most = (most.0.max(across), most.1.max(down));
            }
            blocks.extend(std::iter::repeat_n((constant?, other?), count));
        }
        let units = self.width.div_ceil(8 * most.0) * self.height.div_ceil(8 * most.1);
        let mut bits = Bits { bytes: scan, at: 0, buffer: 0, length: 0, beyond: 0 };
        for unit in 0..units {
            if self.restart > 0 && unit > 0 && unit % self.restart == 0 && !bits.restart() {
                return Some(true);
            }
            for (constant, other) in &blocks {
                bits.skip_block(constant, other)?;
            }
            // The last one may lack bits that do not matter.
            if bits.is_beyond() && unit + 1 < units {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The bits of a scan, followed by zeros without end.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    buffer: u64,
    length: u32,
    /// Zeros in the buffer that are not in the scan.
    beyond: u32,
}

impl Bits<'_> {
    fn fill(&mut self) {
        while self.length <= 48 {
            let byte = match self.bytes.get(self.at..) {
                Some([0xff, 0x00, ..]) => {
                    self.at += 2;
                    0xff
                }
                Some([byte, ..]) if *byte != 0xff => {
                    self.at += 1;
                    *byte
                }
                // A marker, or the end.
                _ => {
                    self.beyond += 8;
                    0
                }
            };
            self.buffer = self.buffer << 8 | u64::from(byte);
            self.length += 8;
        }
    }

    fn is_beyond(&self) -> bool {
        self.length < self.beyond
    }

    /// The next symbol.
    fn symbol(&mut self, table: &Table) -> Option<u8> {
        self.fill();
        let (length, symbol) = table[(self.buffer >> (self.length - 16)) as usize & 0xffff];
        self.length -= u32::from(length);
        (length > 0).then_some(symbol)
    }

    fn skip(&mut self, bits: u8) {
        self.fill();
        self.length -= u32::from(bits);
    }

    /// None if there is no such code.
    fn skip_block(&mut self, constant: &Table, other: &Table) -> Option<()> {
        let size = self.symbol(constant)?;
        self.skip(size.min(16));
        let mut place = 1;
        while place < 64 {
            let symbol = self.symbol(other)?;
            let (zeros, size) = (symbol >> 4, symbol & 15);
            match (zeros, size) {
                (15, 0) => {}
                (_, 0) => break,
                _ => self.skip(size),
            }
            place += zeros + 1;
        }
        Some(())
    }

    /// Goes on after a restart marker, if there is one.
    fn restart(&mut self) -> bool {
        let is_marker = |pair: &[u8]| pair[0] == 0xff && pair[1] != 0;
        let from = self.at.min(self.bytes.len());
        let Some(marker) = self.bytes[from..].windows(2).position(is_marker) else { return false };
        let is_restart = (0xd0..=0xd7).contains(&self.bytes[from + marker + 1]);
        (self.at, self.buffer, self.length, self.beyond) = (from + marker + 2, 0, 0, 0);
        is_restart
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, GrayImage, ImageFormat, RgbImage};

    use super::*;

    fn jpeg(image: &DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Jpeg).unwrap();
        bytes.into_inner()
    }

    fn images() -> [DynamicImage; 4] {
        let noise = |x: u32, y: u32| (x * 37 + y * 91 + x * y * 13) as u8;
        [
            RgbImage::from_fn(100, 75, |x, y| image::Rgb([noise(x, y), noise(y, x), 3])).into(),
            RgbImage::new(100, 75).into(),
            GrayImage::from_fn(41, 17, |x, y| image::Luma([noise(x, y)])).into(),
            RgbImage::from_fn(1, 1, |_, _| image::Rgb([9, 200, 3])).into(),
        ]
    }

    #[test]
    fn whole_images_do_not_end_early() {
        for image in images() {
            assert_eq!(ends_early(&jpeg(&image)), Some(false), "{}x{}", image.width(), image.height());
        }
    }

    #[test]
    fn a_scan_that_is_cut_ends_early_also_with_an_end_marker() {
        for image in &images()[..3] {
            let whole = jpeg(image);
            let scan = whole.windows(2).rposition(|pair| pair == [0xff, 0xda]).unwrap() + 14;
            for part in [1, 2, 3] {
                let mut cut = whole[..scan + (whole.len() - 2 - scan) * part / 4].to_vec();
                if cut.last() == Some(&0xff) {
                    cut.pop();
                }
                cut.extend([0xff, 0xd9]);
                let decoded = image::load_from_memory(&cut).unwrap();
                assert!(
                    may_be_filled(&decoded) && is_early(&cut),
                    "{part} of 4 of {}x{}",
                    image.width(),
                    image.height()
                );
            }
        }
    }

    #[test]
    fn a_huge_claim_of_few_bytes_ends_early_and_noise_is_left_to_the_decoder() {
        let mut huge = jpeg(&images()[1]);
        let size = huge.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap() + 5;
        huge[size..size + 4].copy_from_slice(&[0x40, 0, 0x40, 0]);
        assert!(is_early(&huge));
        for length in 0..huge.len() {
            let _ = is_early(&huge[..length]);
            let mut flipped = huge.clone();
            flipped[length] ^= 0xff;
            let _ = is_early(&flipped);
        }
    }
}
