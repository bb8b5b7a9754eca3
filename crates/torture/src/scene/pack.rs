//! Packing a folder of images, by `rehearsal data stats`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Scene;
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::Stage,
};

/// A folder that all trials share; each packs it for itself.
pub struct Pack {
    pub photos: PathBuf,
}

impl Scene for Pack {
    fn name(&self) -> String {
        "data stats, packing a folder".into()
    }

    fn prepare(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn next(&self, stage: &Stage, _: &Path) -> Call {
        stage.call(&[
            "data",
            "stats",
            "folder",
            "--data",
            &self.photos.to_string_lossy(),
            "--size",
            "16",
            "--json",
            "-q",
        ])
    }

    fn outcome(&self, place: &Path, last: &Ending) -> Result<Outcome> {
        // A journal that could not be removed is nothing that is read.
        let packs = Outcome::of_tree(&place.join("data"))?.without(".journal");
        Ok(packs.with("standard output", last.out.clone()))
    }
}
