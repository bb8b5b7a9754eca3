//! How long a grid will take, from a few measured steps of each kind of run.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use rehearsal::{
    config::{Config, Said},
    experiment::Experiment,
    observer::{Observer, StepEvent},
    retrieval::Ratio,
};

use super::{
    plan::{Job, Plan},
    state::State,
};
use crate::printer::clock;

/// Steps that are measured of a kind of run, at most: by the sixth, a usual memory has as many samples as a draw looks at.
const STEPS: u64 = 8;
/// A kind of slow steps is measured no longer than this.
const PER_KIND: Duration = Duration::from_secs(5);
/// Kinds that are left when this has passed are taken for the mean of those that were measured.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is known of the time that is left.
pub struct Estimate {
    /// Of one run after another; none where nothing could be measured.
    seconds: Option<f64>,
    /// The longest single run.
    longest: f64,
    kinds: usize,
    measured: usize,
}

/// How long a kind of run takes.
#[derive(Clone, Copy)]
struct Cost {
    per_step: f64,
    steps: u64,
}

impl Estimate {
    /// Of the runs `waiting`, each on so many threads.
    pub fn of(plan: &Plan, states: &[State], waiting: &[usize], threads: usize) -> Self {
        let mut kinds: BTreeMap<String, Option<Cost>> = BTreeMap::new();
        let start = Instant::now();
        for &index in waiting {
            let job = &plan.jobs[index];
            kinds
                .entry(kind(&job.config))
                .or_insert_with(|| if start.elapsed() < PATIENCE { measure(job, threads) } else { None });
        }
        let known: Vec<Cost> = kinds.values().copied().flatten().collect();
        let mean = |of: fn(&Cost) -> f64| known.iter().map(of).sum::<f64>() / known.len() as f64;
        let usual = mean(|cost| cost.per_step * cost.steps as f64);
        let left = |&index: &usize| match (kinds[&kind(&plan.jobs[index].config)], &states[index]) {
            (Some(cost), State::Stopped(done)) => cost.per_step * cost.steps.saturating_sub(*done) as f64,
            (Some(cost), _) => cost.per_step * cost.steps as f64,
            (None, _) => usual,
        };
        let runs: Vec<f64> = waiting.iter().map(left).collect();
        Self {
            seconds: (!known.is_empty()).then(|| runs.iter().sum()),
            longest: runs.into_iter().fold(0.0, f64::max),
            kinds: kinds.len(),
            measured: known.len(),
        }
    }

    /// As a person reads it.
    pub fn line(&self, jobs: usize, threads: usize) -> String {
        let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let how = format!("{} at a time on {} each", many(jobs, "run"), many(threads, "thread"));
        let Some(seconds) = self.seconds else { return format!("{how}; how long it takes could not be measured") };
        let left = Duration::try_from_secs_f64((seconds / jobs as f64).max(self.longest)).unwrap_or(Duration::MAX);
        let from = match (self.measured, self.kinds) {
            (measured, kinds) if measured == kinds => String::new(),
            (measured, kinds) => format!(" ({measured} of {kinds} kinds of run were measured)"),
        };
        format!("{how}: about {} by a few measured steps{from}, tests not counted", clock(left))
    }
}

/// What tells runs of different cost apart: all settings but seed, memory and the exact ratio.
fn kind(config: &Config) -> String {
    let side = |count: usize| count.min(1);
    let ratio = config.ratio.map(|Ratio { high, low }| Ratio { high: side(high), low: side(low) });
    let config = Config { seed: 0, memory: 0, threads: 1, ratio, ..config.clone() };
    serde_json::to_string(&config).expect("settings are plain data")
}

/// Takes a few steps, writing nothing. A run that cannot begin says why when its turn comes.
fn measure(job: &Job, threads: usize) -> Option<Cost> {
    let said = job.said.overridden_by(&Said { threads: Some(threads), ..Said::default() });
    let experiment = Experiment::new(&said, None).ok()?;
    let steps = experiment.total_steps();
    let mut watch = Watch { start: Instant::now(), last: Instant::now(), seconds: Vec::new() };
    experiment.run(&mut watch).ok()?;
    // The first steps have nothing or little to replay.
    let mut seconds = watch.seconds.split_off(watch.seconds.len() / 2);
    seconds.sort_by(f64::total_cmp);
    let per_step = *seconds.get(seconds.len() / 2)?;
    Some(Cost { per_step, steps })
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

    fn task(&mut self, _: usize, _: &[f64]) {}
}
