//! A run that was tested with either statistics of the norm says two things: what it knows with the
//! statistics that training left, and what with those re-estimated from the memory.
//!
//! To a report these are two runs that differ in `recalibrate`, which must agree for a comparison to
//! be fair: so there are tables, figures and tests for either, and no pair mixes them.

use rehearsal_runs::Settings;
use serde_json::Value;

use crate::run::{Reestimated, Run};

/// The setting that says with which statistics networks are tested.
pub(crate) const SETTING: &str = "recalibrate";
/// With those re-estimated from the memory.
pub(crate) const MEMORY: &str = "memory";
/// With either.
pub(crate) const BOTH: &str = "both";

/// A run as what it says: one reading, or two if it was tested with either statistics. Where nothing
/// could be re-estimated, as without a memory, both say the same.
///
/// The second leaves diagnostics to the first: they look into learning, not into tests.
pub fn readings(run: Run) -> Vec<Run> {
    if run.settings.text(SETTING).as_deref() != Some(BOTH) {
        return vec![run];
    }
    let reestimated = run.reestimated.clone();
    let Reestimated { matrix, correct } =
        reestimated.unwrap_or_else(|| Reestimated { matrix: run.matrix.clone(), correct: run.correct.clone() });
    let settings = reestimated_settings(&run.settings);
    let again = Run { settings, matrix, correct, diagnostics: Vec::new(), is_again: true, ..run.clone() };
    vec![run, again]
}

/// Whether a run says something with re-estimated statistics, and only that.
pub fn is_reestimated(run: &Run) -> bool {
    run.settings.text(SETTING).as_deref() == Some(MEMORY)
}

fn reestimated_settings(settings: &Settings) -> Settings {
    let value = |name: &str| match settings.get(name) {
        _ if name == SETTING => MEMORY.into(),
        value => value.cloned().unwrap_or(Value::Null),
    };
    settings.names().map(|name| (name.to_owned(), value(name))).collect()
}
