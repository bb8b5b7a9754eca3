//! What runs write: the names of their files, their contents, and how they are written and locked.
//!
//! Each run has a [`RunDirectory`]. A finished run writes its result as a [`Record`], with a [`seal`]. A grid of runs
//! has a [`GridDirectory`], in which each run has a [`RunName`]. [`rehearsal_files::atomic::write`] replaces files.
//! Programs that write or read runs use the file names in [`files`] and the types here, without knowing how a run
//! learns. All settings, and the role of each in a comparison of runs, are in one table: [`SETTINGS`].
//!
//! ```
//! use rehearsal_runs::{RunDirectory, files};
//!
//! # let parent = tempfile::tempdir()?;
//! # let path = &parent.path().join("run");
//! let mut directory = RunDirectory::create(path, "seed = 1\n")?;
//! directory.log(&"a step")?;
//! directory.sync_log()?;
//! assert!(RunDirectory::is_busy(path)); // no other process may write it
//! assert_eq!(std::fs::read_to_string(path.join(files::STEPS))?, "\"a step\"\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod claim;
mod computed;
mod diagnostics;
mod error;
pub mod files;
mod grid_directory;
mod holder;
mod lock;
mod phases;
mod record;
mod run_directory;
mod run_name;
pub mod seal;
mod settings;
mod steps_log;

pub use computed::Computed;
pub use diagnostics::{ClassDrift, Correlation, DiagnosticsError, Picks, Stretch, TaskDiagnostics};
pub use error::DirectoryError;
pub use grid_directory::{GridDirectory, GridLock};
pub use holder::{Holder, set_job_lookup};
pub use phases::Phases;
pub use record::{Anytime, Measures, Recalibrations, Record, RecordError, Seconds};
pub use run_directory::{HeldDirectory, RunDirectory};
pub use run_name::{RunName, RunNameError};
pub use settings::{Place, Role, SETTINGS, Setting, Settings};
pub use steps_log::LogPosition;
