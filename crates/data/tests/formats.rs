//! Photos as they are: turned, in ink, deep, grey, with palettes and transparency. Each file is
//! written byte by byte, and every pixel is compared with what was written.

use crate::support::raw::{self, Adobe, exif};
use image::{ImageEncoder, codecs::png::PngEncoder, codecs::webp::WebPEncoder};
use rehearsal_data::decode::{Picture, decode};

/// Columns and rows of an image that no turn or mirror leaves as it is.
const SIZE: (usize, usize) = (40, 24);

/// The colour of column `x`, row `y`: flat in blocks of 8×8.
fn colour(x: usize, y: usize) -> [u8; 3] {
    [(x / 8 * 50) as u8, (y / 8 * 100) as u8, (x / 8 + 5 * (y / 8)) as u8 * 17]
}

/// Where, in the stored image, the pixel is that is seen at `(x, y)`: by the words of the EXIF
/// standard, "the 0th row is at the visual top, the 0th column at the visual left", and so on.
fn stored(orientation: u16, (x, y): (usize, usize)) -> (usize, usize) {
    let (right, bottom) = (SIZE.0 - 1, SIZE.1 - 1);
    match orientation {
        1 => (x, y),                  // row: top, column: left
        2 => (right - x, y),          // row: top, column: right
        3 => (right - x, bottom - y), // row: bottom, column: right
        4 => (x, bottom - y),         // row: bottom, column: left
        5 => (y, x),                  // row: left, column: top
        6 => (y, bottom - x),         // row: right, column: top
        7 => (right - y, bottom - x), // row: right, column: bottom
        8 => (right - y, x),          // row: left, column: bottom
        _ => panic!("no orientation"),
    }
}

fn pixels() -> Vec<u8> {
    (0..SIZE.1).flat_map(|y| (0..SIZE.0).flat_map(move |x| colour(x, y))).collect()
}

#[track_caller]
fn assert_turned(what: &str, file: &[u8], orientation: u16) {
    let Picture { height, width, pixels } = decode(file).unwrap();
    let size = if orientation < 5 { SIZE } else { (SIZE.1, SIZE.0) };
    assert_eq!((width, height), size, "{what}, orientation {orientation}");
    for (index, pixel) in pixels.chunks(3).enumerate() {
        let (x, y) = (index % width, index / width);
        let (from_x, from_y) = stored(orientation, (x, y));
        assert_eq!(pixel, colour(from_x, from_y), "{what}, orientation {orientation}, column {x}, row {y}");
    }
}

fn jpeg(exif: Option<&[u8]>) -> Vec<u8> {
    let (columns, rows) = (SIZE.0 / 8, SIZE.1 / 8);
    let blocks: Vec<Vec<u8>> =
        (0..columns * rows).map(|i| colour(8 * (i % columns), 8 * (i / columns)).to_vec()).collect();
    raw::jpeg(&blocks, columns, Adobe::Plain, exif)
}

fn with_exif(mut encoder: impl ImageEncoder, exif: Vec<u8>) {
    encoder.set_exif_metadata(exif).unwrap();
    encoder.write_image(&pixels(), SIZE.0 as u32, SIZE.1 as u32, image::ExtendedColorType::Rgb8).unwrap();
}

#[test]
fn photos_are_turned_as_their_exif_data_say() {
    assert_turned("JPEG without EXIF", &jpeg(None), 1);
    for orientation in 1..=8 {
        for little in [true, false] {
            let exif = exif(orientation, little);
            assert_turned("JPEG", &jpeg(Some(&exif)), orientation);
            let (mut png, mut webp, mut prefixed) = (Vec::new(), Vec::new(), Vec::new());
            with_exif(PngEncoder::new(&mut png), exif.clone());
            assert_turned("PNG", &png, orientation);
            with_exif(WebPEncoder::new_lossless(&mut webp), exif.clone());
            assert_turned("WebP", &webp, orientation);
            with_exif(WebPEncoder::new_lossless(&mut prefixed), [b"Exif\0\0", &exif[..]].concat());
            assert_turned("WebP with JPEG's prefix", &prefixed, orientation);
        }
        let tiff = raw::tiff(SIZE.0 as u16, 8, 3, 2, &pixels(), Some(orientation));
        assert_turned("TIFF", &tiff, orientation);
    }
}

#[test]
fn exif_data_that_make_no_sense_turn_nothing() {
    for exif in [exif(0, true), exif(9, true), exif(6, true)[..12].to_vec(), b"II*\0\xff\xff\xff\xff".to_vec()] {
        assert_turned("JPEG", &jpeg(Some(&exif)), 1);
    }
}

