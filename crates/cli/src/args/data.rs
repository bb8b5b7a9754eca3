//! `rehearsal data`.

use std::path::PathBuf;

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  rehearsal data list                                 all data sets, and their state on this machine
  rehearsal data fetch cifar100                       download, check, unpack
  rehearsal data fetch food100 --mirror http://host/  from another server
  rehearsal data fetch core50 --from core50_128x128.zip
  rehearsal data verify cifar100                      check every file and every record
  rehearsal data preview folder --data my -o my.png   draw what the learner sees
  rehearsal data stats fashion-mnist --json | jq .mean
  rehearsal data features cifar100                    compute features once, for `run --backbone`
  rehearsal data clean --data my --dry-run            list packed images that no data set uses

Data sets are in --data DIR, else in $REHEARSAL_DATA, else in the platform's data directory (~/.local/share/rehearsal).";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Data {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Subcommand)]
pub enum Verb {
    /// List every data set: classes, images, size on disk, state, terms of use
    List(List),
    /// Fetch a data set: download (or resume a download), check, unpack
    Fetch(Fetch),
    /// Check every file and every record of a data set, and print the bad ones
    Verify(Look),
    /// Draw a contact sheet: some images of each class, with its name
    Preview(Preview),
    /// Count images per class and split, channel means, duplicates between train and test
    Stats(Look),
    /// Compute the features of a data set by a pre-trained backbone, for `run --backbone NAME`
    Features(Features),
    /// Remove packed images that no data set uses
    Clean(Clean),
}

#[derive(clap::Args)]
pub struct List {
    /// The directory of all data sets
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct Fetch {
    /// Which data set
    pub name: String,
    /// The directory of all data sets
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Fetch from this address; files below it have their official names
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,
    /// Use this local file instead of a download; may be given several times
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// Accept files whose checksum is unknown or differs from the official one
    #[arg(long)]
    pub trust: bool,
    /// Accept a data set that has fewer images than were published
    #[arg(long)]
    pub part: bool,
    /// Keep archives after they are unpacked
    #[arg(long)]
    pub keep: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(clap::Args)]
pub struct Look {
    #[command(flatten)]
    pub which: Which,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct Preview {
    #[command(flatten)]
    pub which: Which,
    /// Where to write the sheet
    #[arg(long, short, value_name = "FILE", default_value = "grid.png")]
    pub out: PathBuf,
    /// Images of each class
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub per_class: u16,
    /// Show test images instead of training images
    #[arg(long)]
    pub test: bool,
}

#[derive(clap::Args)]
pub struct Features {
    #[command(flatten)]
    pub which: Which,
    /// Which backbone: see `rehearsal backbone list`
    #[arg(long, value_name = "NAME", default_value = "efficientnet-lite0")]
    pub backbone: String,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

#[derive(clap::Args)]
pub struct Clean {
    /// The data set whose packed images to check [default: the directory of all data sets]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Remove the features of photos and data sets instead, all of them: they are computed again when needed
    #[arg(long)]
    pub features: bool,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct Which {
    /// Which data set, or several joined by +
    pub name: String,
    /// The directory of the data set, or of all data sets
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Height and width of the images [default: the data set's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub size: Option<u16>,
    /// How many classes; tiny-imagenet has 100 unless more are asked for
    #[arg(long, value_name = "N")]
    pub classes: Option<usize>,
    /// Skip files that are not images
    #[arg(long)]
    pub skip_bad: bool,
    /// Follow links that lead out of the data set's directory
    #[arg(long)]
    pub follow_links: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}
