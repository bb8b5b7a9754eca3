//! `rehearsal features`.

use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal features photos/ -o features.safetensors
  rehearsal features photos/ -o features.npy        beside it features.txt, with a path per row

The features are float32, one row per photo, sorted by path. In a safetensors file the metadata have the
entry rehearsal-features: JSON with `paths`, and name and checksum of the backbone. Features are computed
once per photo and kept.")]
pub struct Features {
    /// Photos, or folders of photos
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Where to write them: .safetensors or .npy
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// The network
    #[arg(long, value_name = "NAME", default_value = rehearsal_model::DEFAULT_BACKBONE)]
    pub backbone: String,
    /// Leave out photos that cannot be read, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
    /// Follow links that lead out of a folder
    #[arg(long)]
    pub follow_links: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: super::model::Threads,
}
