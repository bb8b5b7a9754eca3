//! Grids of runs: what an experiment file with axes stands for.
//!
//! A grid is a TOML file of three parts. `[axes]` lists values; every combination of them is a run.
//! An axis of plain values is named after the setting that it varies; an axis of tables has any
//! name, and each of its values sets several settings at once. `[fixed]` is what all runs share.
//! Each `[[exclude]]` leaves out the combinations that have all of its settings.
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

#![forbid(unsafe_code)]

mod file;
mod manifest;
mod only;
mod runs;
pub mod slurm;

pub use file::{Grid, GridError, MOST_RUNS};
pub use manifest::{manifest, read_manifest};
pub use only::{Only, OnlyError};
pub use runs::Planned;
