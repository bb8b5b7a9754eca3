//! The command line.

pub mod backbone;
pub mod data;
pub mod features;
#[cfg(feature = "training")]
pub mod grid;
#[cfg(feature = "training")]
pub mod learning;
pub mod model;
pub mod serve;
#[cfg(feature = "training")]
mod settings;
pub mod watch;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
#[cfg(feature = "training")]
use rehearsal::device::DeviceName;
#[cfg(feature = "training")]
pub use settings::{RunVerb, Settings, Verb};

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
    /// Show a model: classes, versions, holdout accuracy, memory
    Show(model::Show),
    /// Go back to an earlier version of a model, or on to a later one
    Use(model::Use),
    /// Look at what a model remembers, and remove from it
    Memory(model::Memory),
    /// Rename, merge or retire classes of a model
    Class(model::Class),
    /// Serve a model over HTTP, with a page to ask and teach it
    Serve(serve::Serve),
    /// Write a model for other programs: ONNX, or weights for PyTorch
    Export(model::Export),
    /// Write the features of photos for other programs
    Features(features::Features),
    /// List, fetch and remove pre-trained networks
    Backbone(backbone::Backbone),
    /// Train on a stream of tasks and measure forgetting
    #[cfg(feature = "training")]
    Run(Box<Run>),
    /// List methods, memory policies and retrievals: their costs and valid combinations
    #[cfg(feature = "training")]
    List(List),
    /// Download, check and inspect data sets
    Data(data::Data),
    /// Run a grid of experiments, in parallel and resumable
    #[cfg(feature = "training")]
    Grid(grid::Grid),
    /// Show runs on a page while they go on: accuracies, loss, what is replayed
    Watch(watch::Watch),
    /// Write tables and figures from runs
    Report(Report),
    /// Compare two runs, or two sets of runs
    Compare(Compare),
    /// Measure speed
    #[cfg(feature = "training")]
    Bench(Bench),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man(Manual),
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal completions bash > ~/.local/share/bash-completion/completions/rehearsal
  rehearsal completions zsh > ~/.zfunc/_rehearsal     with fpath+=~/.zfunc before compinit in ~/.zshrc
  rehearsal completions fish > ~/.config/fish/completions/rehearsal.fish
  rehearsal completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal man | man -l -
  rehearsal man --out ~/.local/share/man/man1     then `man rehearsal-learn` works, too")]
pub struct Manual {
    /// Write a page for every command into a directory, and print where
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Command {
    /// How many threads were asked for, of a verb that computes on all cores by itself.
    pub fn threads(&self) -> Option<usize> {
        let threads = match self {
            Self::Predict(predict) => &predict.threads,
            Self::Evaluate(evaluate) => &evaluate.threads,
            Self::Memory(memory) => &memory.threads,
            Self::Class(class) => &class.threads,
            Self::Features(features) => &features.threads,
            _ => return None,
        };
        threads.threads.map(usize::from)
    }
}

#[cfg(feature = "training")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal list
  rehearsal list --json | jq '.combinations[] | select(.runs)'")]
pub struct List {
    /// Print JSON, with every combination: whether it runs, and if not, why
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "training")]
const RUN_EXAMPLES: &str = "\
Examples:
  rehearsal run                                    PCR + balanced on the embedded images
  rehearsal run --method er --retrieval random     experience replay of random samples
  rehearsal run --retrieval balanced --ratio 7:3   seven conflicting, three aligned samples per step
  rehearsal run --method der-pp --memory-policy gss
  rehearsal run --dataset folder --data ~/photos --size 64 --tasks 3
  rehearsal run --dataset cifar10+fashion-mnist    one data set after the other
  rehearsal run --dataset cifar100 --data ~/data --tasks 20 --epochs 50 --memory 10000 --width 64
  rehearsal run my.toml --seed 3                   settings from a file; flags override it
  rehearsal run --set temperature=0.1              any setting, also those without a flag
  rehearsal run --resume runs/my-run               continue a run that was stopped
  rehearsal run --watch                            with a page that shows it

`rehearsal list` lists methods, policies and retrievals, their costs and valid combinations.

