//! Tests of the real program, which each test starts as a child process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod program;
mod shop;
#[path = "../../../data/tests/support/mod.rs"]
mod support;
mod told;

#[cfg(unix)]
mod attacks;
mod command_line;
mod completions;
mod data;
mod doubtful;
#[cfg(target_os = "linux")]
mod full_disk;
mod grid;
#[cfg(target_os = "linux")]
mod hostile_model;
#[cfg(unix)]
mod model_exact;
mod model_interrupted;
mod model_kept;
mod model_killed;
mod model_refused;
mod model_story;
mod newcomer;
mod report;
mod resume;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod slurm;
#[cfg(unix)]
mod watch;
