//! Where the time goes.

use std::time::Instant;

pub use rehearsal_runs::Phases;

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
