//! One run: stream × learner → record, with checkpoints on the way.

mod board;
mod checkpoint;
mod error;
mod journal;
mod progress;
mod testing;
mod warnings;

use std::{fmt::Write, path::Path, sync::Arc};

use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{Computed, DirectoryError, Recalibrations, Record, RunDirectory};

pub use error::ExperimentError;
pub use progress::{LastStep, Progress};

use rehearsal_backbone::features_by;
use rehearsal_data::{Progress as DataProgress, Request, Source};

use crate::{
    config::{Config, ConfigError, LearnerConfig, PartialConfig, Recalibrate},
    device::{DeviceIdentity, identify},
    diagnostics::Diagnostics,
    learner::{Cursor, FitOptions, Learner, Parts, on_threads},
    observer::Observer,
    record::record,
    sample::TaskId,
    stream::Stream,
};

use board::Board;
use journal::{Journal, Line, Recorder};
use testing::Tested;
use warnings::warnings;

/// Of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A run, ready to begin or to go on.
pub struct Experiment {
    stream: Arc<Stream>,
    learner: Learner,
    journal: Journal,
    /// The last test.
    tested: Option<Tested>,
}

/// The data of a run.
pub(crate) struct DataUsed {
    pub sha256: String,
    /// What is missing, compared with what was published.
    pub incomplete: Vec<String>,
}

/// How a run ended.
pub enum Outcome {
    /// With a result, and a learner that can predict and go on learning.
    Finished(Box<Record>, Box<Learner>),
    /// The observer stopped it; the checkpoint is where it stopped.
    Stopped,
}

