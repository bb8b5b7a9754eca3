//! Where the time goes.

use std::time::Instant;

pub use rehearsal_runs::Phases;

/// A part of a step that has just ended, for whoever holds a stopwatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// See [`Phases::data`].
    Data,
    /// See [`Phases::virtual_step`].
    VirtualStep,
    /// See [`Phases::scoring`].
    Scoring,
    /// See [`Phases::training`].
    Training,
    /// See [`Phases::memory`].
    Memory,
}

impl Phase {
    /// Adds its seconds where they belong.
    pub fn add_to(self, phases: &mut Phases, seconds: f64) {
        *match self {
            Self::Data => &mut phases.data,
            Self::VirtualStep => &mut phases.virtual_step,
            Self::Scoring => &mut phases.scoring,
            Self::Training => &mut phases.training,
            Self::Memory => &mut phases.memory,
        } += seconds;
    }
}

/// A stopwatch with laps.
pub(crate) struct Clock {
    start: Instant,
    lap: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { start: now, lap: now }
    }

    /// Seconds since the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        (now - std::mem::replace(&mut self.lap, now)).as_secs_f64()
    }

    /// Seconds since the start.
    pub(crate) fn since_start(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}
