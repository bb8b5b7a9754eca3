//! `rehearsal data fetch` of an archive that was downloaded by hand.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Scene;
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::Stage,
};

/// An archive that all trials share; each unpacks it for itself.
pub struct Fetch {
    pub archive: PathBuf,
}

impl Scene for Fetch {
    fn name(&self) -> String {
        "data fetch, unpacking an archive".into()
    }

    fn prepare(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn next(&self, stage: &Stage, _: &Path) -> Call {
        stage.call(&["data", "fetch", "cifar100", "--from", &self.archive.to_string_lossy(), "--trust", "--part", "-q"])
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        Outcome::of_tree(&place.join("data"))
    }
}
