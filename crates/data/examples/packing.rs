//! How fast images are packed, beside how fast they are decoded alone: `cargo run --release -p
//! rehearsal-data --example packing [IMAGES]`.
//!
//! Makes JPEG files of 512×384 (as Food-101's), then, in turn and seven times: reads and decodes
//! all of them and keeps nothing, and packs them at 84×84. Both read the same files from memory,
//! with the same decoder, on all threads; packing includes listing the files, and ends when the
//! packs are on disk. Prints the medians as one line of JSON; the share is the median of those of
//! the seven pairs, which are printed too: on a busy machine they differ.

use std::{
    error::Error,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use image::{Rgb, RgbImage, codecs::jpeg::JpegEncoder};
use rayon::prelude::*;
use rehearsal_data::{Dataset, Request, decode::decode};

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let directory = std::env::temp_dir().join(format!("rehearsal-packing-{}", std::process::id()));
    let paths = make(&directory.join("images"), count)?;
    let (mut alone, mut packed, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    decode_all(&paths)?; // so that the first pass counted is like the others
    for _ in 0..7 {
        let start = Instant::now();
        decode_all(&paths)?;
        alone.push(count as f64 / start.elapsed().as_secs_f64());

        let (images, packs) = (directory.join("images"), directory.join("packs"));
        let request = Request { directory: Some(&images), packs: Some(&packs), ..Request::default() };
        let start = Instant::now();
        Dataset::Folder.open(&request)?;
        packed.push(count as f64 / start.elapsed().as_secs_f64());
        std::fs::remove_dir_all(&packs)?;
        shares.push(packed[packed.len() - 1] / alone[alone.len() - 1]);
    }
    std::fs::remove_dir_all(&directory)?;
    let threads = rayon::current_num_threads();
    let all: Vec<String> = shares.iter().map(|share| format!("{share:.3}")).collect();
    let (alone, packed, share) = (median(alone), median(packed), median(shares));
    println!(
        "{{\"images\": {count}, \"threads\": {threads}, \"decoded_per_second\": {alone:.0}, \"packed_per_second\": {packed:.0}, \
         \"share\": {share:.3}, \"shares\": [{}]}}",
        all.join(", ")
    );
    Ok(())
}

fn decode_all(paths: &[PathBuf]) -> Result<(), String> {
    let pixels: Result<Vec<usize>, String> = paths.par_iter().with_max_len(1).map(|path| decoded(path)).collect();
    if pixels?.iter().all(|&bytes| bytes == 512 * 384 * 3) { Ok(()) } else { Err("an image of another size".into()) }
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
        // On disk before anything is measured: else the system writes it out during the first
        // passes.
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(&bytes)?;
            file.sync_all()
        };
        write().map_err(|error| error.to_string())?;
        Ok(path)
    };
    Ok((0..count).into_par_iter().map(make).collect::<Result<_, _>>()?)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
