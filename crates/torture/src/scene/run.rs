//! `rehearsal run`, small and with a checkpoint after every step, by several methods.

use std::{fs, path::Path};

use anyhow::Result;
use rehearsal_runs::files;

use super::Scene;
use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::Stage,
};

/// What all share: 24 steps in two tasks of two classes of the embedded images.
const BASE: &str = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nepochs = 2\nbackbone = 'tiny'\n\
                    width = 4\nmemory = 25\ncandidates = 12\ncheckpoint-minutes = 0.0\nthreads = 1\n";

/// A run with some settings.
pub struct Run {
    pub name: &'static str,
    pub settings: String,
}

impl Run {
    pub fn new(name: &'static str, more: &str) -> Self {
        Self { name, settings: format!("{BASE}{more}") }
    }
}

/// By the parts that keep something between steps, in the memory, the method, the optimizer or the
/// books.
pub fn variants(photos: &Path) -> Vec<Run> {
    let folder = format!(
        "dataset = 'folder'\ndata = '{}'\nsize = 16\ntasks = 2\ntrain-per-class = 40\ntest-per-class = 10\nbackbone = 'tiny'\n\
         width = 4\nmemory = 25\ncandidates = 12\ncheckpoint-minutes = 0.0\nthreads = 1\nmethod = 'er'\nretrieval = 'random'\n",
        photos.display()
    );
    vec![
        Run::new("run pcr, balanced, diagnostics, TensorBoard", "diagnostics = true\ntensorboard = true\n"),
        Run::new("run der-pp, gss, random", "method = 'der-pp'\nmemory-policy = 'gss'\nretrieval = 'random'\n"),
        Run::new(
            "run cls-er, class-balanced, momentum",
            "method = 'cls-er'\nmemory-policy = 'class-balanced'\nretrieval = 'random'\nmomentum = 0.9\nstable-frequency = 0.5\n",
        ),
        Run::new("run aser, diagnostics", "method = 'aser'\ndiagnostics = true\n"),
        Run::new(
            "run er-ace, mir, cosine",
            "method = 'er-ace'\nretrieval = 'mir'\nschedule = 'cosine'\ntensorboard = true\n",
        ),
        Run::new("run a-gem, blurry", "method = 'a-gem'\nretrieval = 'random'\nstream = 'blurry'\nblur = 0.2\n"),
        Run { name: "run er on a folder, packed first", settings: folder },
    ]
}

impl Scene for Run {
    fn name(&self) -> String {
        self.name.into()
    }

    fn prepare(&self, place: &Path) -> Result<()> {
        Ok(fs::write(place.join("run.toml"), &self.settings)?)
    }

    fn next(&self, stage: &Stage, place: &Path) -> Call {
        if place.join("run").join(files::CONFIG).exists() {
            stage.call(&["run", "--resume", "run", "--quiet"])
        } else {
            stage.call(&["run", "run.toml", "--out", "run", "--quiet"])
        }
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        Outcome::of_run(&place.join("run"))
    }
}
