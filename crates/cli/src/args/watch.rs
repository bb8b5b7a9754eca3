//! `rehearsal watch`.

use std::path::PathBuf;

/// The port of the page, unless another one is given.
pub const PORT: u16 = 7861;

const EXAMPLES: &str = "\
Examples:
  rehearsal watch runs/my-run            a run, while it goes on or after: http://127.0.0.1:7861
  rehearsal watch runs/table1            all runs of a grid
  rehearsal watch runs --port 0          on any port that is free

The page shows the accuracies after each task, the loss and, of runs with --diagnostics, what was replayed. It reads what the
runs write and changes nothing. `rehearsal run --watch` also shows the photos that are being replayed. Only this machine can
open the page; from another one: ssh -L 7861:127.0.0.1:7861 HOST";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Watch {
    /// A run, or a directory with runs: of a grid, say
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Port to listen on; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub port: u16,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}
