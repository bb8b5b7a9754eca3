//! One run: stream × learner → record, with checkpoints on the way.

mod board;
mod checkpoint;
mod error;
mod progress;
mod testing;
mod warnings;

use std::{fmt::Write, ops::ControlFlow, path::Path, sync::Arc};

use rehearsal_measure::AccuracyMatrix;
use rehearsal_runs::{Computed, DirectoryError, Recalibrations, Record, RunDirectory};
use serde::Serialize;

pub use error::ExperimentError;
pub use progress::{LastStep, Progress};

use crate::{
    clock::{Clock, Phase},
    config::{Config, ConfigError, LearnerConfig, PartialConfig, Recalibrate},
    datasets::Source,
    device::{DeviceIdentity, identify},
    diagnostics::Diagnostics,
    learner::{Learner, Parts, Position, Step, on_threads},
    observer::{Observer, StepEvent},
    record::record,
    sample::TaskId,
    stream::Stream,
};

use board::Board;
use testing::Tested;
use warnings::warnings;

/// Of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A run, ready to begin or to go on.
pub struct Experiment {
    config: Config,
    data: DataUsed,
    stream: Arc<Stream>,
    learner: Learner,
    progress: Progress,
    /// The last test.
    tested: Option<Tested>,
    directory: Option<RunDirectory>,
    board: Option<Board>,
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

/// A line of `steps.jsonl`.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Step {
        #[serde(flatten)]
        event: StepEvent,
        retrieved: usize,
        memory: usize,
    },
    Task {
        after_task: usize,
        accuracy: &'a [f64],
        #[serde(skip_serializing_if = "Option::is_none")]
        recalibrated: Option<&'a [f64]>,
        seconds: f64,
    },
}

