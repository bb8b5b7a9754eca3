//! Image files written byte by byte, so that every pixel and every tag in them is known: JPEG of
//! flat blocks in any number of components, TIFF and PNG of any kind of samples.

use std::io::Write;

use flate2::{Compression, Crc, write::ZlibEncoder};

/// EXIF data that say how an image is to be turned, 1 to 8; in the byte order of Intel or Motorola.
pub fn exif(orientation: u16, little: bool) -> Vec<u8> {
    let two = |value: u16| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let four = |value: u32| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let begin: &[u8] = if little { b"II" } else { b"MM" };
    let entry = [&two(0x112)[..], &two(3), &four(1), &two(orientation), &two(0)].concat();
    [begin, &two(42), &four(8), &two(1), &entry, &four(0)].concat()
}

/// How the components of a JPEG are to be understood.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Adobe {
    /// No word about it.
    Nothing,
    /// As they are: RGB or CMYK.
    Plain,
    /// YCCK.
    Ycck,
}

/// A JPEG of flat blocks of 8×8 pixels, `columns` of them in a row; a block is one value for each
/// component. Nothing is lost: a block is its mean, which is stored with a step of 1.
pub fn jpeg(blocks: &[Vec<u8>], columns: usize, adobe: Adobe, exif: Option<&[u8]>) -> Vec<u8> {
    let components = blocks[0].len() as u8;
    let mut file = vec![0xff, 0xd8];
    let mut segment = |marker: u8, bytes: &[u8]| {
        file.extend([0xff, marker]);
        file.extend((bytes.len() as u16 + 2).to_be_bytes());
        file.extend(bytes);
    };
    if let Some(exif) = exif {
        segment(0xe1, &[b"Exif\0\0", exif].concat());
    }
    if adobe != Adobe::Nothing {
        let transform = if adobe == Adobe::Ycck { 2 } else { 0 };
        segment(0xee, &[b"Adobe\0d\0\0\0\0", &[transform][..]].concat());
    }
    segment(0xdb, &[&[0][..], &[8; 64]].concat());
    let (height, width) = (8 * (blocks.len() / columns) as u16, 8 * columns as u16);
    let ids = |rest: &[u8]| (1..=components).flat_map(|id| [&[id], rest].concat()).collect::<Vec<u8>>();
    segment(0xc0, &[&[8][..], &height.to_be_bytes(), &width.to_be_bytes(), &[components], &ids(&[0x11, 0])].concat());
    // Differences of means: twelve lengths, each with a code of four bits. Details: none follow.
    segment(0xc4, &[&[0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &(0..12).collect::<Vec<u8>>()].concat());
    segment(0xc4, &[&[0x10, 1][..], &[0; 15], &[0]].concat());
    segment(0xda, &[&[components][..], &ids(&[0]), &[0, 63, 0]].concat());
    file.extend(scan(blocks));
    file.extend([0xff, 0xd9]);
    file
}

fn scan(blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bits = Vec::new();
    let mut push = |value: u32, count: u32| bits.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
    let mut before = vec![128; blocks[0].len()];
    for block in blocks {
        for (&value, before) in block.iter().zip(&mut before) {
            let difference = i32::from(value) - *before;
            *before = i32::from(value);
            let length = 32 - difference.unsigned_abs().leading_zeros();
            push(length, 4);
            push((if difference < 0 { difference - 1 } else { difference }) as u32, length);
            push(0, 1);
        }
    }
    bits.resize(bits.len().next_multiple_of(8), true);
    let bytes = bits.chunks(8).map(|bits| bits.iter().fold(0u8, |byte, &bit| byte << 1 | u8::from(bit)));
    bytes.flat_map(|byte| if byte == 0xff { vec![0xff, 0] } else { vec![byte] }).collect()
}

/// A BMP of one pixel.
pub fn bmp([red, green, blue]: [u8; 3]) -> Vec<u8> {
    let mut file = b"BM".to_vec();
    [58u32, 0, 54, 40, 1, 1].iter().for_each(|value| file.extend(value.to_le_bytes()));
    [1u16, 24].iter().for_each(|value| file.extend(value.to_le_bytes()));
    [0u32, 4, 0, 0, 0, 0].iter().for_each(|value| file.extend(value.to_le_bytes()));
    file.extend([blue, green, red, 0]);
    file
}

/// A TIFF of one strip. `photometric` is 0 or 1 for grey, 2 for RGB, 3 for a palette, 5 for CMYK.
pub fn tiff(width: u16, bits: u16, samples: u16, photometric: u16, data: &[u8], orientation: Option<u16>) -> Vec<u8> {
    let height = data.len() * 8 / (usize::from(width) * usize::from(bits) * usize::from(samples));
    let depths: Vec<u8> = (0..samples).flat_map(|_| bits.to_le_bytes()).collect();
    let (at, depths_at) = (8u32, 8 + data.len() as u32);
    let directory = depths_at + depths.len() as u32;
    let inline = |value: u16| u32::from(value);
    let mut entries: Vec<(u16, u16, u32, u32)> = vec![
        (256, 3, 1, inline(width)),
        (257, 3, 1, height as u32),
        (
            258,
            3,
            u32::from(samples),
            if samples <= 2 { inline(bits) * if samples == 2 { 65_537 } else { 1 } } else { depths_at },
        ),
        (259, 3, 1, 1),
        (262, 3, 1, inline(photometric)),
        (273, 4, 1, at),
    ];
    entries.extend(orientation.map(|orientation| (274, 3, 1, inline(orientation))));
    entries.extend([(277, 3, 1, inline(samples)), (278, 3, 1, height as u32), (279, 4, 1, data.len() as u32)]);
    if samples == 4 && photometric == 2 {
        entries.push((338, 3, 1, 2)); // the fourth is transparency
    }
    let mut file =
        [&b"II*\0"[..], &directory.to_le_bytes(), data, &depths, &(entries.len() as u16).to_le_bytes()].concat();
    for (tag, kind, count, value) in entries {
        file.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat());
    }
    file.extend([0; 4]);
    file
}

/// A PNG. `colour` is 0 for grey, 2 for RGB, 3 for a palette, 4 for grey with alpha, 6 for RGBA;
/// `more` are chunks before the pixels.
pub fn png(size: (u32, u32), bits: u8, colour: u8, rows: &[&[u8]], more: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], bytes: &[u8]| {
        file.extend((bytes.len() as u32).to_be_bytes());
        let body = [name, bytes].concat();
        file.extend(&body);
        let mut crc = Crc::new();
        crc.update(&body);
        file.extend(crc.sum().to_be_bytes());
    };
    chunk(b"IHDR", &[&size.0.to_be_bytes()[..], &size.1.to_be_bytes(), &[bits, colour, 0, 0, 0]].concat());
    more.iter().for_each(|(name, bytes)| chunk(name, bytes));
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    rows.iter().for_each(|row| packed.write_all(&[&[0][..], row].concat()).unwrap());
    chunk(b"IDAT", &packed.finish().unwrap());
    chunk(b"IEND", &[]);
    file
}
