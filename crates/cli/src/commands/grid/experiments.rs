//! What a grid needs to know about its experiments: their settings, their data, and how long a step takes.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rehearsal::{
    config::PartialConfig,
    datasets::Request,
    experiment::Experiment,
    observer::{Observer, StepEvent},
};
use rehearsal_grid::{Cost, Job, Plan};
use rehearsal_runs::Settings;

use crate::{
    args::grid::Known,
    printer::{Bar, message},
};

/// Steps that are measured in the first task: enough to fill the memory.
const FIRST_TASK: usize = 6;
/// Steps that are measured in both tasks: some methods replay only in the second one.
const STEPS: u64 = 10;
/// Samples in the memory while steps are measured: the default number of candidates of a draw.
const MEMORY: usize = 50;
/// The longest that slow steps are measured.
const LONGEST: Duration = Duration::from_secs(6);

/// Reads a grid and checks the settings of every run.
pub fn read(Known { file, place }: &Known) -> Result<Plan> {
    Ok(Plan::read(file, place.out.as_deref(), place.data.as_deref(), |settings| {
        Ok(Settings::new(&PartialConfig::from_settings(settings)?.resolve()?)?)
    })?)
}

/// The settings of a run.
pub fn settings(job: &Job) -> Result<PartialConfig> {
    Ok(PartialConfig::from_settings(&job.planned.settings)?)
}

/// Opens each data set that these runs need, once. Image files are decoded and packed on the way.
pub fn check_data(plan: &Plan, runs: &[usize]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for job in runs.iter().map(|&index| &plan.jobs[index]) {
        let config = settings(job)?.resolve()?;
        if seen.insert((config.dataset.to_string(), config.data.clone(), config.size, config.skip_bad)) {
            let source = config.dataset.open(&Request { progress: &Bar::default(), ..config.request() })?;
            let say = |part| message(&format!("only a part of the data is here: {part}"));
            source.incomplete().iter().for_each(say);
        }
    }
    Ok(())
}

/// Takes a few steps in each of two small tasks, and writes nothing. None if that fails on the way.
pub fn measure(job: &Job, threads: usize) -> Result<Option<Cost>> {
    measure_steps(&settings(job)?, threads).with_context(|| job.planned.name.to_string())
}

fn measure_steps(settings: &PartialConfig, threads: usize) -> Result<Option<Cost>> {
    let whole = Experiment::new(settings, None)?;
    let (steps, config) = (whole.total_steps(), whole.config());
    let in_task = (whole.class_names().len() / config.tasks).max(1);
    let few = (FIRST_TASK * config.learner.batch).div_ceil(in_task);
    let small = PartialConfig {
        threads: Some(threads),
        train_per_class: Some(config.train_per_class.map_or(few, |most| few.min(most))),
        test_per_class: Some(1),
        memory: config.learner.method.kind.replays().then_some(config.learner.replay.memory.min(MEMORY)),
        ..PartialConfig::default()
    };
    let mut watch = Watch { start: Instant::now(), last: Instant::now(), seconds: Vec::new() };
    if Experiment::new(&settings.overridden_by(&small), None)?.run(&mut watch).is_err() {
        return Ok(None);
    }
    // The first steps replay little or nothing.
    let mut seconds = watch.seconds.split_off(watch.seconds.len() / 2);
    seconds.sort_by(f64::total_cmp);
    let per_step = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
    Ok(Some(Cost { per_step, steps }))
}

/// Stops after a few steps and keeps how long each took.
struct Watch {
    start: Instant,
    last: Instant,
    seconds: Vec<f64>,
}

impl Observer for Watch {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let now = Instant::now();
        self.seconds.push((now - self.last).as_secs_f64());
        self.last = now;
        let enough = event.step >= STEPS || (self.start.elapsed() >= LONGEST && event.step >= 3);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn task(&mut self, _: usize, _: &[f64]) {
        // Tests are not counted.
        self.last = Instant::now();
    }
}
