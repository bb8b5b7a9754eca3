//! The command line.

pub mod data;
pub mod grid;
pub mod learning;
pub mod model;
mod settings;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use rehearsal::device::DeviceName;
pub use settings::Settings;

/// Image classifiers that keep learning: from folders of photos, without forgetting what they knew.
#[derive(Parser)]
#[command(name = "rehearsal", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Learn from folders of photos, one folder a class
    Learn(Box<model::Learn>),
    /// Say what photos show
    Predict(model::Predict),
    /// Measure a model on photos that it has not learned
    Evaluate(model::Evaluate),
    /// Show a model: its classes, versions and their exams, its memory
    Show(model::Show),
    /// Go back to an earlier version of a model, or on to a later one
    Use(model::Use),
    /// Look at what a model remembers, and remove from it
    Memory(model::Memory),
    /// Rename a class of a model, or retire it
    Class(model::Class),
    /// Write a model for other programs: ONNX, or weights for PyTorch
    Export(model::Export),
    /// Learn a stream of tasks and say how much was kept
    Run(Box<Run>),
    /// List methods, memory policies and retrievals, what they cost, and which go together
    List(List),
    /// Fetch, check and look at data sets
    Data(data::Data),
    /// Run a grid of experiments, in parallel and resumable
    Grid(grid::Grid),
    /// Make tables and figures from runs
    Report(Report),
    /// Set two runs, or two sets of runs, side by side
    Compare(Compare),
    /// Measure speed
    Bench(Bench),
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal list
  rehearsal list --json | jq '.combinations[] | select(.runs)'")]
pub struct List {
    /// Print as JSON, every combination with whether it runs and why not
    #[arg(long)]
    pub json: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  rehearsal run                                    PCR + balanced on the embedded images
  rehearsal run --method er --retrieval random     experience replay, replaying at random
  rehearsal run --retrieval balanced --ratio 7:3   seven conflicting, three aligned samples a step
  rehearsal run --method der-pp --memory-policy gss
  rehearsal run --dataset folder --data ~/photos --size 64 --tasks 3
  rehearsal run --dataset cifar10+fashion-mnist    one data set after the other
  rehearsal run --dataset cifar100 --data ~/data --tasks 20 --epochs 50 --memory 10000 --width 64
  rehearsal run my.toml --seed 3                   settings from a file; flags override it
  rehearsal run --resume runs/my-run               go on where a run was stopped

`rehearsal list` says what there is, what it costs and what goes together.

An experiment file has the same names as the flags (tasks = 5, class-order = \"natural\", …), and these, which have no flag:
";

#[derive(clap::Args)]
#[command(after_help = format!("{RUN_EXAMPLES}{}", settings::only_in_files()))]
pub struct Run {
    /// An experiment file (TOML); flags override it
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where to write [default: a new directory in runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the run in DIR; only --threads, --data, --device, --quiet and --json may stand beside it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "out"])]
    pub resume: Option<PathBuf>,
    /// Say nothing but errors; the results are in the files
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    pub what: Benchmark,
}

#[derive(Subcommand)]
pub enum Benchmark {
    /// One step of PCR with balanced retrieval, data ready in memory; prints one line of JSON with
    /// median milliseconds
    #[command(after_help = "\
score: candidates of both draws (50 + 50) before and after the virtual step, no gradient
train: the PCR step on 40 anchors (10 new + 10 replayed, raw + augmented), forward, backward and update
step:  virtual step (forward + backward on 20), score, select, train")]
    Step(StepBench),
}

#[derive(clap::Args)]
pub struct StepBench {
    /// Channels after the first convolution
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub width: u16,
    /// Height and width of the images
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(8..=1024))]
    pub size: u16,
    /// Threads
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Measurements, of which the median counts
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeats: u16,
    /// What computes
    #[arg(long, value_name = "NAME", default_value_t = DeviceName::CPU)]
    pub device: DeviceName,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  rehearsal report runs                      all runs at or below runs/, into report/
  rehearsal report runs old/runs -o out      runs of two places, into out/
  rehearsal report runs -q | xargs xdg-open  open the page
  rehearsal report runs/table1 --paper       the paper's tables too, with its numbers beside ours
  rehearsal report runs --bare -o paper      figures without titles, also as PDF

The report is one page, index.html, that needs no network. Beside it, tables/ holds every table as Markdown, LaTeX and CSV, figures/ every \
figure as SVG and PNG, index.md all of it as Markdown. Runs that differ in their seed only are averaged; those with --recalibrate both \
have every table and figure for either statistics of the norm. It shows what was run, and nothing else; with --paper, or if a directory is named after one of the paper's tables (table1, table2, table3, retrievals), the paper's own \
tables follow with its numbers, marked as the paper's, and what is missing there is said to be missing.";

#[derive(clap::Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// Where to look for runs, at any depth
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Where to write; an older report there is replaced
    #[arg(long, short, value_name = "DIR", default_value = "report")]
    pub out: PathBuf,
    /// Add the paper's own tables, its numbers beside ours
    #[arg(long)]
    pub paper: bool,
    /// Draw figures without their titles, also as PDF
    #[arg(long)]
    pub bare: bool,
    /// Say nothing but errors; the page's path is printed all the same
    #[arg(long, short)]
    pub quiet: bool,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  rehearsal compare runs/a runs/b                 two runs
  rehearsal compare 'runs/er-*' 'runs/pcr-*'      two sets of runs, by name; quote the star
  rehearsal compare study/random study/balanced   two directories of runs
  rehearsal compare runs/a runs/b --recalibrated  with re-estimated statistics of the norm
  rehearsal compare runs/a runs/b --json | jq .measures.accuracy

Runs are paired by data, seed and order of classes. Differences of measures have a 95 % interval (Student's t; --json has the bootstrap's \
too), a size (Cohen's d) and a test over pairs (Wilcoxon signed-rank); those of the final models a test over images (McNemar).";

#[derive(clap::Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct Compare {
    /// A run, a directory of runs, or a pattern such as 'runs/er-*'
    pub a: PathBuf,
    /// What to compare it with
    pub b: PathBuf,
    /// Compare what runs say with statistics of the norm re-estimated from the memory: those with
    /// `--recalibrate memory` or `both`
    #[arg(long)]
    pub recalibrated: bool,
    /// Print JSON; measures are fractions
    #[arg(long)]
    pub json: bool,
}
