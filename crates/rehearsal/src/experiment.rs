//! One run: stream × learner → record, with checkpoints on the way.

mod board;
mod parts;

use std::{
    fmt::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_runs::{DirectoryError, Record, RunDirectory};
use serde::Serialize;
use thiserror::Error;

use crate::{
    checkpoint::{Checkpoint, CheckpointError, LastStep, Position, Progress},
    clock::Clock,
    config::{Config, Offer, Refusal, Said},
    datasets::DataError,
    diagnostics::Diagnostics,
    learner::{Learner, Stage, on_threads},
    methods::MethodKind,
    observer::{Observer, StepEvent},
    record::{peak_memory, record},
    sample::TaskId,
    stream::{Epoch, Stream, StreamError},
};

use board::Board;
pub use parts::parts;

/// A run, ready to begin or to go on.
pub struct Experiment {
    config: Config,
    data_sha256: String,
    stream: Arc<Stream>,
    learner: Learner,
    progress: Progress,
    directory: Option<RunDirectory>,
    board: Option<Board>,
}

/// Why a run cannot begin or go on.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The settings make no sense.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data cannot be cut as said.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The run's directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The checkpoint cannot be used.
    #[error("{path}: {error}")]
    Checkpoint {
        /// The run's directory.
        path: PathBuf,
        /// Why.
        error: CheckpointError,
    },
    /// The loss is no number.
    #[error(
        "the loss is {loss} at step {step} (task {task}, epoch {epoch}): try a smaller `--lr`; the last checkpoint, if there was one, is kept"
    )]
    Diverged {
        /// NaN or infinite.
        loss: f32,
        /// Of the whole run, from 1.
        step: u64,
        /// From 1.
        task: usize,
        /// From 1.
        epoch: usize,
    },
    /// No threads to be had.
    #[error("threads cannot be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// How a run ended.
pub enum Outcome {
    /// With a result.
    Finished(Box<Record>),
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
        seconds: f64,
    },
}