impl Experiment {
    /// A new run with these settings; with `out`, it writes a directory there. Everything that can
    /// be refused is refused here.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn new(settings: &PartialConfig, out: Option<&Path>) -> Result<Self, ExperimentError> {
        let config = settings.resolve()?;
        let source = config.dataset.open(&config.request())?;
        let mut experiment = Self::open(settings, source, Parts::new())?;
        if let Some(path) = out {
            experiment.write_to(path)?;
        }
        Ok(experiment)
    }

    /// A new run on a data source of your own, or with a method, retrieval, memory policy or
    /// backbone of your own. It writes nothing until [`Experiment::write_to`] says where.
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
        self.directory = Some(RunDirectory::create(path, &self.config_toml())?);
        Ok(self.open_board()?)
    }

    /// A run in `directory`, where its last checkpoint left it. `adjust` may change what does not
    /// change results: threads, the place of data. It may also change the device, which changes their
    /// last bits and what follows from these: then the result says so.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn resume(directory: &Path, adjust: impl FnOnce(&mut PartialConfig)) -> Result<Self, ExperimentError> {
        let open = |config: &Config| Ok(config.dataset.open(&config.request())?);
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
        experiment.progress.note_computed(computed(&experiment.learner));
        experiment.directory = Some(held.go_on(&experiment.progress.log)?);
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
        let learner_config = LearnerConfig { epochs: config.passes(), ..config.learner.clone() };
        let learner = Learner::new(learner_config, stream.shape(), stream.class_names(), parts)?;
        let diagnostics = config.diagnostics.then(|| Diagnostics::new(learner.network()));
        let recalibration = (config.recalibrate != Recalibrate::Off).then(Recalibrations::default);
        let recalibrated = (config.recalibrate == Recalibrate::Both).then(AccuracyMatrix::default);
        let mut progress = Progress { recalibration, recalibrated, diagnostics, ..Progress::default() };
        progress.note_computed(computed(&learner));
        Ok(Self { config, data, stream, learner, progress, tested: None, directory: None, board: None })
    }

    /// Where it was asked for, goes on showing the run in `TensorBoard`: from the last step on,
    /// which is written again.
    fn open_board(&mut self) -> Result<(), DirectoryError> {
        let (Some(directory), true) = (self.directory(), self.config.tensorboard) else { return Ok(()) };
        let Position { steps, epoch, batch, .. } = self.learner.position();
        let mut board = Board::open(directory, steps)?;
        if let Some(last) = &self.progress.last {
            board.step(steps, last)?;
        }
        if (epoch, batch) == (0, 0) {
            board.task(steps, &self.progress.matrix)?;
        }
        self.board = Some(board);
        Ok(())
    }

    /// Everything that will run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is missing of its data, compared with what was published: a sentence for each data set.
    pub fn incomplete_data(&self) -> &[String] {
        &self.data.incomplete
    }

    /// Where it writes, if it does.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_ref().map(RunDirectory::path)
    }

    /// Steps of the whole run.
    pub fn total_steps(&self) -> u64 {
        let batches: usize = self.stream.tasks().map(|task| self.stream.batches(task)).sum();
        (batches as u64).saturating_mul(self.config.passes() as u64)
    }

    /// The classes in order of appearance.
    pub fn class_names(&self) -> &[String] {
        self.stream.class_names()
    }

    /// What has been measured so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The learner as it is now.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// Runs to the end, on as many threads as the settings say.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn run(self, observer: &mut (dyn Observer + Send)) -> Result<Outcome, ExperimentError> {
        on_threads(self.config.learner.threads, || self.run_here(observer))?
    }

    fn run_here(mut self, observer: &mut (dyn Observer + Send)) -> Result<Outcome, ExperimentError> {
        // From here on, a run whose settings were edited is known by its checkpoint.
        if self.learner.position() == Position::default() {
            self.save()?;
        }
        for task in self.stream.tasks().skip(self.learner.position().task) {
            if self.learn(task, observer)?.is_break() {
                self.save()?;
                return Ok(Outcome::Stopped);
            }
            let row = self.test(task)?;
            self.close_diagnostics(task)?;
            observer.task(task.index(), &row);
            self.learner.end_task();
            self.save()?;
        }
        self.finish()
    }

    /// Learns what is left of a task.
    fn learn(
        &mut self,
        task: TaskId,
        observer: &mut (dyn Observer + Send),
    ) -> Result<ControlFlow<()>, ExperimentError> {
        let stream = Arc::clone(&self.stream);
        let samples = stream.samples(task);
        let mut lesson = self.learner.lesson(&samples);
        let mut saved = Clock::start();
        self.learner.begin_task(&stream.class_names()[..stream.seen(task)])?;
        loop {
            let before = self.progress.diagnostics.is_some().then(|| self.learner.network().clone());
            let (epoch, mut clock) = (self.learner.position().epoch, Clock::start());
            let phases = &mut self.progress.phases;
            let mut mark = |phase: Phase| phase.add_to(phases, clock.lap());
            let Some(step) = self.learner.learn_next(&mut lesson, &mut mark)? else {
                return Ok(ControlFlow::Continue(()));
            };
            if let (Some(diagnostics), Some(before)) = (&mut self.progress.diagnostics, before) {
                diagnostics.observe(&step, &before, &self.learner);
                self.progress.phases.diagnostics += clock.lap();
            }
            let event = self.log(&step, task, epoch)?;
            self.progress.count_seconds(task.index(), clock.since_start());
            if observer.step(&event).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if saved.since_start() >= self.config.checkpoint_minutes * 60.0 {
                self.save()?;
                saved = Clock::start();
            }
        }
    }

    /// Writes down what a step was like, unless it was the end.
    fn log(&mut self, step: &Step, task: TaskId, epoch: usize) -> Result<StepEvent, ExperimentError> {
        let number = self.learner.position().steps;
        let event = StepEvent { task: task.index(), epoch, step: number, loss: step.loss };
        if let Some(loss) = step.loss.filter(|loss| !loss.is_finite()) {
            let (step, task, epoch) = (number, event.task + 1, epoch + 1);
            return Err(ExperimentError::Diverged { loss, step, task, epoch });
        }
        let retrieved = step.replayed.iter().map(Vec::len).sum();
        let last = LastStep { loss: step.loss, retrieved, memory: self.learner.memory().len() };
        self.progress.note_loss(&event, self.learner.classes().seen());
        if let Some(directory) = &mut self.directory {
            directory.log(&Line::Step { event, retrieved: last.retrieved, memory: last.memory })?;
        }
        if let Some(board) = &mut self.board {
            board.step(event.step, &last)?;
        }
        self.progress.last = Some(last);
        Ok(event)
    }

    /// Where they were asked for, writes the diagnostics of all tasks so far.
    fn close_diagnostics(&mut self, task: TaskId) -> Result<(), ExperimentError> {
        if let Some(diagnostics) = &mut self.progress.diagnostics {
            diagnostics.task_learned(task, &self.learner);
        }
        Ok(self.write_diagnostics()?)
    }

    fn write_diagnostics(&mut self) -> Result<(), DirectoryError> {
        match (&mut self.directory, &self.progress.diagnostics) {
            (Some(directory), Some(diagnostics)) => directory.write_diagnostics(&diagnostics.lines()),
            _ => Ok(()),
        }
    }

    /// The error of a network that is no longer made of numbers.
    fn diverged(&self, loss: f32) -> ExperimentError {
        let position = self.learner.position();
        let (task, epoch) = last_step_in(position, self.config.passes());
        ExperimentError::Diverged { loss, step: position.steps, task, epoch }
    }

    fn finish(mut self) -> Result<Outcome, ExperimentError> {
        // Of a run that was stopped after its last task they were written by another process.
        self.write_diagnostics()?;
        // A run that was stopped after its last test has to test once more.
        let tested = match (self.tested.take(), self.stream.tasks().last()) {
            (Some(tested), _) => tested,
            (None, Some(last)) => self.examine(last)?,
            (None, None) => Tested::default(),
        };
        let warnings = warnings(&self.progress, &self.stream);
        let (correct, recalibrated) = tested.predictions();
        let (class_names, steps) = (self.stream.class_names().to_vec(), self.learner.position().steps);
        let record = record(&self.config, self.data, class_names, self.progress, steps, correct.len());
        let record = Record { warnings, ..record };
        if let Some(directory) = &mut self.directory {
            let json = serde_json::to_string_pretty(&record).expect("a record is plain data");
            directory.finish(&correct, recalibrated.as_deref(), &(json + "\n"))?;
        }
        Ok(Outcome::Finished(Box::new(record), Box::new(self.learner)))
    }

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

