//! Whether what a file says can be. Its checksum finds accidents; anybody can compute another.

use super::{CALIBRATION, Header, METHOD, NETWORK, OPTIMIZER};
use crate::{learner::Learner, network::State};

/// The end of the names of a norm's variances.
const VARIANCE: &str = "running_variance";

/// The numbers that it predicts and learns with: none of them NaN or infinite, no variance negative.
pub(super) fn numbers(floats: &State, predictor: &str) -> Result<(), String> {
    let used = [NETWORK, OPTIMIZER, CALIBRATION, predictor];
    let is_used = |name: &str| used.iter().any(|prefix| name.starts_with(prefix));
    for (name, array) in floats.0.iter().filter(|(name, _)| is_used(name)) {
        if array.values.iter().any(|value| !value.is_finite()) {
            return Err(format!("`{name}` has a value that is not finite: the training that wrote it had diverged"));
        }
        if name.ends_with(VARIANCE) && array.values.iter().any(|&value| value < 0.0) {
            return Err(format!("`{name}` is below zero, which no variance is"));
        }
    }
    Ok(())
}

/// What other programs are told about it: it must be what this one does.
pub(super) fn told(header: &Header, learner: &Learner) -> Result<(), String> {
    if header.head != learner.method.head() || header.predictor != predictor(learner) {
        return Err("its head, or the network that predicts, is not that of its method".into());
    }
    if header.preprocessing != super::plain(header.image) {
        return Err("its images are prepared in a way that this program does not know".into());
    }
    match header.retired.iter().find(|&&class| usize::from(class) >= header.seen) {
        Some(class) => Err(format!("class {class} is retired and has not appeared")),
        None => Ok(()),
    }
}

/// The prefix of the arrays of the network that predicts.
pub(super) fn predictor(learner: &Learner) -> String {
    learner.method.predictor_prefix().map_or(NETWORK.into(), |name| format!("{METHOD}{name}"))
}