An experiment file has the names of the flags (tasks = 5, class-order = \"natural\", …), and these settings without a flag, which `--set NAME=VALUE` gives:
";

#[cfg(feature = "training")]
#[derive(clap::Args)]
#[command(after_help = format!("{RUN_EXAMPLES}{}", settings::only_in_files()))]
pub struct Run {
    /// An experiment file (TOML); flags override it
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Directory of the run [default: a new directory in runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Continue the run in DIR; only --threads, --data, --device, --watch, --quiet and --json may be given with it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "out"])]
    pub resume: Option<PathBuf>,
    /// Show the run on a page of this machine: accuracies, loss, the photos that are being replayed [default PORT: 7861]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "7861")]
    pub watch: Option<u16>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings<RunVerb>,
}

#[cfg(feature = "training")]
#[derive(clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    pub what: Benchmark,
}

#[cfg(feature = "training")]
#[derive(Subcommand)]
pub enum Benchmark {
    /// Time one step of PCR with balanced retrieval; prints one line of JSON with median milliseconds
    #[command(after_help = "\
score: forward passes of the candidates (50 + 50) before and after the virtual step
train: forward, backward and update on 40 images (10 new + 10 replayed, raw + augmented)
step:  virtual step (forward and backward on 20 images), score, select, train")]
    Step(StepBench),
}

#[cfg(feature = "training")]
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
    /// Number of measurements; the median is printed
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeats: u16,
    /// Device
    #[arg(long, value_name = "NAME", default_value_t = DeviceName::CPU)]
    pub device: DeviceName,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  rehearsal report runs                      all runs at or below runs/, into report/
  rehearsal report runs old/runs -o out      runs of two directories, into out/
  rehearsal report runs -q | xargs xdg-open  open the page
  rehearsal report runs/table1 --paper       with the paper's tables and numbers
  rehearsal report runs --bare -o paper      figures without titles, also as PDF

The report is one page, index.html, that needs no network. Beside it, tables/ holds every table as Markdown, LaTeX and CSV, figures/ every \
figure as SVG and PNG, and index.md the whole report as Markdown. Runs that differ only in their seed are averaged. Runs with \
--recalibrate both have every table and figure twice: with the BatchNorm running statistics of training and with recalibrated ones. With \
--paper, or if a directory is named after one of the paper's tables (table1, table2, table3, retrievals), the report also has the paper's \
tables: its numbers are marked as the paper's, and missing runs as missing.";

#[derive(clap::Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// Directories with runs, at any depth
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Directory of the report; replaces an older report
    #[arg(long, short, value_name = "DIR", default_value = "report")]
    pub out: PathBuf,
    /// Add the paper's tables, with its numbers beside ours
    #[arg(long)]
    pub paper: bool,
    /// Write figures without titles, also as PDF
    #[arg(long)]
    pub bare: bool,
    /// Print only errors and the path of the page
    #[arg(long, short)]
    pub quiet: bool,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  rehearsal compare runs/a runs/b                 two runs
  rehearsal compare 'runs/er-*' 'runs/pcr-*'      two sets of runs, by quoted patterns
  rehearsal compare study/random study/balanced   two directories of runs
  rehearsal compare runs/a runs/b --recalibrated  with recalibrated BatchNorm statistics
  rehearsal compare runs/a runs/b --json | jq .measures.accuracy

Runs are paired by data, seed and class order. Each measure's difference has a 95 % interval (Student's t; --json also has the \
bootstrap's), an effect size (Cohen's d) and a test over pairs (Wilcoxon signed-rank). The final models have a test over images (McNemar).";

#[derive(clap::Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct Compare {
    /// A run, a directory of runs, or a pattern such as 'runs/er-*'
    pub a: PathBuf,
    /// The run, directory or pattern to compare it with
    pub b: PathBuf,
    /// Compare the results with recalibrated BatchNorm statistics, of runs with --recalibrate memory or both
    #[arg(long)]
    pub recalibrated: bool,
    /// Print JSON; measures are fractions
    #[arg(long)]
    pub json: bool,
}
