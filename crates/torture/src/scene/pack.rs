//! Packing a folder of images, by `rehearsal data stats`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::Scene;
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::{Stage, copy},
};

/// Where the packs of a trial are.
pub const PACKS: &str = "photos/.rehearsal/packs";

/// Bytes of a pack before its images.
const HEADER: usize = 4096;

/// A folder of which every trial packs a copy.
pub struct Pack {
    pub photos: PathBuf,
}

impl Scene for Pack {
    fn name(&self) -> String {
        "data stats, packing a folder".into()
    }

    fn prepare(&self, place: &Path) -> Result<()> {
        for entry in fs::read_dir(&self.photos)? {
            let name = entry?.file_name();
            // Others may have packed the folder itself.
            if !name.as_encoded_bytes().starts_with(b".") {
                copy(&self.photos.join(&name), &place.join("photos").join(&name))?;
            }
        }
        Ok(())
    }

    fn next(&self, stage: &Stage, _: &Path) -> Call {
        stage.call(&["data", "stats", "folder", "--data", "photos", "--size", "16", "--json", "-q"])
    }

    fn outcome(&self, place: &Path, last: &Ending) -> Result<Outcome> {
        // A journal that could not be removed is nothing that is read.
        let packs = Outcome::of_tree(&place.join(PACKS))?.without(".journal").told(|pack| anywhere(pack, place));
        Ok(packs.with("standard output", last.out.clone()))
    }
}

/// A pack without the path of its folder, which stands in its header, padded with spaces.
fn anywhere(pack: &[u8], place: &Path) -> Vec<u8> {
    let (header, images) = pack.split_at(pack.len().min(HEADER));
    let header = String::from_utf8_lossy(header).replace(&*place.to_string_lossy(), "");
    [header.trim_end().as_bytes(), images].concat()
}