impl Experiment {
    /// A new run with these settings; with `out`, it writes a directory there. Everything that can
    /// be refused is refused here.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn new(settings: &PartialConfig, out: Option<&Path>) -> Result<Self, ExperimentError> {
        let config = settings.resolve()?;
        let source = open_data(&config, &())?;
        let mut experiment = Self::open(settings, source, Parts::new())?;
        if let Some(path) = out {
            experiment.write_to(path)?;
        }
        Ok(experiment)
    }

    /// A new run on a custom data source, or with a custom method, retrieval, memory policy or
    /// backbone. It writes nothing until [`Experiment::write_to`] says where.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn with_parts(
        settings: &PartialConfig,
        source: Arc<dyn Source>,
        parts: Parts,
    ) -> Result<Self, ExperimentError> {
        Self::open(&settings.with_names(parts.names()), source, parts)
    }

    /// Writes the run into a new directory.
    ///
    /// # Errors
    /// There is a run already, or it cannot be written.
    pub fn write_to(&mut self, path: &Path) -> Result<(), ExperimentError> {
        self.journal.directory = Some(RunDirectory::create(path, &self.journal.config_toml())?);
        Ok(self.open_board()?)
    }

    /// A run in `directory`, where its last checkpoint left it. `adjust` may change what does not
    /// change results: threads, the place of data. It may also change the device, which changes their
    /// last bits and what follows from these: then the result says so.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn resume(directory: &Path, adjust: impl FnOnce(&mut PartialConfig)) -> Result<Self, ExperimentError> {
        let open = |config: &Config| open_data(config, &());
        Self::resume_from(directory, adjust, open, Parts::new())
    }

    /// As [`Experiment::resume`], for a run that was begun by [`Experiment::with_parts`] with the
    /// same source and parts.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn resume_with_parts(directory: &Path, source: Arc<dyn Source>, parts: Parts) -> Result<Self, ExperimentError> {
        Self::resume_from(directory, |_| {}, |_| Ok(source), parts)
    }

    fn resume_from(
        directory: &Path,
        adjust: impl FnOnce(&mut PartialConfig),
        open: impl FnOnce(&Config) -> Result<Arc<dyn Source>, ExperimentError>,
        parts: Parts,
    ) -> Result<Self, ExperimentError> {
        let held = RunDirectory::hold(directory)?;
        let mut settings = PartialConfig::parse(&RunDirectory::read_config(directory)?)?;
        // Another version may round differently: half a run of each would be a run of neither.
        if let Some(expected) = settings.version.take_if(|version| version != VERSION) {
            return Err(ConfigError::OtherVersion { found: VERSION, expected }.into());
        }
        adjust(&mut settings);
        let source = open(&settings.resolve()?)?;
        let mut experiment = Self::open(&settings, source, parts.clone())?;
        experiment.restore(directory, parts)?;
        let Self { journal, learner, .. } = &mut experiment;
        journal.progress.note_computed(computed(learner));
        journal.directory = Some(held.go_on(&journal.progress.log)?);
        experiment.open_board()?;
        Ok(experiment)
    }

    fn open(settings: &PartialConfig, source: Arc<dyn Source>, parts: Parts) -> Result<Self, ExperimentError> {
        let config = settings.resolve()?;
        let incomplete = source.incomplete().iter().map(ToString::to_string).collect();
        let data = DataUsed { sha256: source.sha256().to_owned(), incomplete };
        if let Some(expected) = settings.data_sha256.as_ref().filter(|expected| **expected != data.sha256) {
            return Err(ConfigError::OtherData { found: data.sha256, expected: expected.clone() }.into());
        }
        let stream = Arc::new(Stream::new(source, &config.plan())?);
        let learner_config = LearnerConfig { epochs: Some(config.epochs()), ..config.learner.clone() };
        let learner = Learner::new(learner_config, stream.input(), stream.class_names(), parts)?;
        let diagnostics = config.diagnostics.then(|| Diagnostics::new(learner.network()));
        let recalibration = (config.recalibrate != Recalibrate::Off).then(Recalibrations::default);
        let recalibrated = (config.recalibrate == Recalibrate::Both).then(AccuracyMatrix::default);
        let task_incremental = Some(AccuracyMatrix::default());
        let mut progress =
            Progress { recalibration, recalibrated, task_incremental, diagnostics, ..Progress::default() };
        progress.note_computed(computed(&learner));
        let journal = Journal { config, data, progress, directory: None, board: None };
        Ok(Self { stream, learner, journal, tested: None })
    }

    /// If it was asked for, goes on showing the run in `TensorBoard`: from the last step on, which is written again.
    fn open_board(&mut self) -> Result<(), DirectoryError> {
        let Self { learner, journal, .. } = self;
        let (Some(directory), true) = (journal.path(), journal.config.tensorboard) else { return Ok(()) };
        let steps = learner.cursor().steps;
        let mut board = Board::open(directory, steps)?;
        if let Some(last) = &journal.progress.last {
            board.step(steps, last)?;
        }
        if !learner.cursor().is_inside_task() {
            board.task(steps, &journal.progress.matrix)?;
        }
        journal.board = Some(board);
        Ok(())
    }

    /// Everything that will run.
    pub fn config(&self) -> &Config {
        &self.journal.config
    }

    /// What is missing of its data, compared with what was published, for each data set.
    pub fn incomplete_data(&self) -> &[String] {
        &self.journal.data.incomplete
    }

    /// Where it writes, if it does.
    pub fn directory(&self) -> Option<&Path> {
        self.journal.path()
    }

    /// Steps of the whole run.
    pub fn total_steps(&self) -> u64 {
        let batches: usize = self.stream.tasks().map(|task| self.stream.batches(task)).sum();
        (batches as u64).saturating_mul(self.journal.config.epochs() as u64)
    }

    /// The classes in order of appearance.
    pub fn class_names(&self) -> &[String] {
        self.stream.class_names()
    }

    /// What has been measured so far.
    pub fn progress(&self) -> &Progress {
        &self.journal.progress
    }

    /// The learner as it is now.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// Runs to the end, on as many threads as the settings say.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn run(self, observer: &mut dyn Observer) -> Result<Outcome, ExperimentError> {
        on_threads(self.journal.config.learner.threads, || self.run_here(observer))?
    }

    fn run_here(mut self, observer: &mut dyn Observer) -> Result<Outcome, ExperimentError> {
        // From here on, a run whose settings were edited is known by its checkpoint.
        if self.learner.cursor() == Cursor::default() {
            self.journal.save(&self.learner)?;
        }
        for task in self.stream.tasks().skip(self.learner.cursor().task) {
            if self.learn(task, observer)? {
                self.journal.save(&self.learner)?;
                return Ok(Outcome::Stopped);
            }
            let row = self.test(task)?;
            if let Some(diagnostics) = &mut self.journal.progress.diagnostics {
                diagnostics.task_learned(task, &self.learner);
            }
            self.journal.write_diagnostics()?;
            observer.task(task.index(), &row);
            self.journal.save(&self.learner)?;
        }
        self.finish()
    }

    /// Learns what is left of a task; whether it was stopped.
    fn learn(&mut self, task: TaskId, observer: &mut dyn Observer) -> Result<bool, ExperimentError> {
        // The paper's protocol: what fills no batch is dropped, and tests recalibrate if asked.
        let options = FitOptions { insert_rest: false, recalibrate: false };
        let mut recorder = Recorder::new(&mut self.journal, &self.stream, observer);
        let fit = self.learner.fit(&self.stream.samples(task), options, &mut recorder)?;
        recorder.finish()?;
        Ok(fit.is_stopped)
    }

    fn finish(mut self) -> Result<Outcome, ExperimentError> {
        // Of a run that was stopped after its last task they were written by another process.
        self.journal.write_diagnostics()?;
        // A run that was stopped after its last test has to test once more.
        let tested = match (self.tested.take(), self.stream.tasks().last()) {
            (Some(tested), _) => tested,
            (None, Some(last)) => self.examine(last)?,
            (None, None) => Tested::default(),
        };
        let Journal { config, data, progress, directory, .. } = self.journal;
        let warnings = warnings(&progress, &self.stream);
        let (correct, recalibrated) = tested.predictions();
        let (class_names, steps) = (self.stream.class_names().to_vec(), self.learner.cursor().steps);
        let record = record(&config, data, class_names, progress, steps, correct.len());
        let record = Record { warnings, ..record };
        if let Some(mut directory) = directory {
            let json = serde_json::to_string_pretty(&record).expect("a record is plain data");
            directory.finish(&correct, recalibrated.as_deref(), &(json + "\n"))?;
        }
        Ok(Outcome::Finished(Box::new(record), Box::new(self.learner)))
    }
}

