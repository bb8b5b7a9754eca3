//! `rehearsal data stats`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{printable, stats::Stats};

use super::{chain, progress, request};
use crate::{
    args::data::Look,
    printer::{display_width, padded, print},
};

/// Prints the statistics of a data set.
pub fn stats(args: &Look) -> Result<ExitCode> {
    let progress = progress(args.which.quiet);
    let source = chain(&args.which)?.open(&request(&args.which, &*progress))?;
    let stats = rehearsal_data::stats::stats(&*source, &*progress)?;
    print(&if args.json { format!("{}\n", serde_json::to_string(&stats)?) } else { text(&stats) })?;
    Ok(ExitCode::SUCCESS)
}

fn text(stats: &Stats) -> String {
    let names: Vec<String> = stats.classes.iter().map(|class| printable(&class.name)).collect();
    let widest = names.iter().map(|name| display_width(name)).max().unwrap_or(0).max("total".len());
    let row = |name: &str, train: &str, test: &str| format!("{}{train:>9}{test:>9}\n", padded(name, widest));
    let mut text = row("class", "train", "test");
    for (class, name) in stats.classes.iter().zip(&names) {
        text += &row(name, &class.train.to_string(), &class.test.to_string());
    }
    text += &row("total", &stats.train.to_string(), &stats.test.to_string());
    let channels = |values: &[f64]| values.iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(" ");
    let [height, width, colours] = stats.shape;
    text += &format!("\nimages of {height}×{width}, {colours} channel{}\n", if colours == 1 { "" } else { "s" });
    text += &format!("mean {}, standard deviation {} (training images)\n", channels(&stats.mean), channels(&stats.std));
    text += &format!("{} training images are the same as an earlier one\n", stats.duplicates_in_train);
    text += &format!("{} test images are the same as a training image\n", stats.test_in_train);
    if stats.skipped > 0 {
        text += &format!("{} files were skipped because they are not images\n", stats.skipped);
    }
    if stats.ignored > 0 {
        text += &format!("{} files are not read\n", stats.ignored);
    }
    text += &format!("SHA-256 {}\n", stats.data_sha256);
    text
}
