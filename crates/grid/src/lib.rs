//! Grids of runs: their file, their schedule, and how far they are.
//!
//! A grid is a TOML file of three parts. `[axes]` lists values; every combination of them is a run.
//! An axis of plain values is named after the setting that it varies; an axis of tables has any
//! name, and each of its values sets several settings at once. `[fixed]` has the settings that all runs
//! share. Each `[[exclude]]` leaves out the combinations that have all of its settings.
//!
//! ```
//! let grid = rehearsal_grid::Grid::parse(r#"
//!     [fixed]
//!     epochs = 1
//!
//!     [axes]
//!     memory = [100, 500]
//!     seed = [0, 1]
//!     learner = [{ method = "er", retrieval = "random" }, { method = "pcr", retrieval = "balanced" }]
//!
//!     [[exclude]]
//!     method = "er"
//!     memory = 100
//! "#)?;
//! let runs = grid.runs()?;
//! assert_eq!(runs.len(), 6);
//! assert_eq!(runs[0].name.as_str(), "er-random-memory500-seed0");
//! # Ok::<(), rehearsal_grid::GridError>(())
//! ```
//!
//! Runs are listed seed by seed, so that a grid that is stopped half-way has compared everything
//! with some seeds, rather than some things with all seeds.
//!
//! A [`Plan`] is a grid with its directory, a [`State`] says how far each run is, and a [`Schedule`] does the runs that
//! are left, each in a worker process. This crate does not know how a run learns: what can run it passes in a command
//! for workers, a function that completes settings ([`Complete`]) and one that measures steps ([`Estimate::measure`]).
//! On a cluster, [`slurm`] submits them.

#![forbid(unsafe_code)]

mod estimate;
mod file;
pub mod log;
mod manifest;
mod only;
mod plan;
mod pool;
mod runs;
mod schedule;
pub mod slurm;
mod state;
mod worker;

pub use estimate::{Cost, Estimate};
pub use file::{Grid, GridError, MOST_RUNS};
pub use manifest::{manifest, read_manifest};
pub use only::{Only, OnlyError};
pub use plan::{Complete, Job, Plan, PlanError};
pub use pool::Ending;
pub use runs::Planned;
pub use schedule::{Event, Outcome, Schedule};
pub use state::State;
pub use worker::WorkerProgress;