impl Journal {
    /// The text of `config.toml`: every setting, and what it ran with.
    fn config_toml(&self) -> String {
        let mut text = toml::to_string(&self.config).expect("settings are plain data");
        let DataUsed { sha256, incomplete } = &self.data;
        write!(text, "version = \"{VERSION}\"\ndata-sha256 = \"{sha256}\"\n").expect("a string takes all");
        if !incomplete.is_empty() {
            let list = toml::Value::from(incomplete.clone());
            writeln!(text, "incomplete-data = {list}").expect("a string takes all");
        }
        text
    }
}

/// The data of a run: images, or their features if the backbone is pre-trained. What is packed or computed at first
/// use is told to `progress`.
///
/// # Errors
/// They cannot be read or computed.
pub fn open_data(config: &Config, progress: &dyn DataProgress) -> Result<Arc<dyn Source>, ExperimentError> {
    let source = config.dataset.open(&Request { progress, ..config.request() })?;
    match config.learner.network.backbone.pretrained() {
        Some(name) => Ok(features_by(name, source, config.learner.threads, progress)?),
        None => Ok(source),
    }
}

/// What computes the steps of a learner from where it is.
fn computed(learner: &Learner) -> Computed {
    let DeviceIdentity { backend, adapter } = identify(&learner.network().device());
    Computed {
        from_step: learner.cursor().steps,
        device: learner.config().device.to_string(),
        backend,
        adapter,
        kernels: learner.network().kernels().to_string(),
    }
}
