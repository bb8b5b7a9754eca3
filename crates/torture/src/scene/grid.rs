//! `rehearsal grid`: two runs in processes of their own.

use std::{fs, path::Path};

use anyhow::{Result, bail};
use rehearsal_runs::files;

use super::{Run, Scene};
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::Stage,
};

/// Two runs at a time, of two seeds.
pub struct Grid;

impl Grid {
    /// The directories of its runs.
    pub const RUNS: [&str; 2] = ["seed0", "seed1"];

    /// The text of its file.
    pub fn file() -> String {
        format!("[fixed]\n{}diagnostics = true\n[axes]\nseed = [0, 1]\n", Run::new("", "").settings)
    }
}

impl Scene for Grid {
    fn name(&self) -> String {
        "grid".into()
    }

    fn prepare(&self, place: &Path) -> Result<()> {
        Ok(fs::write(place.join("small.toml"), Self::file())?)
    }

    fn next(&self, stage: &Stage, _: &Path) -> Call {
        stage.call(&["grid", "small.toml", "--jobs", "2", "--threads", "2"])
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        let grid = place.join("runs/small");
        // Logs of runs that ended well are removed; what a run said when it was killed is not, until
        // it has ended well.
        if let Some(log) = fs::read_dir(grid.join(files::LOGS))?.next() {
            bail!("{} is left", log?.path().display());
        }
        let mut outcome = Outcome::default().with(files::MANIFEST, fs::read(grid.join(files::MANIFEST))?);
        for name in Self::RUNS {
            outcome = outcome.and(name, Outcome::of_run(&grid.join(name))?);
        }
        Ok(outcome)
    }
}
