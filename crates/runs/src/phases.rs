//! The time that each phase of a run takes.

use serde::{Deserialize, Serialize};

/// Seconds by phase.
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
    /// Inserting samples into the memory, with the features or gradients that its policy needs.
    pub memory: f64,
    /// Testing.
    pub evaluation: f64,
    /// Diagnostics, if they were requested.
    #[serde(default)]
    pub diagnostics: f64,
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
