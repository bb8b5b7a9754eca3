//! What computed a run, or a part of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What computed a run from some step on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Computed {
    /// How many steps had been taken before.
    pub from_step: u64,
    /// The device, as a user names it.
    pub device: String,
    /// The backend of Burn that computed, such as `flex` or `cubecl<wgpu<wgsl>>`.
    pub backend: String,
    /// The name that the GPU reports; `None` for the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// What really computed the network: `winograd`, `direct` or `composed`.
    pub kernels: String,
}

impl Computed {
    /// Whether the two are equal except for the step.
    pub fn is_like(&self, other: &Self) -> bool {
        *self == Self { from_step: self.from_step, ..other.clone() }
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { device, adapter, kernels, .. } = self;
        match adapter {
            Some(adapter) => write!(f, "{device} ({adapter})"),
            None => write!(f, "{device} ({kernels})"),
        }
    }
}
