//! Distances along a task: means over stretches of equally many steps. Nobody needs to know how long
//! the task will be: when there are too many stretches, every two become one.

use rehearsal_measure::Distance;
use rehearsal_runs::Stretch;
use serde::{Deserialize, Serialize};

use super::Sum;

/// The most stretches; even.
const MOST: usize = 50;

/// The stretches of a task so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Series {
    /// Steps that each stretch has, as a power of two.
    doublings: u32,
    steps: u64,
    stretches: Vec<Sums>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    inner: Sum,
    to_proxies: Sum,
}

impl Series {
    fn width(&self) -> u64 {
        1u64.checked_shl(self.doublings).unwrap_or(u64::MAX)
    }

    /// Whether it can be that of a task.
    pub(super) fn is_possible(&self) -> bool {
        let room = (self.stretches.len() as u64).saturating_mul(self.width());
        self.stretches.len() <= MOST && self.steps <= room && self.steps < 1 << 48
    }

    /// Counts a step, and what was measured in it.
    pub(super) fn add(&mut self, inner: Option<Distance>, to_proxies: Option<Distance>) {
        if self.steps / self.width() >= self.stretches.len() as u64 {
            if self.stretches.len() >= MOST {
                self.stretches = self.stretches.chunks(2).map(joined).collect();
                self.doublings += 1;
            }
            self.stretches.push(Sums::default());
        }
        if let Some(last) = self.stretches.last_mut() {
            last.inner.add(inner);
            last.to_proxies.add(to_proxies);
        }
        self.steps += 1;
    }

    /// The means of every stretch in which something was measured. The series is empty afterwards.
    pub(super) fn close(&mut self) -> Vec<Stretch> {
        let width = self.width();
        let Self { steps, stretches, .. } = std::mem::take(self);
        let stretch = |(index, Sums { inner, to_proxies }): (u64, Sums)| Stretch {
            from: index.saturating_mul(width).saturating_add(1),
            to: steps.min((index + 1).saturating_mul(width)),
            inner_distance: inner.mean(),
            distance_to_proxies: to_proxies.mean(),
        };
        let measured = |stretch: &Stretch| stretch.inner_distance.is_some() || stretch.distance_to_proxies.is_some();
        (0..).zip(stretches).map(stretch).filter(measured).collect()
    }
}

fn joined(stretches: &[Sums]) -> Sums {
    let sum = |of: fn(&Sums) -> Sum| stretches.iter().map(of).fold(Sum::default(), Sum::plus);
    Sums { inner: sum(|sums| sums.inner), to_proxies: sum(|sums| sums.to_proxies) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: u64) -> Distance {
        Distance { raw: step as f64, normalised: 1.0 }
    }

    fn series(steps: u64) -> Vec<Stretch> {
        let mut series = Series::default();
        (1..=steps).for_each(|step| series.add(Some(at(step)), None));
        let stretches = series.close();
        assert_eq!(series, Series::default());
        stretches
    }

    #[test]
    fn a_short_task_has_a_point_for_each_step() {
        let stretches = series(50);
        assert_eq!(stretches.len(), 50);
        assert_eq!((stretches[6].from, stretches[6].to, stretches[6].inner_distance), (7, 7, Some(at(7))));
        assert!(stretches.iter().all(|stretch| stretch.distance_to_proxies.is_none()));
    }

    #[test]
    fn a_long_task_has_means_of_equally_many_steps_and_every_step_counts_once() {
        for steps in [51, 100, 101, 777, 5000] {
            let stretches = series(steps);
            assert!((25..=MOST).contains(&stretches.len()), "{steps}: {}", stretches.len());
            let width = stretches[0].to;
            let mut next = 1;
            for stretch in &stretches {
                assert_eq!((stretch.from, stretch.to), (next, steps.min(next + width - 1)), "{steps}");
                let mean = (stretch.from + stretch.to) as f64 / 2.0;
                assert!((stretch.inner_distance.unwrap().raw - mean).abs() < 1e-9, "{steps}");
                next = stretch.to + 1;
            }
            assert_eq!(next, steps + 1);
        }
    }

    #[test]
    fn stretches_without_measures_are_left_out() {
        let mut series = Series::default();
        (0..3).for_each(|_| series.add(None, None));
        series.add(Some(at(4)), Some(at(4)));
        let stretches = series.close();
        assert_eq!((stretches.len(), stretches[0].from), (1, 4));
        assert!(Series::default().close().is_empty());
    }
}
