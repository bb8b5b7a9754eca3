//! Method × memory policy × retrieval: which go together.

use rehearsal_data::choice::Choice;

use super::ConfigError;
use crate::{memory::PolicyKind, methods::MethodKind, retrieval::RetrievalKind};

/// One of each kind; `None` where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// What a step minimises.
    pub method: MethodKind,
    /// Which samples stay in memory.
    pub policy: Option<PolicyKind>,
    /// Which samples are replayed.
    pub retrieval: Option<RetrievalKind>,
}

impl Combination {
    /// All that can be named together, and a method alone if it replays nothing; sensible or not.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for &method in MethodKind::ALL {
            if !method.replays() {
                all.push(Self { method, policy: None, retrieval: None });
            }
            for policy in PolicyKind::ALL.iter().copied().map(Some) {
                let retrievals = RetrievalKind::ALL.iter().copied().map(Some);
                all.extend(retrievals.map(|retrieval| Self { method, policy, retrieval }));
            }
        }
        all
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// It does not; the error says why.
    pub fn check(self) -> Result<(), ConfigError> {
        let Self { method, policy, retrieval } = self;
        let (setting, value) = match (policy, retrieval) {
            (None, None) => return Ok(()),
            _ if method.replays() => return Ok(()),
            (_, Some(retrieval)) => ("retrieval", retrieval.name()),
            (Some(policy), None) => ("memory-policy", policy.name()),
        };
        Err(ConfigError::ReplaysNothing { method, setting, value: value.to_owned() })
    }
}