fn first_pixels(file: &[u8], count: usize) -> Vec<[u8; 3]> {
    let picture = decode(file).unwrap();
    picture.pixels.chunks(3).take(count).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// The first pixel of each block of a JPEG of one row of blocks.
fn first_of_blocks(file: &[u8]) -> Vec<[u8; 3]> {
    let all = first_pixels(file, usize::MAX);
    let width = decode(file).unwrap().width;
    (0..width / 8).map(|block| all[8 * block]).collect()
}

#[track_caller]
fn assert_near(is: &[[u8; 3]], should: &[[u8; 3]], most: u8) {
    assert_eq!(is.len(), should.len());
    let near = |(is, should): (&[u8; 3], &[u8; 3])| is.iter().zip(should).all(|(a, b)| a.abs_diff(*b) <= most);
    assert!(is.iter().zip(should).all(near), "{is:?} instead of {should:?}");
}

/// Adobe's programs store how much ink is missing: 255 is no ink. Red is what cyan and black leave,
/// `c·k/255`, as in Pillow.
#[test]
fn jpeg_in_ink() {
    let paper = vec![255, 255, 255, 255];
    let cyan = vec![0, 255, 255, 255];
    let dark_red = vec![200, 40, 30, 128];
    let black = vec![255, 255, 255, 0];
    let blocks = [paper, cyan, dark_red, black];
    let expected = [[255, 255, 255], [0, 255, 255], [100, 20, 15], [0, 0, 0]];
    assert_near(&first_of_blocks(&raw::jpeg(&blocks, 4, Adobe::Plain, None)), &expected, 1);
    assert_near(&first_of_blocks(&raw::jpeg(&blocks, 4, Adobe::Nothing, None)), &expected, 1);
    // The same colours as brightness and two differences of the complements of C, M and Y:
    // libjpeg's `ycck_cmyk_convert` gives C = 255 − (Y + 1.402 Cr), …, and leaves K as it is.
    let ycck = |[red, green, blue]: [f64; 3], black: u8| -> Vec<u8> {
        let y = 0.299 * red + 0.587 * green + 0.114 * blue;
        let (cb, cr) = (128.0 + (blue - y) / 1.772, 128.0 + (red - y) / 1.402);
        [y, cb, cr].iter().map(|value| value.round() as u8).chain([black]).collect()
    };
    let blocks =
        [ycck([0.0; 3], 255), ycck([255.0, 0.0, 0.0], 255), ycck([55.0, 215.0, 225.0], 128), ycck([0.0; 3], 0)];
    assert_near(&first_of_blocks(&raw::jpeg(&blocks, 4, Adobe::Ycck, None)), &expected, 3);
}

#[test]
fn jpeg_in_grey_and_in_red_green_and_blue() {
    let grey = raw::jpeg(&[vec![17], vec![200]], 2, Adobe::Nothing, None);
    assert_eq!(first_of_blocks(&grey), [[17; 3], [200; 3]]);
    let rgb = raw::jpeg(&[vec![250, 3, 77], vec![1, 2, 3]], 2, Adobe::Plain, None);
    assert_eq!(first_of_blocks(&rgb), [[250, 3, 77], [1, 2, 3]]);
    // Y = 76, Cb = 85, Cr = 255 is red: 0.299 · 255, and so on.
    let ycc = raw::jpeg(&[vec![76, 85, 255], vec![255, 128, 128]], 2, Adobe::Nothing, None);
    assert_near(&first_of_blocks(&ycc), &[[254, 0, 0], [255, 255, 255]], 1);
}

#[test]
fn png_of_every_kind() {
    let palette: &[u8] = &[10, 20, 30, 40, 50, 60, 70, 80, 90];
    let opaque: &[(&[u8; 4], &[u8])] = &[(b"PLTE", palette)];
    let see_through: &[(&[u8; 4], &[u8])] = &[(b"PLTE", palette), (b"tRNS", &[0, 128, 255])];
    let colours = [[70, 80, 90], [10, 20, 30], [40, 50, 60]];
    assert_eq!(first_pixels(&raw::png((3, 1), 8, 3, &[&[2, 0, 1]], opaque), 3), colours);
    assert_eq!(
        first_pixels(&raw::png((3, 1), 8, 3, &[&[2, 0, 1]], see_through), 3),
        colours,
        "transparency is dropped"
    );
    assert_eq!(first_pixels(&raw::png((3, 1), 2, 3, &[&[0b1000_0100]], opaque), 3), colours, "two bits a pixel");
    assert_eq!(first_pixels(&raw::png((4, 1), 1, 0, &[&[0b0110_0000]], &[]), 4), [[0; 3], [255; 3], [255; 3], [0; 3]]);
    assert_eq!(first_pixels(&raw::png((2, 1), 8, 4, &[&[7, 0, 200, 255]], &[]), 2), [[7; 3], [200; 3]], "grey, alpha");
    // 16 bits: 257 times the value of 8, to the nearest.
    let deep: &[u8] = &[0, 128, 0, 129, 255, 255];
    assert_eq!(first_pixels(&raw::png((1, 1), 16, 2, &[deep], &[]), 1), [[0, 1, 255]]);
    assert_eq!(first_pixels(&raw::png((2, 1), 16, 0, &[&[40, 40, 200, 200]], &[]), 2), [[40; 3], [200; 3]]);
    assert_eq!(first_pixels(&raw::png((1, 1), 16, 6, &[&[9, 9, 8, 8, 7, 7, 0, 0]], &[]), 1), [[9, 8, 7]]);
}

#[test]
fn tiff_of_every_kind() {
    assert_eq!(first_pixels(&raw::tiff(2, 8, 1, 1, &[7, 200], None), 2), [[7; 3], [200; 3]], "grey");
    assert_eq!(first_pixels(&raw::tiff(2, 8, 1, 0, &[7, 200], None), 2), [[248; 3], [55; 3]], "0 is white");
    assert_eq!(first_pixels(&raw::tiff(2, 16, 1, 1, &[40, 40, 200, 200], None), 2), [[40; 3], [200; 3]], "16 bits");
    let rgba = [9, 8, 7, 0, 1, 2, 3, 255];
    assert_eq!(first_pixels(&raw::tiff(2, 8, 4, 2, &rgba, None), 2), [[9, 8, 7], [1, 2, 3]], "transparency is dropped");
    let deep = [9, 9, 8, 8, 7, 7];
    assert_eq!(first_pixels(&raw::tiff(1, 16, 3, 2, &deep, None), 1), [[9, 8, 7]]);
    // Unlike JPEG's, TIFF's ink is stored as it is: 0 is none.
    let ink = [0, 0, 0, 0, 255, 0, 0, 0, 55, 215, 225, 127];
    assert_near(&first_pixels(&raw::tiff(3, 8, 4, 5, &ink, None), 3), &[[255; 3], [0, 255, 255], [100, 20, 15]], 1);
}

#[test]
fn what_is_not_read_is_called_by_its_name() {
    let heic = decode(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap_err();
    assert_eq!(heic, "it is HEIC, which is not read: convert it to JPEG");
    assert!(decode(b"\0\0\0\x1cftypavif\0\0\0\0").unwrap_err().contains("it is AVIF"));
    // A header that claims more than anyone has, with nothing behind it.
    let mut huge = raw::tiff(1, 8, 1, 1, &[1], None);
    let directory = u32::from_le_bytes(huge[4..8].try_into().unwrap()) as usize;
    for entry in 0..2 {
        let at = directory + 2 + 12 * entry;
        huge[at + 2..at + 4].copy_from_slice(&4u16.to_le_bytes());
        huge[at + 8..at + 12].copy_from_slice(&1_000_000u32.to_le_bytes());
    }
    assert!(decode(&huge).is_err(), "a million pixels in a row");
}

/// Where the scans of a JPEG begin.
fn scans_of(jpeg: &[u8]) -> Vec<usize> {
    let is_scan = |pair: &[u8]| pair == [0xff, 0xda];
    jpeg.windows(2).enumerate().filter(|(_, pair)| is_scan(pair)).map(|(at, _)| at).collect()
}

#[test]
fn a_progressive_jpeg_that_lacks_scans_is_refused() {
    for whole in [&include_bytes!("files/progressive.jpg")[..], include_bytes!("files/progressive-restarts.jpg")] {
        let scans = scans_of(whole);
        assert!(scans.len() > 3, "{scans:?}");
        assert_eq!((decode(whole).unwrap().width, decode(whole).unwrap().height), (48, 32));
        // At every scan, and in the middle of every scan but the last.
        for at in scans[1..].iter().copied().chain(scans.windows(2).map(|pair| pair[0].midpoint(pair[1]))) {
            let mut cut = whole[..at].to_vec();
            if cut.last() == Some(&0xff) {
                cut.pop();
            }
            cut.extend([0xff, 0xd9]);
            assert!(decode(&cut).is_err(), "cut at {at} of {}", whole.len());
        }
        for at in 0..whole.len() {
            let mut flipped = whole.to_vec();
            flipped[at] ^= 0xff;
            let _ = decode(&flipped);
        }
    }
}
