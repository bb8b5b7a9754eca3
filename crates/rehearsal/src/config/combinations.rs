//! Method × memory policy × retrieval: which go together.

use super::Refusal;
use crate::{choice::Choice, memory::PolicyKind, methods::MethodKind, retrieval::RetrievalKind};

/// One of each kind; no policy and no retrieval where nothing is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// What a step minimises.
    pub method: MethodKind,
    /// Who stays in memory.
    pub policy: Option<PolicyKind>,
    /// Who is replayed.
    pub retrieval: Option<RetrievalKind>,
}

/// Whether a method can be run with a policy and a retrieval, where they are named.
///
/// # Errors
/// They make no sense together; the error says why.
pub fn combination(
    method: MethodKind,
    policy: Option<PolicyKind>,
    retrieval: Option<RetrievalKind>,
) -> Result<(), Refusal> {
    if method.replays() {
        return Ok(());
    }
    let why = |flag: &str, name: &str| {
        Err(Refusal(format!("{method} replays nothing: `--{flag} {name}` cannot be used with it")))
    };
    match (policy, retrieval) {
        (_, Some(retrieval)) => why("retrieval", retrieval.name()),
        (Some(policy), None) => why("memory-policy", policy.name()),
        (None, None) => Ok(()),
    }
}

/// Every combination that runs.
pub fn combinations() -> Vec<Combination> {
    let mut all = Vec::new();
    for &method in MethodKind::ALL {
        if !method.replays() {
            all.push(Combination { method, policy: None, retrieval: None });
        }
        for policy in PolicyKind::ALL.iter().copied().map(Some) {
            let retrievals = RetrievalKind::ALL.iter().copied().map(Some);
            let runs = retrievals.filter(|&retrieval| combination(method, policy, retrieval).is_ok());
            all.extend(runs.map(|retrieval| Combination { method, policy, retrieval }));
        }
    }
    all
}
