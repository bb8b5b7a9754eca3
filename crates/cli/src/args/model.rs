//! The verbs of a model store.

use std::path::PathBuf;

use clap::{ArgGroup, Subcommand};
use rehearsal_model::{MemorySize, Share};

#[cfg(feature = "training")]
use super::learning::How;

const LEARN_EXAMPLES: &str = "\
Examples:
  rehearsal learn shop.model photos/january     photos/january/{boots,sandals,sneakers}/*.jpg
  rehearsal learn shop.model photos/february    more classes, or more photos of known ones
  rehearsal learn shop.model photos/march --max-forgetting 3%
  rehearsal learn shop.model corrected --relabel       photos that were in the wrong folder
  rehearsal learn shop.model photos --memory 64MB
  rehearsal learn shop.model photos --json | jq .holdout
  rehearsal learn --demo                        see it work, on images inside the program

A model is a directory. Each training session makes a new version. A pre-trained network inside the
program turns each photo into features, and a Gaussian head learns them exactly: the order of
sessions does not matter, nothing is forgotten, and a removed photo leaves no trace. One photo in ten
is held out and measures a model that has not learned it. If interrupted, the same command continues.
`--backbone scratch` trains a network of its own instead. Exit code 3: the version was rejected,
because the classes known before lost accuracy on the same holdout photos, beyond chance or more than
--max-forgetting allows. The version before stays current; --accept turns this check off.";

#[derive(clap::Args)]
#[command(after_help = LEARN_EXAMPLES)]
pub struct Learn {
    /// The model: a directory, made if there is none
    #[arg(value_name = "MODEL", required_unless_present = "demo")]
    pub model: Option<PathBuf>,
    /// Folders of photos, one folder per class: DIR/CLASS/*.jpg
    #[arg(value_name = "DIR", required_unless_present_any = ["demo", "again"])]
    pub folders: Vec<PathBuf>,
    /// Learn images inside the program in two sessions, exactly and by plain fine-tuning
    #[arg(long, conflicts_with_all = ["model", "folders"])]
    pub demo: bool,
    /// Backbone of a new model: efficientnet-lite0, another of `rehearsal backbone list`, an .onnx file,
    /// or scratch to train a network [default: efficientnet-lite0]
    #[arg(long, value_name = "NAME")]
    pub backbone: Option<String>,
    /// Reject the version if the classes known before lose more accuracy than this (3% or 0.03), by chance
    /// or not [default: if they lose any, and the loss is beyond chance]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub max_forgetting: Option<Share>,
    /// Accept the version whatever it lost
    #[arg(long, conflicts_with = "max_forgetting")]
    pub accept: bool,
    /// Move photos that were learned as another class to the class that they have here
    #[arg(long)]
    pub relabel: bool,
    /// Learn once more what the model remembers, instead of photos (--backbone scratch)
    #[arg(long, conflicts_with_all = ["folders", "demo", "holdout", "relabel"])]
    pub again: bool,
    /// Take folders inside folders as classes, named by their paths: bags/leather
    #[arg(long)]
    pub nested: bool,
    /// Take names that differ only in capitals, spaces or a plural as two classes
    #[arg(long)]
    pub as_is: bool,
    /// Size of the memory: images (5000) or bytes (64MB) [default: 5000 images]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub memory: Option<MemorySize>,
    /// How many versions are kept [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// The most holdout images of a class [default: 50]
    #[arg(long, value_name = "N")]
    pub holdout_per_class: Option<usize>,
    /// Measure on these photos, one folder per class, instead of holding out one photo in ten [default:
    /// val/ or test/ beside train/]
    #[arg(long, value_name = "DIR")]
    pub holdout: Option<PathBuf>,
    /// Leave out photos that cannot be read, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
    /// Follow links that lead out of the folder
    #[arg(long)]
    pub follow_links: bool,
    /// Print the result as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Threads [default: one per core]
    #[cfg(not(feature = "training"))]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    #[cfg(feature = "training")]
    #[command(flatten)]
    pub how: How,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  rehearsal predict shop.model new/*.jpg
  rehearsal predict shop.model new/             every image below a folder
  rehearsal predict shop.model new/ --json | jq -r 'select(.answer != \"sure\") | .path'
  rehearsal predict shop.model x.jpg --explain   the remembered photos most like it
  rehearsal predict shop.model x.jpg --version 1

An answer is sure from --threshold on. By default at least 19 of 20 such answers on the holdout set
are right. A photo is unknown if it is further from all classes than 19 of 20 holdout photos. If the
holdout set is too small to tell, every answer is unsure.";

#[derive(clap::Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub struct Predict {
    /// The model
    pub model: PathBuf,
    /// Photos, or folders of photos
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// How likely an answer must be to be sure: 90% or 0.9 [default: from the holdout set]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub threshold: Option<Share>,
    /// How many other classes are shown
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub others: usize,
    /// Name the three most similar remembered photos, with their classes
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub which: Which,
    /// Name photos that cannot be read and go on, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
    /// Follow links that lead out of a folder
    #[arg(long)]
    pub follow_links: bool,
    /// Print one line of JSON for each photo
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
}

/// How many threads a verb computes on; results do not depend on it.
#[derive(clap::Args)]
pub struct Threads {
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

#[derive(clap::Args)]
pub struct Which {
    /// Another version than the current one
    #[arg(long, value_name = "N")]
    pub version: Option<u32>,
}

const EVALUATE_EXAMPLES: &str = "\
Examples:
  rehearsal evaluate shop.model held-out/
  rehearsal evaluate shop.model held-out/ --report eval/   a page with the photos it got wrong
  rehearsal evaluate shop.model held-out/ --json | jq .accuracy";

#[derive(clap::Args)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub struct Evaluate {
    /// The model
    pub model: PathBuf,
    /// A folder of photos that were not learned, one folder per class
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Write a page there: each class, which are mistaken for which, the photos it got wrong
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub which: Which,
    /// Leave out photos that cannot be read, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
    /// Follow links that lead out of the folder
    #[arg(long)]
    pub follow_links: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal show shop.model
  rehearsal show shop.model --json | jq '.versions[].holdout'")]
pub struct Show {
    /// The model
    pub model: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal use shop.model 2      roll back to version 2; the next session starts from it

`rehearsal show` lists the versions that are kept.")]
pub struct Use {
    /// The model
    pub model: PathBuf,
    /// The number of a version
    pub version: u32,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

const MEMORY_EXAMPLES: &str = "\
Examples:
  rehearsal memory shop.model sheet -o memory.png     what it remembers, as pictures
  rehearsal memory shop.model list --class boots
  rehearsal memory shop.model remove 'photos/january/boots/IMG_77*'
  rehearsal memory shop.model move IMG_7731.jpg --to sandals
  rehearsal memory shop.model remove --class boots --dry-run
  rehearsal memory shop.model export remembered/      as files, one folder per class";

const REMOVE_EXAMPLES: &str = "\
Examples:
  rehearsal memory shop.model remove 'photos/january/boots/IMG_77*' --dry-run
  rehearsal memory shop.model remove IMG_7731.jpg
  rehearsal memory shop.model remove 'january/**'      everything from january
  rehearsal memory shop.model remove --class boots     also under its earlier names

The model is then, bit for bit, one that never saw the photos. A photo that is no longer in memory is
given as a file. In a model with --backbone scratch, what was learned from them stays in the weights.";

#[derive(clap::Args)]
#[command(after_help = MEMORY_EXAMPLES)]
pub struct Memory {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    #[command(subcommand)]
    pub verb: MemoryVerb,
}

#[derive(Subcommand)]
pub enum MemoryVerb {
    /// Draw what it remembers, a row for each class
    #[command(after_help = "\
Examples:
  rehearsal memory shop.model sheet                        into memory.png
  rehearsal memory shop.model sheet -o all.png --per-class 50")]
    Sheet {
        /// Where to write the sheet
        #[arg(long, short, value_name = "FILE", default_value = "memory.png")]
        out: PathBuf,
        /// Images of each class
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
        per_class: u16,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the images in memory and holdout set, with their paths
    #[command(after_help = "\
Examples:
  rehearsal memory shop.model list --class boots
  rehearsal memory shop.model list --json | jq -r 'select(.in == \"holdout\") | .source'")]
    List {
        /// Only this class
        #[arg(long, value_name = "NAME")]
        class: Option<String>,
        /// Print one line of JSON for each image
        #[arg(long)]
        json: bool,
    },
    /// Remove images from memory and holdout set, in every kept version
    #[command(group = ArgGroup::new("what").required(true).args(["pattern", "class"]), after_help = REMOVE_EXAMPLES)]
    Remove {
        /// The path that they came from, or its end; * is any part of a name, ** of a path
        #[arg(value_name = "PATTERN")]
        pattern: Option<String>,
        /// All images of a class
        #[arg(long, value_name = "NAME")]
        class: Option<String>,
        /// Photos that are no longer in memory and are needed for this
        #[arg(long, value_name = "DIR")]
        photos: Option<PathBuf>,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Move photos in memory or holdout set to another class, which makes a version
    #[command(after_help = "\
Examples:
  rehearsal memory shop.model move IMG_7731.jpg --to sandals
  rehearsal memory shop.model move 'january/boots/scan_*' --to rubber-boots")]
    Move {
        /// The path that they came from, or its end; * is any part of a name, ** of a path
        #[arg(value_name = "PATTERN")]
        pattern: String,
        /// The class; a new one is made
        #[arg(long, value_name = "CLASS")]
        to: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the images in memory as files, one folder per class
    #[command(after_help = "\
Examples:
  rehearsal memory shop.model export remembered/
  rehearsal learn again.model remembered/              a new model from what this one remembers")]
    Export {
        /// Where; it must not exist yet
        #[arg(value_name = "DIR")]
        out: PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rehearsal class shop.model rename trainers sneakers
  rehearsal class shop.model merge trainers sneakers
  rehearsal class shop.model retire clogs

Each makes a new version; `rehearsal use` rolls back.")]
pub struct Class {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    #[command(subcommand)]
    pub verb: ClassVerb,
}

#[derive(Subcommand)]
pub enum ClassVerb {
    /// Rename a class
    #[command(after_help = "\
Examples:
  rehearsal class shop.model rename trainers sneakers
  rehearsal class shop.model rename bags/leather bags")]
    Rename {
        /// Its name
        from: String,
        /// Its new name
        to: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Merge a class into another
    #[command(after_help = "\
Examples:
  rehearsal class shop.model merge trainers sneakers       trainers are sneakers from now on")]
    Merge {
        /// The class to merge
        from: String,
        /// The class that it becomes a part of
        to: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Never predict a class again; remove its images from memory and holdout set
    #[command(after_help = "\
Examples:
  rehearsal class shop.model retire clogs
  rehearsal class shop.model retire clogs --photos photos/january/clogs
  rehearsal memory shop.model remove --class clogs     its images also leave the older versions")]
    Retire {
        /// Its name
        name: String,
        /// Photos of it that are no longer in memory
        #[arg(long, value_name = "DIR")]
        photos: Option<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
#[command(
    override_usage = "rehearsal export <MODEL> <--onnx <FILE>|--safetensors <FILE>> [OPTIONS]",
    group = ArgGroup::new("format").required(true).multiple(true).args(["onnx", "safetensors"]),
    after_help = "\
Examples:
  rehearsal export shop.model --onnx shop.onnx
  rehearsal export shop.model --safetensors shop.safetensors

Preprocessing and class names are inside; the memory and the holdout set are not. Weights for PyTorch
are for models with --backbone scratch."
)]
pub struct Export {
    /// The model
    pub model: PathBuf,
    /// Write an ONNX file
    #[arg(long, value_name = "FILE")]
    pub onnx: Option<PathBuf>,
    /// Write a safetensors file
    #[arg(long, value_name = "FILE")]
    pub safetensors: Option<PathBuf>,
    #[command(flatten)]
    pub which: Which,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use crate::args::Args;

    #[test]
    fn every_verb_of_a_model_has_examples_that_the_program_understands() {
        let command = Args::command();
        for verb in [
            "learn", "predict", "evaluate", "show", "use", "memory", "class", "export", "features", "backbone",
            "serve", "watch",
        ] {
            let verb = command.find_subcommand(verb).unwrap();
            for verb in [verb].into_iter().chain(verb.get_subcommands()) {
                let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
                let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  rehearsal ")).collect();
                assert!(!examples.is_empty(), "{}", verb.get_name());
                for example in examples {
                    // Up to what is said of it, and to the pipe.
                    let words = example.split("   ").next().unwrap_or(example).split(" | ").next().unwrap_or(example);
                    let words = std::iter::once("rehearsal").chain(words.split(' '));
                    let parsed = Args::command().try_get_matches_from(words);
                    assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
                }
            }
        }
    }
}
