//! Images of older packs: a folder that changed a little is not decoded anew.
//!
//! An image is known by the SHA-256 of its file's bytes, whatever the file is called now, wherever
//! it lies and whatever its class is. So every file is read, which is far cheaper than decoding it,
//! and an image is never taken for another.

use std::{collections::BTreeMap, path::Path};

use super::{
    Header, Packing,
    checked::Checked,
    format::{self, CHUNK},
};
use crate::{
    DataError, Split,
    files::{entries, unreadable},
    mapped::Mapped,
};

/// Where the image of each file is.
#[derive(Default)]
pub(super) struct Older {
    packs: Vec<Checked>,
    /// The pack and the place in it, by the file's digest.
    places: BTreeMap<[u8; 32], (usize, usize)>,
}

impl Older {
    /// The images of all packs of a data set and size that are there now. A pack that cannot be read
    /// has none.
    pub(super) fn find(packing: &Packing) -> Self {
        let mut older = Self::default();
        let Packing { name, size, .. } = *packing;
        let begins = Split::BOTH.map(|split| format!("{name}-{}-{size}-", split.name()));
        for path in packing.directories.iter().flat_map(|directory| entries(directory).unwrap_or_default()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".pack") && begins.iter().any(|begin| name.starts_with(begin)) {
                // What is damaged is not worth a word: the image is decoded instead.
                let _ = older.add(&path, size);
            }
        }
        older
    }

    fn add(&mut self, path: &Path, size: usize) -> Result<(), DataError> {
        let map = Mapped::open(path, u64::MAX).map_err(unreadable(path))?;
        let header = Header::read(&map, path)?;
        let chunks = format::read(&map, &header, path)?;
        if header.size != size {
            return Ok(());
        }
        for chunk in &chunks {
            let good = |index: &usize| !chunk.bad.contains_key(&(*index as u32));
            for (index, digest) in chunk.digests().into_iter().enumerate().filter(|(index, _)| good(index)) {
                self.places.entry(digest).or_insert((self.packs.len(), chunk.number * CHUNK + index));
            }
        }
        self.packs.push(Checked::new(map, header, path, &chunks));
        Ok(())
    }

    /// Writes the image that was made from a file with that digest, if there is one and it is not
    /// damaged.
    pub(super) fn copy(&self, digest: &[u8; 32], slot: &mut [u8]) -> bool {
        let image = self.places.get(digest).and_then(|&(pack, place)| self.packs[pack].image(place).ok());
        image.filter(|image| image.len() == slot.len()).map(|image| slot.copy_from_slice(&image)).is_some()
    }
}