impl Experiment {
    /// A new run of what was said; with `out`, it writes a directory there. Everything that can be refused is refused here.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn new(said: &Said, out: Option<&Path>) -> Result<Self, ExperimentError> {
        let mut experiment = Self::open(said)?;
        if let Some(path) = out {
            experiment.directory = Some(RunDirectory::create(path, &experiment.config_toml())?);
            experiment.open_board()?;
        }
        Ok(experiment)
    }

    /// A run in `directory`, where its last checkpoint left it. `adjust` may change what does not change results: threads, the place of data.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn resume(directory: &Path, adjust: impl FnOnce(&mut Said)) -> Result<Self, ExperimentError> {
        let held = RunDirectory::hold(directory)?;
        let mut said = Said::parse(&RunDirectory::read_config(directory)?)?;
        adjust(&mut said);
        let mut experiment = Self::open(&said)?;
        if let Some(bytes) = RunDirectory::read_checkpoint(directory)? {
            let restored =
                Checkpoint::from_bytes(&bytes, experiment.stream.shape()).and_then(|saved| experiment.restore(saved));
            restored.map_err(|error| ExperimentError::Checkpoint { path: directory.join("checkpoint"), error })?;
        }
        experiment.directory = Some(held.go_on(experiment.progress.steps_length)?);
        experiment.open_board()?;
        Ok(experiment)
    }

    /// Where it was asked for, goes on showing the run in `TensorBoard`: from the last step on, which is written again.
    fn open_board(&mut self) -> Result<(), DirectoryError> {
        let (Some(directory), true) = (self.directory(), self.config.tensorboard) else { return Ok(()) };
        let Progress { steps, last, matrix, position, .. } = &self.progress;
        let mut board = Board::open(directory, *steps)?;
        if let Some(last) = last {
            board.step(*steps, last)?;
        }
        if *position == (Position { task: position.task, ..Position::default() }) {
            board.task(*steps, matrix)?;
        }
        self.board = Some(board);
        Ok(())
    }

    fn open(said: &Said) -> Result<Self, ExperimentError> {
        let config = said.resolve()?;
        let source = config.dataset.open(&config.request())?;
        let data_sha256 = source.sha256().to_owned();
        if said.data_sha256.as_ref().is_some_and(|expected| *expected != data_sha256) {
            let why = format!(
                "these are not the data of the run: their SHA-256 is {data_sha256}, expected {}",
                said.data_sha256.as_deref().unwrap_or("")
            );
            return Err(Refusal(why).into());
        }
        let stream = Arc::new(Stream::new(source, &config.plan())?);
        let (parts, settings) = parts(&config, &stream);
        let learner = Learner::new(parts, settings);
        let diagnostics = config.diagnostics.then(|| Diagnostics::new(learner.network()));
        let progress = Progress { diagnostics, ..Progress::default() };
        Ok(Self { config, data_sha256, stream, learner, progress, directory: None, board: None })
    }

    fn restore(&mut self, saved: Checkpoint) -> Result<(), CheckpointError> {
        let Progress { position, matrix, diagnostics, .. } = &saved.progress;
        let classes = self.stream.class_names().len();
        let stores_logits = self.config.method == MethodKind::DerPp;
        let foreign =
            saved.memory.capacity() != self.config.memory
                || saved.memory.presented_by_class().len() > self.seen_at(position.task)
                || saved.memory.slots().iter().any(|stored| {
                    stored.logits.as_ref().map(|logits| logits.len()) != stores_logits.then_some(classes)
                })
                || position.task > self.stream.tasks().len()
                || matrix.tasks_seen() != position.task
                || diagnostics.is_some() != self.config.diagnostics
                || diagnostics.as_ref().is_some_and(|seen| !seen.fits(self.learner.network(), position.task));
        if foreign {
            return Err(CheckpointError::Malformed("it is of another run".into()));
        }
        self.learner.restore(&saved.network, &saved.method, saved.memory, saved.progress.steps)?;
        self.progress = saved.progress;
        Ok(())
    }

    /// How many classes have appeared when `task` tasks are learned and the next is begun.
    fn seen_at(&self, task: usize) -> usize {
        self.stream.tasks().take(task + 1).last().map_or(0, |task| self.stream.seen(task))
    }

    /// Everything that will run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where it writes, if it does.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_ref().map(RunDirectory::path)
    }

    /// Steps of the whole run.
    pub fn total_steps(&self) -> u64 {
        let batches: usize = self.stream.tasks().map(|task| self.stream.batches(task)).sum();
        batches as u64 * self.config.passes() as u64
    }

    /// The classes in order of appearance.
    pub fn class_names(&self) -> &[String] {
        self.stream.class_names()
    }

    /// What has been done so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Runs to the end, on as many threads as the settings say.
    ///
    /// # Errors
    /// See [`ExperimentError`].
    pub fn run(self, observer: &mut (dyn Observer + Send)) -> Result<Outcome, ExperimentError> {
        on_threads(self.config.threads, || self.run_here(observer))?
    }

    fn run_here(mut self, observer: &mut (dyn Observer + Send)) -> Result<Outcome, ExperimentError> {
        for task in self.stream.tasks().skip(self.progress.position.task) {
            if self.learn(task, observer)?.is_break() {
                self.save()?;
                return Ok(Outcome::Stopped);
            }
            let row = self.test(task)?;
            self.close_diagnostics(task)?;
            observer.task(task.index(), &row);
            self.progress.position = Position { task: task.index() + 1, ..Position::default() };
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
        let every = self.config.checkpoint_minutes * 60.0;
        let mut saved = Clock::start();
        for epoch in self.progress.position.epoch..self.config.passes() {
            let order = stream.epoch(task, epoch);
            for number in self.progress.position.batch..stream.batches(task) {
                let event = self.learn_batch(&order, task, epoch, number)?;
                if observer.step(&event).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if saved.since_start() >= every {
                    self.save()?;
                    saved = Clock::start();
                }
            }
            self.progress.position = Position { task: task.index(), epoch: epoch + 1, batch: 0 };
        }
        Ok(ControlFlow::Continue(()))
    }

    fn learn_batch(
        &mut self,
        order: &Epoch,
        task: TaskId,
        epoch: usize,
        number: usize,
    ) -> Result<StepEvent, ExperimentError> {
        let mut clock = Clock::start();
        let incoming = order.batch(number)?;
        self.progress.phases.data += clock.lap();
        let offered = self.config.offer == Offer::EveryEpoch || epoch == 0;
        let stage = Stage { task, seen: self.stream.seen(task), offered };
        let report = self.learner.watched_step(&incoming, stage, self.progress.diagnostics.as_mut());
        self.progress.phases += report.seconds;
        self.progress.steps += 1;
        self.progress.position.batch = number + 1;
        let event = StepEvent { task: task.index(), epoch, step: self.progress.steps, loss: report.loss };
        if let Some(loss) = event.loss.filter(|loss| !loss.is_finite()) {
            return Err(ExperimentError::Diverged { loss, step: event.step, task: event.task + 1, epoch: epoch + 1 });
        }
        let last = LastStep { loss: report.loss, retrieved: report.retrieved, memory: self.learner.memory().len() };
        if let Some(directory) = &mut self.directory {
            directory.log(&Line::Step { event, retrieved: last.retrieved, memory: last.memory })?;
        }
        if let Some(board) = &mut self.board {
            board.step(event.step, &last)?;
        }
        self.progress.last = Some(last);
        self.count_seconds(task, clock.since_start());
        Ok(event)
    }

    /// Tests on all tasks so far and adds a row to the matrix.
    fn test(&mut self, after: TaskId) -> Result<Vec<f64>, ExperimentError> {
        let clock = Clock::start();
        let share = |right: &Vec<u8>| right.iter().map(|&right| f64::from(right)).sum::<f64>() / right.len() as f64;
        let row: Vec<f64> = self.correct(after)?.iter().map(share).collect();
        let seconds = clock.since_start();
        self.progress.phases.evaluation += seconds;
        self.count_seconds(after, seconds);
        if let Some(directory) = &mut self.directory {
            let seconds = self.progress.task_seconds[after.index()];
            directory.log(&Line::Task { after_task: after.index(), accuracy: &row, seconds })?;
        }
        self.progress.matrix.push_row(row.clone()).expect("one fraction for each task so far");
        if let Some(board) = &mut self.board {
            board.task(self.progress.steps, &self.progress.matrix)?;
        }
        Ok(row)
    }

    /// For each task up to `after` and each of its test images, 1 if the prediction among the classes seen is right, else 0.
    fn correct(&self, after: TaskId) -> Result<Vec<Vec<u8>>, ExperimentError> {
        let seen = self.stream.seen(after);
        let of_task = |task: TaskId| {
            let samples = self.stream.test(task)?;
            let predicted = self.learner.predict(&samples, seen);
            Ok(samples.iter().zip(predicted).map(|(sample, class)| u8::from(sample.label == class)).collect())
        };
        self.stream.tasks().take(after.index() + 1).map(of_task).collect()
    }

    /// Where they were asked for, writes the diagnostics of all tasks so far.
    fn close_diagnostics(&mut self, task: TaskId) -> Result<(), ExperimentError> {
        let Some(diagnostics) = &mut self.progress.diagnostics else { return Ok(()) };
        diagnostics.task_learned(task, self.stream.seen(task), self.learner.network());
        match &self.directory {
            Some(directory) => Ok(directory.write_diagnostics(&diagnostics.lines())?),
            None => Ok(()),
        }
    }

    fn count_seconds(&mut self, task: TaskId, seconds: f64) {
        self.progress.task_seconds.resize(task.index() + 1, 0.0);
        self.progress.task_seconds[task.index()] += seconds;
    }

    /// Writes a checkpoint, but none of a network that has diverged.
    fn save(&mut self) -> Result<(), ExperimentError> {
        self.progress.peak_memory_bytes = self.progress.peak_memory_bytes.max(peak_memory());
        let (network, method) = (self.learner.network().state(), self.learner.method_state());
        if !network.is_finite() {
            let Position { task, epoch, .. } = self.progress.position;
            return Err(ExperimentError::Diverged {
                loss: f32::NAN,
                step: self.progress.steps,
                task: task + 1,
                epoch: epoch + 1,
            });
        }
        let Some(directory) = &mut self.directory else { return Ok(()) };
        self.progress.steps_length = directory.sync_log()?;
        self.board.as_mut().map_or(Ok(()), Board::sync)?;
        let (memory, progress) = (self.learner.memory().clone(), self.progress.clone());
        let checkpoint = Checkpoint { network, method, memory, progress };
        Ok(directory.write_checkpoint(&checkpoint.to_bytes())?)
    }

    fn finish(mut self) -> Result<Outcome, ExperimentError> {
        let correct = self.stream.tasks().last().map_or(Ok(Vec::new()), |last| self.correct(last))?.concat();
        let class_names = self.stream.class_names().to_vec();
        let record = record(&self.config, self.data_sha256, class_names, self.progress, correct.len());
        if let Some(directory) = &mut self.directory {
            let json = serde_json::to_string_pretty(&record).expect("a record is plain data");
            directory.finish(&correct, &(json + "\n"))?;
        }
        Ok(Outcome::Finished(Box::new(record)))
    }

    /// The text of `config.toml`: every setting, and what it ran with.
    fn config_toml(&self) -> String {
        let mut text = toml::to_string(&self.config).expect("settings are plain data");
        let version = env!("CARGO_PKG_VERSION");
        write!(text, "version = \"{version}\"\ndata-sha256 = \"{}\"\n", self.data_sha256).expect("a string takes all");
        text
    }
}
