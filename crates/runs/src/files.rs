//! The names of the files that runs and grids write, relative to their directories.

/// Every setting of a run, as an experiment file that repeats it.
pub const CONFIG: &str = "config.toml";
/// One line of JSON per step and per task. The process that writes a run holds a lock on it.
pub const STEPS: &str = "steps.jsonl";
/// What a run needs to continue.
pub const CHECKPOINT: &str = "checkpoint/latest.safetensors";
/// One byte per test image: whether the final model classified it correctly.
pub const PREDICTIONS: &str = "predictions.bin";
/// The same with recalibrated statistics, if both were requested.
pub const RECALIBRATED_PREDICTIONS: &str = "predictions-recalibrated.bin";
/// The result of a finished run: a [`Record`](crate::Record).
pub const RESULT: &str = "result.json";
/// One line of JSON per task, if requested: [`TaskDiagnostics`](crate::TaskDiagnostics).
pub const DIAGNOSTICS: &str = "diagnostics.jsonl";
/// The directory of event files, if requested.
pub const TENSORBOARD: &str = "tensorboard";
/// The directory of files that name the holders of a directory, if a lock is not enough.
pub const HOLDERS: &str = ".holders";

/// The runs of a grid, one line of JSON each.
pub const MANIFEST: &str = "manifest.jsonl";
/// The directory of the logs of a grid's failed runs.
pub const LOGS: &str = "logs";
/// The directory of a grid's submissions to Slurm.
pub const SLURM: &str = "slurm";
/// The file that a grid locks while it runs.
pub const GRID_LOCK: &str = ".lock";
