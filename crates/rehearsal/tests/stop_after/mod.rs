//! Someone who stops a run.

use std::ops::ControlFlow;

use rehearsal::observer::{Observer, StepEvent};

/// Stops after a number of steps.
pub struct StopAfter(pub u64);

impl Observer for StopAfter {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if event.step == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
