//! The names of the files that runs and grids write, relative to their directories.

/// Every setting of a run, as an experiment file that repeats it.
pub const CONFIG: &str = "config.toml";
/// One line of JSON per step and per task. Whoever writes a run holds a lock on it.
pub const STEPS: &str = "steps.jsonl";
/// All that a run needs to go on.
pub const CHECKPOINT: &str = "checkpoint/latest.safetensors";
/// One byte per test image: whether the final model got it right.
pub const PREDICTIONS: &str = "predictions.bin";
/// The same with statistics of the norm that were re-estimated, where both were asked for.
pub const RECALIBRATED_PREDICTIONS: &str = "predictions-recalibrated.bin";
/// The result of a finished run: a [`Record`](crate::Record).
pub const RESULT: &str = "result.json";
/// One line of JSON per task, where it was asked for: [`TaskDiagnostics`](crate::TaskDiagnostics).
pub const DIAGNOSTICS: &str = "diagnostics.jsonl";
/// The directory of event files, where they were asked for.
pub const TENSORBOARD: &str = "tensorboard";
/// The directory of those who hold, and held, a directory that a lock is not enough for.
pub const HOLDERS: &str = ".holders";

/// The runs of a grid, one line of JSON each.
pub const MANIFEST: &str = "manifest.jsonl";
/// The directory of what a grid's runs say when they fail.
pub const LOGS: &str = "logs";
/// The directory of what a grid submitted to Slurm.
pub const SLURM: &str = "slurm";
/// What a grid locks while it runs.
pub const GRID_LOCK: &str = ".lock";
