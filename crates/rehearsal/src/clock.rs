//! Where the time goes.

use std::time::Instant;

pub use rehearsal_runs::Phases;

/// A part of a step.
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
    fn add_to(self, phases: &mut Phases, seconds: f64) {
        *match self {
            Self::Data => &mut phases.data,
            Self::VirtualStep => &mut phases.virtual_step,
            Self::Scoring => &mut phases.scoring,
            Self::Training => &mut phases.training,
            Self::Memory => &mut phases.memory,
        } += seconds;
    }
}

/// A stopwatch that adds each lap to the phase that has ended.
pub(crate) struct Clock {
    start: Instant,
    lap: Instant,
    phases: Phases,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { start: now, lap: now, phases: Phases::default() }
    }

    /// A phase has just ended.
    pub(crate) fn mark(&mut self, phase: Phase) {
        let now = Instant::now();
        phase.add_to(&mut self.phases, (now - std::mem::replace(&mut self.lap, now)).as_secs_f64());
    }

    /// Seconds of each phase.
    pub(crate) fn phases(&self) -> Phases {
        self.phases
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}
