//! What a finished run says.

use rehearsal_measure::{
    accuracy, average_incremental_accuracy, backward_transfer, forgetting, forgetting_from_first, retention,
};
use rehearsal_runs::{Record, Seconds, Settings};

use crate::{config::Config, experiment::Progress};

/// The record of a finished run.
pub(crate) fn record(
    config: &Config,
    data_sha256: String,
    class_names: Vec<String>,
    progress: Progress,
    steps: u64,
    test_images: usize,
) -> Record {
    let Progress { matrix, task_seconds, phases, peak_memory_bytes, .. } = progress;
    let total: f64 = task_seconds.iter().sum();
    Record {
        format: Record::FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: Settings::new(config).expect("settings are plain data"),
        data_sha256,
        class_names,
        accuracy: accuracy(&matrix),
        forgetting: forgetting(&matrix),
        forgetting_from_first: forgetting_from_first(&matrix),
        retention: retention(&matrix),
        average_incremental_accuracy: average_incremental_accuracy(&matrix),
        backward_transfer: backward_transfer(&matrix),
        matrix,
        samples_per_second: steps as f64 * config.learner.batch as f64 / total,
        seconds: Seconds { total, tasks: task_seconds, phases },
        steps,
        peak_memory_bytes,
        test_images,
    }
}

/// The highest resident memory of this process so far, in bytes, where the system tells (Linux).
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PartialConfig;

    #[test]
    fn settings_stand_in_the_record_as_they_were_written() {
        let settings = "task-classes = [['0', '1'], ['2', '3']]\nlr = 0.05\nmethod = 'der-pp'\nratio = '7:3'\n";
        let config = PartialConfig::parse(settings).and_then(|settings| settings.resolve()).unwrap();
        let record = record(&config, String::new(), Vec::new(), Progress::default(), 0, 0);
        assert_eq!(serde_json::to_string(&record.config).unwrap(), serde_json::to_string(&config).unwrap());
    }
}
