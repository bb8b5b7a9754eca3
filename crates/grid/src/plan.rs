//! What a grid's file stands for: its runs, and where they are.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rehearsal_files::regular;
use rehearsal_runs::{DirectoryError, GridDirectory, GridLock, RunName, Settings};
use thiserror::Error;
use toml::Table;

use crate::{
    Grid, Only, OnlyError, Planned, State, manifest, read_manifest,
    slurm::{ScriptError, SlurmError},
};

/// The largest file of a grid that is read, in bytes: a manifest of as many runs as a grid can have.
const LARGEST: u64 = 512 << 20;

/// Checks the settings of a run, and completes them with their defaults. The crate that runs them can do that.
pub type Complete = fn(&Table) -> Result<Settings, Box<dyn std::error::Error + Send + Sync>>;

/// A grid, read and checked.
pub struct Plan {
    /// Where its runs are.
    pub directory: GridDirectory,
    /// Its runs, in the order of the manifest.
    pub jobs: Vec<Job>,
}

/// One of its runs.
pub struct Job {
    /// Its index, name and settings.
    pub planned: Planned,
    /// Its directory.
    pub directory: PathBuf,
    /// What it wrote to standard error, if it failed.
    pub log: PathBuf,
    complete: Complete,
}

/// Why a grid cannot be planned, begun or submitted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Its file cannot be read.
    #[error("{0} cannot be read: {1}")]
    Unreadable(PathBuf, io::Error),
    /// Its file is not a grid, or not a manifest.
    #[error("{0}: {1}")]
    Malformed(PathBuf, String),
    /// In this file, this run has wrong settings.
    #[error("{0}: {1}: {2}")]
    Settings(PathBuf, RunName, Box<dyn std::error::Error + Send + Sync>),
    /// A path cannot be written into a manifest.
    #[error("{0} is not UTF-8")]
    NotUtf8(PathBuf),
    /// The relative path of something cannot be made absolute.
    #[error("the current directory is not known: {0}")]
    NoCurrentDirectory(io::Error),
    /// No run is chosen.
    #[error(transparent)]
    Only(#[from] OnlyError),
    /// There is no run of that index among this number of runs.
    #[error("there is no run {0}: the grid has {1}, from 0 to {last}", last = .1 - 1)]
    NoIndex(usize, usize),
    /// There is no run of that name.
    #[error("no run of the grid is called {0}")]
    NoName(String),
    /// A run's directory holds something else.
    #[error("{0}")]
    Foreign(String),
    /// Another process runs it.
    #[error("another grid is running in {0}")]
    Busy(PathBuf),
    /// Its directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Slurm is missing, or refuses.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// No script can be written.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Slurm has this job, but that cannot be written down.
    #[error("job {0} is submitted, but that cannot be written down: {1}")]
    NotNoted(String, io::Error),
}

impl PlanError {
    /// Whether the user asked for something wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Directory(error) => error.is_user_error(),
            Self::NotNoted(..) | Self::NoCurrentDirectory(_) => false,
            _ => true,
        }
    }
}

impl Plan {
    /// Reads a grid file, or the manifest of a grid that was begun, and checks the settings of every run. Runs are in
    /// `out`, or beside the manifest, or in `runs/` and the name of the file. Runs that do not say where their data is
    /// use `data`.
    ///
    /// # Errors
    /// It cannot be read, or the settings of a run are wrong.
    pub fn read(file: &Path, out: Option<&Path>, data: Option<&Path>, complete: Complete) -> Result<Self, PlanError> {
        let path = || file.to_owned();
        let text = regular::read_named(file, LARGEST).map_err(|error| PlanError::Unreadable(path(), error))?;
        let is_manifest = file.extension().is_some_and(|ending| ending == "jsonl");
        let planned = if is_manifest {
            read_manifest(&text)
        } else {
            Grid::parse(&text).and_then(|grid| grid.runs()).map_err(|error| error.to_string())
        };
        let planned = planned.map_err(|why| PlanError::Malformed(path(), why))?;
        let default = || match (is_manifest, file.parent(), file.file_stem()) {
            (true, Some(directory), _) if directory != Path::new("") => directory.to_owned(),
            (true, ..) => PathBuf::from("."),
            (_, _, Some(name)) => Path::new("runs").join(name),
            _ => PathBuf::from("runs"),
        };
        let directory = GridDirectory::new(out.map_or_else(default, Path::to_owned));
        let data = data.map(absolute).transpose()?;
        let data = match data {
            None => None,
            Some(data) => Some(data.to_str().map(str::to_owned).ok_or(PlanError::NotUtf8(data))?),
        };
        let job = |mut planned: Planned| {
            if let Some(data) = data.as_deref().filter(|_| !planned.settings.contains_key("data")) {
                planned.settings.insert("data".into(), data.into());
            }
            let (run, log) = (directory.run(&planned.name), directory.log(&planned.name));
            let job = Job { planned, directory: run, log, complete };
            match job.settings() {
                Ok(_) => Ok(job),
                Err(error) => Err(PlanError::Settings(path(), job.planned.name, error)),
            }
        };
        let jobs = planned.into_iter().map(job).collect::<Result<_, _>>()?;
        Ok(Self { directory, jobs })
    }

