//! What a finished run says.

use rehearsal_runs::{Anytime, Measures, Recalibrations, Record, Seconds, Settings};

use rehearsal_measure::OverSeeds;

use crate::{
    config::Config,
    experiment::{DataUsed, Progress},
};

/// The record of a finished run.
pub(crate) fn record(
    config: &Config,
    data: DataUsed,
    class_names: Vec<String>,
    progress: Progress,
    steps: u64,
    test_images: usize,
) -> Record {
    let Progress { matrix, recalibration, recalibrated, task_incremental, inside, ahead, .. } = progress;
    let Progress { task_seconds, phases, peak_memory_bytes, computed, .. } = progress;
    let total: f64 = task_seconds.iter().sum();
    let anytime = Anytime::new(inside, &matrix);
    let measures = Measures::from(matrix);
    let happened = recalibration.as_ref().is_some_and(Recalibrations::happened);
    Record {
        format: Record::FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: Settings::new(config).expect("settings are plain data"),
        data_sha256: data.sha256,
        incomplete_data: data.incomplete,
        warnings: Vec::new(),
        class_names,
        accuracy: measures.accuracy,
        forgetting: measures.forgetting,
        forgetting_from_first: measures.forgetting_from_first,
        retention: measures.retention,
        average_incremental_accuracy: measures.average_incremental_accuracy,
        backward_transfer: measures.backward_transfer,
        matrix: measures.matrix,
        samples_per_second: steps as f64 * config.learner.batch as f64 / total,
        computed,
        seconds: Seconds { total, tasks: task_seconds, phases },
        steps,
        peak_memory_bytes,
        test_images,
        recalibration,
        recalibrated: recalibrated.filter(|_| happened).map(Measures::from),
        task_incremental: task_incremental.filter(|matrix| matrix.tasks_seen() > 0).map(Measures::from),
        anytime,
        forward_transfer: OverSeeds::from_values(&ahead).map(|over| over.mean),
    }
}

/// The highest resident memory of this process so far, in bytes, if the system tells (Linux).
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
        let data = DataUsed { sha256: String::new(), incomplete: Vec::new() };
        let record = record(&config, data, Vec::new(), Progress::default(), 0, 0);
        assert_eq!(serde_json::to_string(&record.config).unwrap(), serde_json::to_string(&config).unwrap());
    }
}
