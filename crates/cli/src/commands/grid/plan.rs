//! What a grid's file stands for: its runs, their settings, and where they are.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};
use rehearsal::{
    config::{Config, PartialConfig},
    datasets::Request,
};
use rehearsal_files::regular;
use rehearsal_grid::{Only, Planned};
use rehearsal_runs::GridDirectory;

use super::state::State;
use crate::{
    args::grid::Known,
    printer::{Bar, message},
};

/// The largest file of a grid that is read, in bytes: a manifest of as many runs as a grid has.
const LARGEST: u64 = 512 << 20;

/// A grid, read and checked.
pub struct Plan {
    /// Where its runs are.
    pub directory: GridDirectory,
    /// In the order of the manifest.
    pub jobs: Vec<Job>,
}

/// One of its runs.
pub struct Job {
    /// Its place, name and settings.
    pub planned: Planned,
    /// What its settings say.
    pub settings: PartialConfig,
    /// The same, completed.
    pub config: Config,
    /// Its own directory.
    pub directory: PathBuf,
    /// What it says on standard error: nothing, unless it fails.
    pub log: PathBuf,
}

impl Plan {
    /// Reads a grid file, or the manifest of a grid that was begun, and checks the settings of
    /// every run.
    ///
    /// # Errors
    /// It cannot be read, or one of its runs makes no sense.
    pub fn read(Known { file, place }: &Known) -> Result<Self> {
        let text = regular::read_named(file, LARGEST).with_context(|| format!("{} cannot be read", file.display()))?;
        let named = |why: String| anyhow!("{}: {why}", file.display());
        let is_manifest = file.extension().is_some_and(|ending| ending == "jsonl");
        let planned = if is_manifest {
            rehearsal_grid::read_manifest(&text).map_err(named)?
        } else {
            rehearsal_grid::Grid::parse(&text).and_then(|grid| grid.runs()).map_err(|error| named(error.to_string()))?
        };
        let default = || match (is_manifest, file.parent(), file.file_stem()) {
            (true, Some(directory), _) if directory != Path::new("") => directory.to_owned(),
            (true, ..) => PathBuf::from("."),
            (_, _, Some(name)) => Path::new("runs").join(name),
            _ => PathBuf::from("runs"),
        };
        let directory = GridDirectory::new(place.out.clone().unwrap_or_else(default));
        let data = place.data.as_deref().map(std::path::absolute).transpose()?;
        let jobs = planned.into_iter().map(|planned| Job::new(planned, &directory, data.as_deref()));
        let jobs = jobs.collect::<Result<_>>().with_context(|| file.display().to_string())?;
        Ok(Self { directory, jobs })
    }

    /// The runs as the manifest lists them.
    pub fn planned(&self) -> Vec<Planned> {
        self.jobs.iter().map(|job| job.planned.clone()).collect()
    }

    /// The runs that are meant, by their numbers: all, or some by their settings.
    ///
    /// # Errors
    /// None is meant.
    pub fn chosen(&self, only: Option<&Only>) -> Result<Vec<usize>> {
        Ok(match only {
            None => (0..self.jobs.len()).collect(),
            Some(only) => only.of(&self.planned())?.iter().map(|planned| planned.index).collect(),
        })
    }

    /// How far each run is.
    pub fn states(&self) -> Vec<State> {
        self.jobs.iter().map(State::read).collect()
    }

    /// Opens each data set that these runs need, once; image files are decoded and packed on the
    /// way.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn check_data(&self, runs: &[usize]) -> Result<()> {
        let mut seen = BTreeSet::new();
        for job in runs.iter().map(|&index| &self.jobs[index]) {
            let config = &job.config;
            if seen.insert((config.dataset.to_string(), config.data.clone(), config.size, config.skip_bad)) {
                let source = config.dataset.open(&Request { progress: &Bar::default(), ..config.request() })?;
                let say = |part| message(&format!("only a part of the data is here: {part}"));
                source.incomplete().iter().for_each(say);
            }
        }
        Ok(())
    }
}

impl Job {
    fn new(mut planned: Planned, grid: &GridDirectory, data: Option<&Path>) -> Result<Self> {
        if let (Some(data), false) = (data, planned.settings.contains_key("data")) {
            let data = data.to_str().ok_or_else(|| anyhow!("{} is not UTF-8", data.display()))?;
            planned.settings.insert("data".into(), data.into());
        }
        let settings = PartialConfig::from_settings(&planned.settings);
        let settings = settings.with_context(|| planned.name.to_string())?;
        let config = settings.resolve().with_context(|| planned.name.to_string())?;
        let (directory, log) = (grid.run(&planned.name), grid.log(&planned.name));
        Ok(Self { planned, settings, config, directory, log })
    }
}
