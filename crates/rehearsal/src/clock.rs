//! Where the time goes.

use std::time::Instant;

use serde::{Deserialize, Serialize};

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

/// Seconds by what they were spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Loading and augmenting.
    pub data: f64,
    /// The virtual step.
    pub virtual_step: f64,
    /// The rest of choosing what to replay: drawing, loss changes, features, Shapley values.
    pub scoring: f64,
    /// Passes, gradients and the update.
    pub training: f64,
    /// Offering samples to the memory, with the features or gradients that its policy asks for.
    pub memory: f64,
    /// Testing.
    pub evaluation: f64,
    /// What diagnostics cost, where they were asked for.
    #[serde(default)]
    pub diagnostics: f64,
}

impl Phases {
    /// Adds the seconds of a phase of a step.
    pub fn add(&mut self, phase: Phase, seconds: f64) {
        *match phase {
            Phase::Data => &mut self.data,
            Phase::VirtualStep => &mut self.virtual_step,
            Phase::Scoring => &mut self.scoring,
            Phase::Training => &mut self.training,
            Phase::Memory => &mut self.memory,
        } += seconds;
    }
}

impl std::ops::AddAssign for Phases {
    fn add_assign(&mut self, other: Self) {
        self.data += other.data;
        self.virtual_step += other.virtual_step;
        self.scoring += other.scoring;
        self.training += other.training;
        self.memory += other.memory;
        self.evaluation += other.evaluation;
        self.diagnostics += other.diagnostics;
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
