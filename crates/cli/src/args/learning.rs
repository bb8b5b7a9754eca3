//! How `rehearsal learn` trains.

use std::path::PathBuf;

use rehearsal::{memory::PolicyKind, methods::MethodKind, optimizer::Schedule, retrieval::RetrievalKind};

/// How to learn, where the defaults do not serve.
#[derive(clap::Args)]
#[command(next_help_heading = "Learning, if the defaults do not serve")]
pub struct How {
    /// Passes over the photos [default: by how many there are, 12 at most]
    #[arg(long, value_name = "N", alias = "epochs", allow_negative_numbers = true)]
    pub passes: Option<usize>,
    /// Learning rate at the beginning of a visit [default: 0.1]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub lr: Option<f64>,
    /// How it changes in a visit: constant, cosine or step [default: cosine]
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<Schedule>,
    /// Height and width of the images, for a new model [default: by the photos, 32 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=1024))]
    pub size: Option<u16>,
    /// Channels after the first convolution, for a new model [default: 20]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
    /// For a new model: pcr, cls-er, er-ace, aser, der-pp, a-gem, er or fine-tune [default: pcr]
    #[arg(long, value_name = "NAME")]
    pub method: Option<MethodKind>,
    /// For a new model, who is replayed: random, balanced, mir, imir, aser or memory-match [default: random]
    #[arg(long, value_name = "NAME")]
    pub retrieval: Option<RetrievalKind>,
    /// For a new model, who stays in memory: class-balanced, reservoir, gss or aser [default: class-balanced]
    #[arg(long, value_name = "NAME")]
    pub memory_policy: Option<PolicyKind>,
    /// Seeds every random draw, for a new model [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Any settings of a learner, by the names of an experiment file (TOML)
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Predict with the norm's statistics of training, not with those of the memory
    #[arg(long)]
    pub no_recalibration: bool,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Seconds between writing down how far it is
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, hide = true)]
    pub checkpoint_every: f64,
}
