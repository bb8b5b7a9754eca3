//! How long a grid will take, from a few measured steps of each kind of run.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rehearsal::{
    config::{Config, LearnerConfig, PartialConfig},
    experiment::Experiment,
    observer::{Observer, StepEvent},
    retrieval::Ratio,
};

use super::{
    plan::{Job, Plan},
    state::State,
};
use crate::printer::clock;

/// Steps that are measured in the first task: as many as fill the memory that is measured with.
const FIRST_TASK: usize = 6;
/// Steps that are measured in all, the others in the second task: some methods replay only there.
const STEPS: u64 = 10;
/// Samples in the memory that is measured with: what a draw of candidates looks at by default.
const MEMORY: usize = 50;
/// A kind of slow steps is measured no longer than this.
const PER_KIND: Duration = Duration::from_secs(6);
/// Kinds that are left when this has passed are taken for the mean of those that were measured, of
/// the same data if there are any.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is known of the time that is left.
pub struct Estimate {
    /// Of each run.
    runs: Vec<f64>,
    kinds: usize,
    measured: usize,
}

/// How long a kind of run takes.
#[derive(Clone, Copy)]
struct Cost {
    per_step: f64,
    steps: u64,
}

/// What tells runs of different cost apart: the data, and all settings but seed, memory and the
/// exact ratio.
type Kind = (String, String);

impl Estimate {
    /// Of the runs `waiting`, each on so many threads.
    ///
    /// # Errors
    /// A run that was to be measured cannot begin.
    pub fn measure(plan: &Plan, states: &[State], waiting: &[usize], threads: usize) -> Result<Self> {
        let mut kinds: BTreeMap<Kind, (usize, Option<Cost>)> = BTreeMap::new();
        for &index in waiting {
            kinds.entry(kind(&plan.jobs[index].config)).or_insert((index, None));
        }
        let start = Instant::now();
        for kind in every_data_set_first(kinds.keys().cloned().collect()) {
            let Some((index, cost)) = kinds.get_mut(&kind) else { continue };
            if start.elapsed() < PATIENCE {
                let job = &plan.jobs[*index];
                *cost = measure(job, threads).with_context(|| job.planned.name.to_string())?;
            }
        }
        let left = |&index: &usize| {
            let kind = kind(&plan.jobs[index].config);
            match (kinds.get(&kind).and_then(|(_, cost)| *cost), &states[index]) {
                (Some(cost), State::Stopped(done)) => cost.per_step * cost.steps.saturating_sub(*done) as f64,
                (Some(cost), _) => cost.seconds(),
                (None, _) => mean(&kinds, Some(&kind.0)).or_else(|| mean(&kinds, None)).unwrap_or(0.0),
            }
        };
        let runs = waiting.iter().map(left).collect();
        Ok(Self { runs, kinds: kinds.len(), measured: kinds.values().filter(|(_, cost)| cost.is_some()).count() })
    }

    /// Seconds of each run, in the order in which they were given.
    pub fn seconds(&self) -> &[f64] {
        &self.runs
    }

    /// As a person reads it.
    pub fn line(&self, jobs: usize, threads: usize) -> String {
        let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let longest = self.runs.iter().copied().fold(0.0, f64::max);
        let seconds = (self.runs.iter().sum::<f64>() / jobs as f64).max(longest);
        let left = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let from = match (self.measured, self.kinds) {
            (measured, kinds) if measured == kinds => String::new(),
            (measured, kinds) => format!(" ({measured} of {kinds} kinds of run were measured)"),
        };
        format!(
            "{} at a time on {} each: about {} by a few measured steps{from}, tests not counted",
            many(jobs, "run"),
            many(threads, "thread"),
            clock(left)
        )
    }
}

impl Cost {
    fn seconds(&self) -> f64 {
        self.per_step * self.steps as f64
    }
}

/// The mean over the measured kinds, of one data set or of all.
fn mean(kinds: &BTreeMap<Kind, (usize, Option<Cost>)>, data: Option<&str>) -> Option<f64> {
    let of = kinds.iter().filter(|(kind, _)| data.is_none_or(|data| kind.0 == data));
    let costs: Vec<f64> = of.filter_map(|(_, (_, cost))| cost.map(|cost| cost.seconds())).collect();
    (!costs.is_empty()).then(|| costs.iter().sum::<f64>() / costs.len() as f64)
}

/// In an order that has seen every data set before any twice.
fn every_data_set_first(kinds: Vec<Kind>) -> Vec<Kind> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, Kind)> = kinds
        .into_iter()
        .map(|kind| {
            let turn = seen.entry(kind.0.clone()).or_default();
            *turn += 1;
            (*turn, kind)
        })
        .collect();
    turns.sort();
    turns.into_iter().map(|(_, kind)| kind).collect()
}

fn kind(config: &Config) -> Kind {
    let side = |count: usize| count.min(1);
    let ratio = config.learner.ratio.map(|Ratio { high, low }| Ratio { high: side(high), low: side(low) });
    let data = format!("{} {:?}", config.dataset, config.size);
    let learner = LearnerConfig { seed: 0, memory: 0, threads: 1, ratio, ..config.learner.clone() };
    let config = Config { learner, ..config.clone() };
    (data, serde_json::to_string(&config).expect("settings are plain data"))
}

/// Takes a few steps in each of two small tasks, writing nothing. A run that goes wrong on the way
/// says so when its turn comes.
fn measure(job: &Job, threads: usize) -> Result<Option<Cost>> {
    let whole = Experiment::new(&job.settings, None)?;
    let (steps, config) = (whole.total_steps(), whole.config());
    let in_task = (whole.class_names().len() / config.tasks).max(1);
    let few = (FIRST_TASK * config.learner.batch).div_ceil(in_task);
    let small = PartialConfig {
        threads: Some(threads),
        train_per_class: Some(config.train_per_class.map_or(few, |most| few.min(most))),
        test_per_class: Some(1),
        memory: config.learner.method.replays().then_some(config.learner.memory.min(MEMORY)),
        ..PartialConfig::default()
    };
    let mut watch = Watch { start: Instant::now(), last: Instant::now(), seconds: Vec::new() };
    if Experiment::new(&job.settings.overridden_by(&small), None)?.run(&mut watch).is_err() {
        return Ok(None);
    }
    // The first steps have nothing or little to replay.
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
        let enough = event.step >= STEPS || (self.start.elapsed() >= PER_KIND && event.step >= 3);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn task(&mut self, _: usize, _: &[f64]) {
        // Tests are not counted.
        self.last = Instant::now();
    }
}
