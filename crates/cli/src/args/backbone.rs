//! `rehearsal backbone`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal backbone list
  rehearsal backbone fetch dinov2-small
  rehearsal learn shop.model photos --backbone dinov2-small

efficientnet-lite0 is inside the program and needs no download.")]
pub struct Backbone {
    #[command(subcommand)]
    pub verb: BackboneVerb,
}

#[derive(Subcommand)]
pub enum BackboneVerb {
    /// List the backbones: features, size, licence, and which are here
    #[command(after_help = "\
Examples:
  rehearsal backbone list
  rehearsal backbone list --json | jq -r .name")]
    List {
        /// The directory of all data
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Print one line of JSON for each
        #[arg(long)]
        json: bool,
    },
    /// Show a backbone: source, checksum, licence
    #[command(after_help = "\
Examples:
  rehearsal backbone info dinov2-small")]
    Info {
        /// Which backbone
        name: String,
        /// The directory of all data
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Download the weights of a backbone; an interrupted download continues
    #[command(after_help = "\
Examples:
  rehearsal backbone fetch resnet18
  rehearsal backbone fetch resnet18 --from resnet18-f37072fd.pth")]
    Fetch {
        /// Which backbone
        name: String,
        /// Use this file instead of a download; its size and checksum are checked, too
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Fetch from this address; the file below it has its official name
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
        /// The directory of all data
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Print only errors and the path
        #[arg(long, short)]
        quiet: bool,
    },
    /// Delete the weights of a backbone from this machine
    #[command(after_help = "\
Examples:
  rehearsal backbone remove resnet18")]
    Remove {
        /// Which backbone
        name: String,
        /// The directory of all data
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}
