//! Images and archives that trials start with: small, and always the same.

use std::{fs, path::Path};

use anyhow::Result;
use flate2::{Compression, write::GzEncoder};

use crate::{
    random::Random,
    table::{self, ARCHIVE, SESSIONS},
    workspace::Workspace,
};

/// Makes the files that trials share: images, an archive, finished runs, and a model that has learned.
pub fn make(workspace: &Workspace) -> Result<()> {
    let mut random = Random::new(0, "photos", 0);
    for (i, name) in ["a", "b"].into_iter().enumerate() {
        class(&workspace.shared("photos").join(name), 150, (12, 9), 90 * i as u8, &mut random)?;
        class(&workspace.shared("few-photos").join(name), 30, (12, 9), 90 * i as u8, &mut random)?;
    }
    for (session, classes) in SESSIONS {
        for (i, (name, count)) in classes.iter().enumerate() {
            let directory = workspace.shared("sessions").join(session).join(name);
            class(&directory, *count, (18, 16), 90 * i as u8, &mut random)?;
        }
    }
    fs::write(workspace.shared("noise"), random.bytes(5000))?;
    fs::write(workspace.shared(ARCHIVE), cifar100()?)?;
    table::runs_to_report().run_all(workspace, &workspace.shared("runs"))?;
    table::learn("learn", "", 0).run_all(workspace, &workspace.shared("learned"))
}

/// A BMP file of 24 bits a pixel: noise around a colour.
pub fn bitmap(width: u32, height: u32, colour: u8, random: &mut Random) -> Vec<u8> {
    let row = (3 * width).next_multiple_of(4);
    let mut bytes = b"BM".to_vec();
    for number in [54 + row * height, 0, 54, 40, width, height, 1 | 24 << 16, 0, row * height, 2835, 2835, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend((0..row * height).map(|_| colour.wrapping_add(random.below(64) as u8)));
    bytes
}

/// Images of one class, of some size and colour.
pub fn class(directory: &Path, count: u8, (width, height): (u32, u32), colour: u8, random: &mut Random) -> Result<()> {
    fs::create_dir_all(directory)?;
    for i in 0..count {
        fs::write(directory.join(format!("{i}.bmp")), bitmap(width, height, colour, random))?;
    }
    Ok(())
}

/// `cifar-100-binary.tar.gz` with 40 training records of noise and one test record.
pub fn cifar100() -> Result<Vec<u8>> {
    let mut random = Random::new(0, "cifar100", 0);
    let mut record = |label: u8| [vec![0, label], random.bytes(3072)].concat();
    let train = (0..40).flat_map(&mut record).collect::<Vec<_>>();
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
        let bytes = bitmap(5, 2, 0, &mut Random::new(0, "", 0));
        assert_eq!(bytes.len(), 54 + 2 * 16);
        assert_eq!((&bytes[..2], bytes[2] as usize, bytes[18], bytes[28]), (&b"BM"[..], bytes.len(), 5, 24));
    }
}
