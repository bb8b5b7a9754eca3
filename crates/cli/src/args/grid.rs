//! `rehearsal grid` on the command line.

use std::path::PathBuf;

use clap::Subcommand;
use rehearsal_grid::Only;

const EXAMPLES: &str = "\
Examples:
  rehearsal grid experiments/smoke.toml                     a minute on the embedded images
  rehearsal grid experiments/table3-ratios-cpu.toml --data ~/data --jobs 2
  rehearsal grid my.toml --dry-run                          what would run, and for how long
  rehearsal grid my.toml --only method=pcr,seed=0           some of it
  rehearsal grid status my.toml                             what is done, running, failed and left
  rehearsal grid run-one my.toml --index 7                  one run, for a cluster

A grid file has three parts. Every combination of the values in [axes] is a run; an axis of tables sets several settings at once. [fixed] \
is what all runs share. Each [[exclude]] leaves out the combinations that have all of its settings.

  [fixed]
  dataset = \"embedded\"
  [axes]
  seed = [0, 1, 2]
  learner = [{ method = \"er\", retrieval = \"random\" }, { method = \"pcr\" }]
  [[exclude]]
  method = \"er\"
  seed = 2

Settings have the names of an experiment file: see `rehearsal run --help`. Runs that are finished are skipped and those that were stopped \
go on, so the same command starts a grid, continues it and, at the end, does nothing.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Grid {
    #[command(subcommand)]
    pub what: Option<Part>,
    /// A grid file (TOML)
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub place: Place,
    /// How many runs at a time, each in a process of its own [default: one per core, at most 8]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Threads of all runs together; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Only the runs with these settings, such as method=pcr,seed=0
    #[arg(long, value_name = "SETTINGS")]
    pub only: Option<Only>,
    /// Show what would run and for how long, and begin nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with other runs when one fails; failures are listed at the end
    #[arg(long)]
    pub continue_on_error: bool,
}

#[derive(clap::Args)]
pub struct Place {
    /// Where the runs are [default: runs/ and the name of the file]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where the data sets' files are, if the grid does not say it
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum Part {
    /// Say what is done, running, failed and left
    Status {
        /// A grid file, or the manifest.jsonl of one that was begun
        file: PathBuf,
        #[command(flatten)]
        place: Place,
        /// Print JSON, one line per run
        #[arg(long)]
        json: bool,
    },
    /// Do, or go on with, one run of the grid
    RunOne {
        /// A grid file, or the manifest.jsonl of one that was begun
        file: PathBuf,
        /// Which, from 0, in the order of the manifest
        #[arg(long, value_name = "I")]
        index: usize,
        #[command(flatten)]
        place: Place,
        /// Threads; results do not depend on it [default: one per core]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: Option<u16>,
        /// Tell a grid how far it is, and stop when it goes away
        #[arg(long, hide = true)]
        worker: bool,
    },
}
