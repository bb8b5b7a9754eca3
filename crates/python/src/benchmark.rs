//! Runs of the benchmark.

use std::{
    ops::ControlFlow,
    panic::resume_unwind,
    path::{Path, PathBuf},
};

use numpy::IntoPyArray;
use pyo3::{prelude::*, types::PyDict};
use rehearsal::{
    config::{Config, PartialConfig},
    experiment::{Experiment, Outcome, open_data},
    learner::Parts,
    memory::Memory,
    observer::{Observer, StepEvent},
    probe::Probe,
    retrieval::{Retrieval, Retrieved},
    rng::Rng,
};
use rehearsal_data::{Progress, Unit};
use rehearsal_runs::RunDirectory;

use crate::{
    error::{Error, Result},
    events::{self, Event, Reporter},
    number::Number,
};

/// What a callback sees of a step.
pub struct StepTaken {
    task: usize,
    epoch: usize,
    step: u64,
    loss: Option<f32>,
}

impl StepTaken {
    pub fn fill(&self, dictionary: &Bound<'_, PyDict>) -> PyResult<()> {
        dictionary.set_item("task", self.task)?;
        dictionary.set_item("epoch", self.epoch)?;
        dictionary.set_item("step", self.step)?;
        dictionary.set_item("loss", self.loss)
    }
}

impl Observer for &Reporter {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let &StepEvent { task, epoch, step, loss, .. } = event;
        self.advance(1);
        self.tell(Event::Step(StepTaken { task, epoch, step, loss }));
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.tell(Event::Task(task, row.to_vec()));
    }
}

/// A function of Python, with its name.
type Function = (String, Py<PyAny>);

/// A retrieval in Python: it is called with the changes of loss, the labels and the tasks of drawn candidates, and
/// how many to choose; it gives their indices.
struct PythonRetrieval {
    function: Py<PyAny>,
    candidates: usize,
}

impl Retrieval for PythonRetrieval {
    fn retrieve(&self, count: usize, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        let slots = memory.draw(self.candidates, rng);
        if slots.is_empty() {
            return Vec::new();
        }
        let changes = probe.loss_change(&slots);
        let samples = memory.at(&slots);
        let labels = samples.iter().map(|sample| i64::from(sample.label.0)).collect();
        let tasks = samples.iter().map(|sample| i64::from(sample.task.0)).collect();
        let chosen = Python::attach(|py| self.choose(py, changes.clone(), labels, tasks, count.min(slots.len())));
        // A step without these samples would be one of another run: the exception leaves the step unfinished, and the
        // last checkpoint as it is. `events::run` raises it.
        let chosen = chosen.unwrap_or_else(|raised| resume_unwind(Box::new(raised)));
        chosen.into_iter().map(|at| Retrieved { slot: slots[at], side: None, loss_change: Some(changes[at]) }).collect()
    }
}

impl PythonRetrieval {
    /// What the function chooses, checked.
    fn choose(
        &self,
        py: Python<'_>,
        changes: Vec<f32>,
        labels: Vec<i64>,
        tasks: Vec<i64>,
        count: usize,
    ) -> PyResult<Vec<usize>> {
        let candidates = changes.len();
        let arrays = (changes.into_pyarray(py), labels.into_pyarray(py), tasks.into_pyarray(py), count);
        let chosen = self.function.bind(py).call1(arrays)?;
        let chosen = chosen.try_iter()?.map(|at| Ok(at?.extract::<Number<i64>>()?.0)).collect::<PyResult<Vec<_>>>()?;
        if chosen.len() > count {
            let found = chosen.len();
            return Err(
                Error::Value(format!("the retrieval chose {found} candidates: at most {count} are replayed")).into()
            );
        }
        let index = |at: i64| usize::try_from(at).ok().filter(|at| *at < candidates).ok_or(at);
        chosen.into_iter().map(index).collect::<std::result::Result<_, _>>().map_err(|at| {
            Error::Value(format!("the retrieval chose candidate {at}: expected 0 to {}", candidates - 1)).into()
        })
    }
}

/// Runs an experiment, or continues the one in `resume`; `settings` is a JSON object with the settings of an experiment
/// file. Gives the result as JSON.
#[pyfunction]
#[pyo3(signature = (settings, out, resume, retrieval, callback))]
pub fn run(
    py: Python<'_>,
    settings: &str,
    out: Option<PathBuf>,
    resume: Option<PathBuf>,
    retrieval: Option<Function>,
    callback: Option<Bound<'_, PyAny>>,
) -> Result<String> {
    let settings = serde_json::from_str(settings).map_err(|error| Error::Value(format!("the settings: {error}")))?;
    let settings = PartialConfig::from_settings(&settings)?;
    events::run(py, callback.as_ref(), |mut reporter| {
        let experiment = match resume {
            Some(directory) => proceed(&directory, &settings, retrieval, reporter)?,
            None => begin(&settings, out.as_deref(), retrieval, reporter)?,
        };
        reporter.begin("steps", Unit::Items, experiment.learner().cursor().steps, Some(experiment.total_steps()));
        let ended = experiment.run(&mut reporter)?;
        reporter.end();
        match ended {
            Outcome::Finished(record, _) => json(&record),
            Outcome::Stopped => Err(Error::Stopped),
        }
    })
}

/// A new run; `out` is its directory, if it has one.
fn begin(
    settings: &PartialConfig,
    out: Option<&Path>,
    retrieval: Option<Function>,
    reporter: &Reporter,
) -> Result<Experiment> {
    let config = settings.resolve()?;
    let source = open_data(&config, reporter)?;
    let mut experiment = Experiment::with_parts(settings, source, parts(&config, retrieval)?)?;
    if let Some(path) = out {
        experiment.write_to(path)?;
    }
    Ok(experiment)
}

/// The run in a directory; of the settings, those count that do not change results.
fn proceed(
    directory: &Path,
    settings: &PartialConfig,
    retrieval: Option<Function>,
    reporter: &Reporter,
) -> Result<Experiment> {
    if retrieval.is_none() {
        return Ok(Experiment::resume(directory, |saved| *saved = saved.overridden_by(settings))?);
    }
    let saved = PartialConfig::parse(&RunDirectory::read_config(directory)?)?;
    let config = saved.overridden_by(settings).resolve()?;
    Ok(Experiment::resume_with_parts(directory, open_data(&config, reporter)?, parts(&config, retrieval)?)?)
}

fn parts(config: &Config, retrieval: Option<Function>) -> Result<Parts> {
    let Some((name, function)) = retrieval else { return Ok(Parts::new()) };
    if config.learner.replay.retrieval.is_none() {
        let method = config.learner.method.kind;
        return Err(Error::Value(format!("`method = \"{method}\"` replays nothing: it has no retrieval")));
    }
    Ok(Parts::new().retrieval(&name, PythonRetrieval { function, candidates: config.learner.replay.candidates }))
}

/// The result of a finished run, as JSON; none if it is not finished.
#[pyfunction]
pub fn read_record(py: Python<'_>, directory: PathBuf) -> Result<Option<String>> {
    events::run(py, None, |_| RunDirectory::read_record(&directory)?.as_ref().map(json).transpose())
}

fn json(data: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(data).map_err(|error| Error::Bug(error.to_string()))
}
