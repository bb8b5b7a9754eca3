//! The two readings of a run that was tested twice: with `BatchNorm` statistics as trained, and with
//! statistics recalibrated from the memory.
//!
//! A report treats them as two runs that differ in `recalibrate`, a setting of the protocol: each has
//! its own tables, figures and tests, and no pair mixes them.

use rehearsal_runs::Settings;
use serde_json::Value;

use crate::run::{Recalibrated, Run};

/// The setting for the statistics that networks are tested with.
pub(crate) const SETTING: &str = "recalibrate";
/// Recalibrated from the memory.
pub(crate) const MEMORY: &str = "memory";
/// As trained and recalibrated.
pub(crate) const BOTH: &str = "both";

/// A run as one reading, or as two if it was tested both ways. If nothing could be recalibrated, for
/// example without a memory, both have the same results. Diagnostics are about training and belong to
/// the first reading only.
pub fn readings(run: Run) -> Vec<Run> {
    if run.settings.text(SETTING).as_deref() != Some(BOTH) {
        return vec![run];
    }
    let as_trained = || Recalibrated { matrix: run.matrix.clone(), correct: run.correct.clone() };
    let Recalibrated { matrix, correct } = run.recalibrated.clone().unwrap_or_else(as_trained);
    let settings = recalibrated_settings(&run.settings);
    let again = Run { settings, matrix, correct, diagnostics: Vec::new(), is_again: true, ..run.clone() };
    // Other ways of testing were with the statistics of the first reading.
    let again = Run { task_incremental: None, anytime_accuracy: None, worst_case_accuracy: None, ..again };
    let again = Run { forward_transfer: None, ..again };
    vec![run, again]
}

/// Whether the results of a run are with recalibrated statistics only.
pub fn is_recalibrated(run: &Run) -> bool {
    run.settings.text(SETTING).as_deref() == Some(MEMORY)
}

fn recalibrated_settings(settings: &Settings) -> Settings {
    let value = |name: &str| match settings.get(name) {
        _ if name == SETTING => MEMORY.into(),
        value => value.cloned().unwrap_or(Value::Null),
    };
    settings.names().map(|name| (name.to_owned(), value(name))).collect()
}
