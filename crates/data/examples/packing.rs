//! How fast images are packed, beside how fast they are decoded alone: `cargo run --release -p rehearsal-data --example packing [IMAGES]`.
//!
//! Makes JPEG files of 512×384 (as Food-101's), then, in turn and five times: reads and decodes all of them and keeps nothing, and packs
//! them at 84×84. Both on all threads. Prints the medians as one line of JSON.

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

use data::{Dataset, Request, decode::decode};
use image::{Rgb, RgbImage, codecs::jpeg::JpegEncoder};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let directory = std::env::temp_dir().join(format!("rehearsal-packing-{}", std::process::id()));
    let paths = make(&directory.join("images"), count)?;
    let (mut alone, mut packed) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        let pixels: Result<Vec<usize>, String> = paths.par_iter().with_max_len(1).map(|path| decoded(path)).collect();
        assert!(pixels?.iter().all(|&bytes| bytes == 512 * 384 * 3));
        alone.push(count as f64 / start.elapsed().as_secs_f64());

        let (images, packs) = (directory.join("images"), directory.join("packs"));
        let request = Request { directory: Some(&images), packs: Some(&packs), ..Request::default() };
        let start = Instant::now();
        Dataset::Folder.open(&request)?;
        packed.push(count as f64 / start.elapsed().as_secs_f64());
        std::fs::remove_dir_all(&packs)?;
    }
    std::fs::remove_dir_all(&directory)?;
    let (alone, packed) = (median(alone), median(packed));
    let threads = rayon::current_num_threads();
    println!(
        "{{\"images\": {count}, \"threads\": {threads}, \"decoded_per_second\": {alone:.0}, \"packed_per_second\": {packed:.0}, \"share\": {:.3}}}",
        packed / alone
    );
    Ok(())
}

fn decoded(path: &Path) -> Result<usize, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    decode(&bytes).map(|picture| picture.pixels.len())
}

/// Images with edges and texture, so that they are about as hard to decode as photographs.
fn make(directory: &Path, count: usize) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    std::fs::create_dir_all(directory.join("a"))?;
    let make = |index: usize| -> Result<PathBuf, String> {
        let mut noise = index as u32 * 2_654_435_761 + 1;
        let image = RgbImage::from_fn(512, 384, |x, y| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let texture = (noise >> 28) as u8;
            let wave = |period: u32| (((x * y / period + x + index as u32) % 256) as u8 / 16) * 8;
            Rgb([wave(97) + texture, wave(151) + texture, (y / 2) as u8])
        });
        let mut bytes = Vec::new();
        image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 90)).map_err(|error| error.to_string())?;
        let path = directory.join("a").join(format!("{index:06}.jpg"));
        std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
        Ok(path)
    };
    Ok((0..count).into_par_iter().map(make).collect::<Result<_, _>>()?)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