/// What computes the steps of a learner from where it is.
fn computed(learner: &Learner) -> Computed {
    let DeviceIdentity { backend, adapter } = identify(&learner.network().device());
    Computed {
        from_step: learner.position().steps,
        device: learner.config().device.to_string(),
        backend,
        adapter,
        kernels: learner.network().kernels().to_string(),
    }
}

/// Task and epoch, from 1, of the last step before a position: between two tasks it was in the one
/// before, and between two epochs likewise.
fn last_step_in(Position { task, epoch, batch, .. }: Position, passes: usize) -> (usize, usize) {
    match (epoch, batch) {
        (0, 0) => (task, passes),
        (epoch, 0) => (task + 1, epoch),
        (epoch, _) => (task + 1, epoch + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_was_in_the_task_before_where_a_task_is_yet_to_begin() {
        let at = |task, epoch, batch| last_step_in(Position { task, epoch, batch, steps: 9 }, 2);
        assert_eq!([at(0, 0, 1), at(0, 1, 0), at(0, 1, 3), at(0, 2, 0)], [(1, 1), (1, 1), (1, 2), (1, 2)]);
        assert_eq!([at(1, 0, 0), at(1, 0, 2), at(2, 0, 0)], [(1, 2), (2, 1), (2, 2)]);
    }
}