    /// The runs as the manifest lists them.
    pub fn planned(&self) -> Vec<Planned> {
        self.jobs.iter().map(|job| job.planned.clone()).collect()
    }

    /// The indices of all runs, or of those with some settings.
    ///
    /// # Errors
    /// No run has them.
    pub fn chosen(&self, only: Option<&Only>) -> Result<Vec<usize>, PlanError> {
        Ok(match only {
            None => (0..self.jobs.len()).collect(),
            Some(only) => only.of(&self.planned())?.iter().map(|planned| planned.index).collect(),
        })
    }

    /// The run of a name, or of an index.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: &str) -> Result<&Job, PlanError> {
        let named = |job: &&Job| job.planned.name.as_str() == name || name.parse().ok() == Some(job.planned.index);
        self.jobs.iter().find(named).ok_or_else(|| PlanError::NoName(name.into()))
    }

    /// The run at an index, to be run.
    ///
    /// # Errors
    /// There is none, or its directory holds something else.
    pub fn take(mut self, index: usize) -> Result<Job, PlanError> {
        let count = self.jobs.len();
        if index >= count {
            return Err(PlanError::NoIndex(index, count));
        }
        let job = self.jobs.swap_remove(index);
        match State::read(&job) {
            State::Foreign(why) => Err(PlanError::Foreign(why)),
            _ => Ok(job),
        }
    }

    /// How far each run is, by its files.
    pub fn states(&self) -> Vec<State> {
        self.jobs.iter().map(State::read).collect()
    }

    /// Creates the grid's directory, writes the manifest, and keeps other grids out while the lock lives. If another
    /// process has it, says so to `waiting` and waits, up to `patience`.
    ///
    /// # Errors
    /// Another process still has it, or it cannot be written or locked.
    pub fn hold(&self, patience: Duration, waiting: impl FnOnce()) -> Result<GridLock, PlanError> {
        let (start, mut waiting) = (Instant::now(), Some(waiting));
        loop {
            match self.directory.hold() {
                Ok(lock) => {
                    self.directory.write_manifest(&manifest(&self.planned()))?;
                    return Ok(lock);
                }
                Err(DirectoryError::Busy(path)) if start.elapsed() >= patience => return Err(PlanError::Busy(path)),
                Err(DirectoryError::Busy(_)) => {
                    waiting.take().into_iter().for_each(|waiting| waiting());
                    std::thread::sleep(Duration::from_millis(200));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Job {
    /// Every setting of the run, completed with defaults.
    ///
    /// # Errors
    /// They are wrong; not if the run is from a [`Plan`], which has checked them.
    pub fn settings(&self) -> Result<Settings, Box<dyn std::error::Error + Send + Sync>> {
        (self.complete)(&self.planned.settings)
    }

    /// The settings of a run from the text of its `config.toml`.
    pub(crate) fn parse_settings(&self, text: &str) -> Result<Settings, Box<dyn std::error::Error + Send + Sync>> {
        (self.complete)(&toml::from_str(text)?)
    }
}

pub(crate) fn absolute(path: &Path) -> Result<PathBuf, PlanError> {
    std::path::absolute(path).map_err(PlanError::NoCurrentDirectory)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;

    /// Settings with one default, `epochs = 1`; `lr` must be positive.
    pub(crate) fn complete(settings: &Table) -> Result<Settings, Box<dyn std::error::Error + Send + Sync>> {
        if settings.get("lr").and_then(toml::Value::as_float).is_some_and(|lr| lr <= 0.0) {
            return Err("`lr` must be above 0".into());
        }
        let mut settings = settings.clone();
        settings.entry("epochs").or_insert(1.into());
        Ok(Settings::new(&settings)?)
    }

    /// A grid of this text, with its runs in `runs/` of a directory.
    pub(crate) fn plan(place: &Path, text: &str) -> Plan {
        let file = place.join("grid.toml");
        fs::write(&file, text).unwrap();
        Plan::read(&file, Some(&place.join("runs")), None, complete).unwrap()
    }

    #[test]
    fn a_manifest_stands_for_the_same_runs_as_its_grid() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("grid.toml");
        fs::write(&file, "[axes]\nseed = [0, 1]\ndata = ['here']\n").unwrap();
        let elsewhere = Some(Path::new("elsewhere"));
        let plan = Plan::read(&file, Some(&place.path().join("runs")), elsewhere, complete).unwrap();
        assert_eq!(plan.jobs[1].planned.settings["data"].as_str(), Some("here"), "a run that says it keeps it");
        drop(plan.hold(Duration::ZERO, || ()).unwrap());
        let again = Plan::read(&plan.directory.manifest(), None, None, complete).unwrap();
        assert_eq!((again.planned(), again.directory), (plan.planned(), plan.directory.clone()));
        let own = Plan::read(&file, None, None, complete).unwrap();
        assert_eq!(own.directory.path(), Path::new("runs/grid"));
        fs::write(&file, "[axes]\nseed = [0, 1]\n").unwrap();
        let plan = Plan::read(&file, None, elsewhere, complete).unwrap();
        let data = plan.jobs[0].planned.settings["data"].as_str().unwrap().to_owned();
        assert!(Path::new(&data).is_absolute() && data.ends_with("elsewhere"), "{data}");
    }

    #[test]
    fn what_is_wrong_is_told_with_the_file_and_the_run() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("grid.toml");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            Plan::read(&file, None, None, complete).err().unwrap()
        };
        let wrong = read("[axes]\nlr = [0.1, -1.0]\n");
        assert!(matches!(&wrong, PlanError::Settings(_, run, _) if run.as_str() == "lr-1"), "{wrong}");
        assert!(wrong.to_string().ends_with("grid.toml: lr-1: `lr` must be above 0"), "{wrong}");
        assert!(matches!(read("[axes]\n"), PlanError::Malformed(..)));
        fs::remove_file(&file).unwrap();
        let missing = Plan::read(&file, None, None, complete).err().unwrap();
        assert!(matches!(&missing, PlanError::Unreadable(..)) && missing.is_user_error());
    }

    #[test]
    fn runs_are_found_by_name_and_by_index() {
        let place = tempfile::tempdir().unwrap();
        let grid = || plan(place.path(), "[axes]\nseed = [4, 5]\n");
        assert_eq!(grid().find("seed5").unwrap().planned.index, 1);
        assert_eq!(grid().find("0").unwrap().planned.name.as_str(), "seed4");
        assert!(matches!(grid().find("seed6"), Err(PlanError::NoName(_))));
        assert_eq!(grid().chosen(Some(&"seed=5".parse().unwrap())).unwrap(), [1]);
        assert_eq!(grid().take(1).unwrap().planned.name.as_str(), "seed5");
        assert!(matches!(grid().take(2), Err(PlanError::NoIndex(2, 2))));
    }

    #[test]
    fn a_grid_is_held_by_one_process() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan(place.path(), "[axes]\nseed = [0]\n");
        let lock = plan.hold(Duration::ZERO, || ()).unwrap();
        assert!(matches!(plan.hold(Duration::ZERO, || ()), Err(PlanError::Busy(_))));
        let mut held = Some(lock);
        drop(plan.hold(Duration::from_mins(1), || held = None).unwrap());
    }
}
