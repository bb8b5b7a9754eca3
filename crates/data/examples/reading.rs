//! What it costs to take an image from a pack, the first time (when its chunk is compared with its
//! checksum) and later: `cargo run --release -p rehearsal-data --example reading [IMAGES]`.
//!
//! Packs images of 84×84, opens the pack, and takes all images in an order that jumps from chunk to
//! chunk, three times: the first pass checks every chunk, the others only look whether the file has
//! still its length. Each pass also adds up all pixels, as a stand-in for their use. Prints
//! nanoseconds for each image as one line of JSON; `taking` is without the adding up.

use std::{error::Error, path::Path, time::Instant};

use image::{Rgb, RgbImage};
use rayon::prelude::*;
use rehearsal_data::{Dataset, Request, Source, Split};

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(5000), |text| text.parse())?;
    let directory = std::env::temp_dir().join(format!("rehearsal-reading-{}", std::process::id()));
    make(&directory.join("images/train/a"), count)?;
    make(&directory.join("images/test/a"), 1)?;
    let (images, packs) = (directory.join("images"), directory.join("packs"));
    let request = Request { directory: Some(&images), packs: Some(&packs), ..Request::default() };
    drop(Dataset::Folder.open(&request)?);
    let source = Dataset::Folder.open(&request)?;
    let first = pass(&*source, true)?;
    let (later, taking) = (pass(&*source, true)?, pass(&*source, false)?);
    std::fs::remove_dir_all(&directory)?;
    println!("{{\"images\": {count}, \"first\": {first:.0}, \"later\": {later:.0}, \"taking\": {taking:.0}}}");
    Ok(())
}

/// Nanoseconds for each image of a pass over all of them.
fn pass(source: &dyn Source, using: bool) -> Result<f64, Box<dyn Error>> {
    let count = source.labels(Split::Train).len();
    let (start, mut sum) = (Instant::now(), 0u64);
    for number in 0..count {
        // 7,919 is prime: every image once, neighbours far apart.
        let image = source.image(Split::Train, number * 7919 % count)?;
        sum += if using { image.iter().map(|&byte| u64::from(byte)).sum() } else { image.len() as u64 };
    }
    let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / count as f64;
    if sum == 0 { Err("images without pixels".into()) } else { Ok(nanoseconds) }
}

fn make(directory: &Path, count: u32) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(directory)?;
    let make = |index: u32| {
        let image = RgbImage::from_fn(84, 84, |x, y| Rgb([x as u8, y as u8, (index + x * y) as u8]));
        image.save(directory.join(format!("{index:06}.bmp"))).map_err(|error| error.to_string())
    };
    Ok((0..count).into_par_iter().try_for_each(make)?)
}
