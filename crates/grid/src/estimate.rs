//! How long a grid will take, from a few measured steps of each kind of run.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rehearsal_runs::Settings;

use crate::{Job, Plan, State};

/// After this time, no more kinds are measured: they get the mean of the measured ones, of the same data if possible.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the runs that are left will take.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Seconds of each run, in the order in which they were given.
    pub seconds: Vec<f64>,
    /// How many kinds of run there are.
    pub kinds: usize,
    /// How many of them were measured.
    pub measured: usize,
}

/// How long a kind of run takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds of a step.
    pub per_step: f64,
    /// Steps of a run.
    pub steps: u64,
}

/// What runs of the same cost have in common: their data, and their settings except seed, memory and the exact ratio.
type Kind = (String, String);

impl Estimate {
    /// Of the runs `waiting`. `measure` runs a few steps; none if that run fails on the way, which it will say when its
    /// turn comes.
    ///
    /// # Errors
    /// A run that was to be measured cannot begin.
    pub fn measure<E>(
        plan: &Plan,
        states: &[State],
        waiting: &[usize],
        mut measure: impl FnMut(&Job) -> Result<Option<Cost>, E>,
    ) -> Result<Self, E> {
        let kind_of: BTreeMap<usize, Kind> = waiting.iter().map(|&index| (index, kind(&plan.jobs[index]))).collect();
        let mut kinds: BTreeMap<&Kind, (usize, Option<Cost>)> = BTreeMap::new();
        for (&index, kind) in &kind_of {
            kinds.entry(kind).or_insert((index, None));
        }
        let start = Instant::now();
        for kind in every_data_set_first(kinds.keys().copied().collect()) {
            let Some((index, cost)) = kinds.get_mut(kind) else { continue };
            if start.elapsed() < PATIENCE {
                *cost = measure(&plan.jobs[*index])?;
            }
        }
        let left = |index: &usize| {
            let kind = &kind_of[index];
            match (kinds[kind].1, &states[*index]) {
                (Some(cost), State::Stopped(done)) => cost.per_step * cost.steps.saturating_sub(*done) as f64,
                (Some(cost), _) => cost.seconds(),
                (None, _) => mean(&kinds, Some(&kind.0)).or_else(|| mean(&kinds, None)).unwrap_or(0.0),
            }
        };
        let seconds = waiting.iter().map(left).collect();
        Ok(Self { seconds, kinds: kinds.len(), measured: kinds.values().filter(|(_, cost)| cost.is_some()).count() })
    }

    /// How long all runs take, if `jobs` of them run at a time.
    pub fn duration(&self, jobs: usize) -> Duration {
        let longest = self.seconds.iter().copied().fold(0.0, f64::max);
        let seconds = (self.seconds.iter().sum::<f64>() / jobs as f64).max(longest);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

impl Cost {
    fn seconds(&self) -> f64 {
        self.per_step * self.steps as f64
    }
}

/// The mean over the measured kinds, of one data set or of all.
fn mean(kinds: &BTreeMap<&Kind, (usize, Option<Cost>)>, data: Option<&str>) -> Option<f64> {
    let of = kinds.iter().filter(|(kind, _)| data.is_none_or(|data| kind.0 == data));
    let costs: Vec<f64> = of.filter_map(|(_, (_, cost))| cost.map(|cost| cost.seconds())).collect();
    (!costs.is_empty()).then(|| costs.iter().sum::<f64>() / costs.len() as f64)
}

/// In an order in which every data set comes once before any comes twice.
fn every_data_set_first(kinds: Vec<&Kind>) -> Vec<&Kind> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, &Kind)> = Vec::new();
    for kind in kinds {
        let turn = seen.entry(&kind.0).or_default();
        *turn += 1;
        turns.push((*turn, kind));
    }
    turns.sort();
    turns.into_iter().map(|(_, kind)| kind).collect()
}

fn kind(job: &Job) -> Kind {
    let settings = job.settings().unwrap_or_default();
    let text = |name: &str| settings.text(name).unwrap_or_default();
    let data = format!("{} {}", text("dataset"), text("size"));
    // Only which sides it has: 5:5 and 7:3 cost the same, 10:0 less.
    let sides: Vec<bool> = text("ratio").split(':').map(|side| side != "0").collect();
    let settings: Settings = settings.without(&["seed", "memory", "threads", "ratio"]);
    (data, format!("{sides:?} {}", serde_json::to_string(&settings).expect("settings are plain data")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    fn of(text: &str, states: &[State], mut measure: impl FnMut(&str) -> Option<Cost>) -> (Vec<String>, Estimate) {
        let place = tempfile::tempdir().unwrap();
        let (plan, mut measured) = (plan(place.path(), text), Vec::new());
        let all: Vec<usize> = (0..plan.jobs.len()).collect();
        let states = if states.is_empty() { plan.states() } else { states.to_vec() };
        let estimate = Estimate::measure(&plan, &states, &all, |job| {
            measured.push(job.planned.name.to_string());
            Ok::<_, ()>(measure(job.planned.name.as_str()))
        });
        (measured, estimate.unwrap())
    }

    const ONE_SECOND: Option<Cost> = Some(Cost { per_step: 0.1, steps: 10 });

    #[test]
    fn one_run_of_each_kind_is_measured() {
        let text = "[axes]\nseed = [0, 1]\nratio = ['5:5', '7:3', '10:0']\nmemory = [10, 20]\n";
        let (measured, estimate) = of(text, &[], |_| ONE_SECOND);
        assert_eq!(measured.len(), 2, "with both sides, and with one: {measured:?}");
        assert_eq!((estimate.kinds, estimate.measured, estimate.seconds), (2, 2, vec![1.0; 12]));
    }

    #[test]
    fn steps_that_are_done_do_not_count_and_kinds_without_a_measure_get_the_mean_of_their_data() {
        let text = "[axes]\nwidth = [1, 2, 3]\ndataset = ['a', 'b']\n";
        let mut states = vec![State::Left; 6];
        states[0] = State::Stopped(4);
        let (measured, estimate) = of(text, &states, |name| match name {
            "a-width2" | "b-width2" | "b-width3" => None,
            _ => Some(Cost { per_step: if name.starts_with('a') { 0.1 } else { 0.3 }, steps: 10 }),
        });
        assert_eq!(measured[..2], ["a-width1", "b-width1"], "every data set comes first");
        let names = ["a-width1", "a-width2", "a-width3", "b-width1", "b-width2", "b-width3"];
        let seconds: Vec<String> = estimate.seconds.iter().map(|seconds| format!("{seconds:.1}")).collect();
        assert_eq!(seconds, ["0.6", "1.0", "1.0", "3.0", "3.0", "3.0"], "{names:?}");
        assert_eq!((estimate.kinds, estimate.measured), (6, 3));
    }

    #[test]
    fn the_longest_run_is_the_least_that_a_grid_takes() {
        let estimate = Estimate { seconds: vec![1.0, 1.0, 8.0], kinds: 1, measured: 1 };
        assert_eq!([1, 2, 9].map(|jobs| estimate.duration(jobs).as_secs()), [10, 8, 8]);
    }
}
