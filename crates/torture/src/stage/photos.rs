//! Images and archives of our own, small and always the same.

use std::{fs, path::Path};

use anyhow::Result;
use flate2::{Compression, write::GzEncoder};

use crate::dice::Dice;

/// A BMP file of 24 bits a pixel, of noise around a colour.
pub fn bitmap(width: u32, height: u32, colour: u8, dice: &mut Dice) -> Vec<u8> {
    let row = (3 * width).next_multiple_of(4);
    let mut bytes = b"BM".to_vec();
    for number in [54 + row * height, 0, 54, 40, width, height, 1 | 24 << 16, 0, row * height, 2835, 2835, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend((0..row * height).map(|_| colour.wrapping_add(dice.below(64) as u8)));
    bytes
}

/// A folder of classes with so many images each.
pub fn folder(root: &Path, classes: usize, images: usize) -> Result<()> {
    let mut dice = Dice::new(0, "photos", 0);
    for class in 0..classes {
        let directory = root.join(format!("class{class}"));
        fs::create_dir_all(&directory)?;
        for image in 0..images {
            let bytes = bitmap(12, 9, (90 * class) as u8, &mut dice);
            fs::write(directory.join(format!("{image:03}.bmp")), bytes)?;
        }
    }
    Ok(())
}

/// `cifar-100-binary.tar.gz` with some training records of noise, and one test record.
pub fn cifar100(records: usize) -> Result<Vec<u8>> {
    let mut dice = Dice::new(0, "cifar100", 0);
    let mut record = |label: usize| -> Vec<u8> {
        let pixels = (0..3072).map(|_| dice.roll() as u8).collect::<Vec<_>>();
        [vec![0, label as u8], pixels].concat()
    };
    let train = (0..records).flat_map(|i| record(i % 100)).collect::<Vec<_>>();
    let names: String = (0..100).map(|i| format!("class{i:02}\n")).collect();
    let files = [("train.bin", train), ("test.bin", record(5)), ("fine_label_names.txt", names.into_bytes())];
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("cifar-100-binary/{name}"), &bytes[..])?;
    }
    Ok(archive.into_inner()?.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_says_how_large_it_is() {
        let bytes = bitmap(5, 2, 0, &mut Dice::new(0, "", 0));
        assert_eq!(bytes.len(), 54 + 2 * 16);
        assert_eq!((&bytes[..2], bytes[2] as usize, bytes[18], bytes[28]), (&b"BM"[..], bytes.len(), 5, 24));
    }
}
