//! `rehearsal report` of two finished runs.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Run, Scene};
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::Stage,
};

/// A report of runs that all trials share.
pub struct Report {
    runs: PathBuf,
}

impl Report {
    pub fn new(stage: &Stage) -> Result<Self> {
        let runs = stage.shared("runs");
        if !runs.exists() {
            std::fs::create_dir_all(&runs)?;
            for seed in ["0", "1"] {
                Run::new("", "diagnostics = true\n").prepare(&runs)?;
                stage
                    .succeed(&runs, &["run", "run.toml", "--seed", seed, "--out", &format!("run{seed}"), "--quiet"])?;
            }
        }
        Ok(Self { runs })
    }
}

impl Scene for Report {
    fn name(&self) -> String {
        "report".into()
    }

    fn prepare(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn next(&self, stage: &Stage, _: &Path) -> Call {
        stage.call(&["report", &self.runs.to_string_lossy(), "--out", "report", "--quiet"])
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        Outcome::of_tree(&place.join("report"))
    }
}
