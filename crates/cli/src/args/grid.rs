//! `rehearsal grid` on the command line.

use std::path::PathBuf;

use clap::Subcommand;
use rehearsal_grid::{Only, slurm::TimeLimit};

const EXAMPLES: &str = "\
Examples:
  rehearsal grid experiments/smoke.toml                     a minute on the embedded images
  rehearsal grid experiments/table3-ratios-cpu.toml --data ~/data --jobs 2
  rehearsal grid my.toml --dry-run                          list the runs and estimate the time
  rehearsal grid my.toml --only method=pcr,seed=0           some of it
  rehearsal grid status my.toml                             what is done, running, failed and left
  rehearsal grid run-one my.toml --index 7                  one run
  rehearsal grid submit my.toml --cpus 4 --time 1-0         on a Slurm cluster; then wait, logs, cancel

A grid file has three parts. Every combination of the values in [axes] is a run; an axis of tables sets several settings at once. [fixed] \
has the settings that all runs share. Each [[exclude]] leaves out the combinations that have all of its settings.

  [fixed]
  dataset = \"embedded\"
  [axes]
  seed = [0, 1, 2]
  learner = [{ method = \"er\", retrieval = \"random\" }, { method = \"pcr\" }]
  [[exclude]]
  method = \"er\"
  seed = 2

Settings have the names of an experiment file: see `rehearsal run --help`. Finished runs are skipped and stopped runs continue, so the same \
command starts a grid, continues it and, at the end, does nothing.";

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
    /// How many runs at a time, each in its own process [default: one per core, at most 8]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Threads of all runs together; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Only the runs with these settings, such as method=pcr,seed=0
    #[arg(long, value_name = "SETTINGS")]
    pub only: Option<Only>,
    /// List the runs and estimate the time, but start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Continue with other runs when one fails; failures are listed at the end
    #[arg(long)]
    pub continue_on_error: bool,
}

#[derive(Clone, clap::Args)]
pub struct Place {
    /// Directory of the runs [default: runs/ and the name of the file]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Directory of the data sets, if the grid file does not name one
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

const STATUS_EXAMPLES: &str = "\
Examples:
  rehearsal grid status my.toml
  rehearsal grid status runs/my/manifest.jsonl
  rehearsal grid status my.toml --json | jq -r 'select(.state == \"failed\").name'

A run is done, running, failed, stopped (the same command continues it), left, or foreign (its directory holds another run or other files). In a \
grid that was submitted to Slurm, a run may also be queued or requeued, and the node that runs it is shown.";

const RUN_ONE_EXAMPLES: &str = "\
Examples:
  rehearsal grid run-one my.toml --index 7
  rehearsal grid run-one runs/my/manifest.jsonl --index $TASK --threads 4 --batch

On Ctrl-C or SIGTERM, a run goes to its next checkpoint and ends with 130; the same command continues it. Other exit codes: 0 done, 1 \
failed on the way, 2 wrong input.";

const SUBMIT_EXAMPLES: &str = "\
Examples:
  rehearsal grid submit my.toml --cpus 4 --memory 8G --time 1-0
  rehearsal grid submit my.toml --partition gpu --gpus 1 --max-running 20
  rehearsal grid submit my.toml --chunk 10 -- --account=vision --exclude=node7
  rehearsal grid submit my.toml --script-only          write the script and print its path

Submits one array of the runs that are not done, prints the number of its job and returns. Short runs share a task: tasks take about half \
an hour, by a few measured steps, or have --chunk runs each. Before a task's time is over, or when it loses its node, its run is saved and \
the task is queued again. Runs that are queued or running are left out, so the same command later submits only what is left. See \
docs/cluster.md.";

const WAIT_EXAMPLES: &str = "\
Examples:
  rehearsal grid wait my.toml && rehearsal report runs/my
  rehearsal grid wait my.toml --every 60

Waits until no run is running, queued or requeued, and prints the counts whenever they change. Exit code 0 if all runs are done, 1 if not.";

const LOGS_EXAMPLES: &str = "\
Examples:
  rehearsal grid logs my.toml er-random-seed0
  rehearsal grid logs my.toml 7 | less                 by its number

Prints the output of the Slurm tasks that had the run, in order, and why it failed, if it did.";

const CANCEL_EXAMPLES: &str = "\
Examples:
  rehearsal grid cancel my.toml

Running runs stop at a checkpoint. `rehearsal grid submit` later submits what is left.";

#[derive(clap::Args)]
pub struct Known {
    /// A grid file, or the manifest.jsonl of a grid that was started
    pub file: PathBuf,
    #[command(flatten)]
    pub place: Place,
}

#[derive(clap::Args)]
pub struct Submit {
    #[command(flatten)]
    pub grid: Known,
    /// Only the runs with these settings, such as method=pcr,seed=0
    #[arg(long, value_name = "SETTINGS")]
    pub only: Option<Only>,
    /// Partition of the cluster [default: the cluster's]
    #[arg(long, value_name = "P")]
    pub partition: Option<String>,
    /// The longest a task may take: minutes, hours:minutes:seconds or days-hours [default: the partition's]
    #[arg(long, value_name = "T")]
    pub time: Option<TimeLimit>,
    /// GPUs of each task
    #[arg(long, value_name = "N")]
    pub gpus: Option<u16>,
    /// Processors of each task, and threads of its run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub cpus: Option<u16>,
    /// Memory of each task, such as 8G [default: the cluster's]
    #[arg(long, value_name = "M")]
    pub memory: Option<String>,
    /// The most tasks at a time [default: as many as the cluster gives]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_running: Option<u32>,
    /// Runs of each task [default: about half an hour of runs, by a few measured steps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: Option<u32>,
    /// Seconds before the end of a task's time at which its run is saved
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=65535))]
    pub warning: u32,
    /// Write the script and print its path, but submit nothing
    #[arg(long)]
    pub script_only: bool,
    /// More options for sbatch, after --
    #[arg(last = true, value_name = "SBATCH OPTIONS")]
    pub extra: Vec<String>,
}

#[derive(Subcommand)]
pub enum Part {
    /// Show which runs are done, running, failed and left
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        #[command(flatten)]
        grid: Known,
        /// Print JSON, one line per run
        #[arg(long)]
        json: bool,
    },
    /// Submit what is left to Slurm, as one array
    #[command(after_help = SUBMIT_EXAMPLES)]
    Submit(Box<Submit>),
    /// Wait until nothing is running or queued
    #[command(after_help = WAIT_EXAMPLES)]
    Wait {
        #[command(flatten)]
        grid: Known,
        /// Seconds between two checks
        #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86400))]
        every: u64,
    },
    /// Show the log of a run
    #[command(after_help = LOGS_EXAMPLES)]
    Logs {
        #[command(flatten)]
        grid: Known,
        /// The run's name, or its index
        name: String,
    },
    /// Cancel what was submitted to Slurm
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel {
        #[command(flatten)]
        grid: Known,
    },
    /// Start or continue one run of the grid
    #[command(after_help = RUN_ONE_EXAMPLES)]
    RunOne {
        #[command(flatten)]
        grid: Known,
        /// Index of the run, from 0, in the order of the manifest
        #[arg(long, value_name = "I")]
        index: usize,
        /// Threads; results do not depend on it [default: one per core]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: Option<u16>,
        /// For schedulers, which may ask twice: only the first request to stop counts
        #[arg(long)]
        batch: bool,
        /// Report progress to a grid, and stop when it is gone
        #[arg(long, hide = true)]
        worker: bool,
    },
}
