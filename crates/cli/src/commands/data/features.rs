//! `rehearsal data features`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_backbone::{BackboneName, features_by};
use rehearsal_data::Split;
use rehearsal_files::threads::cores;

use super::{chain, progress, request};
use crate::{args::data::Features, printer::print};

/// Computes the features of a data set, or finds that they were computed.
pub fn features(args: &Features) -> Result<ExitCode> {
    let name: BackboneName = args.backbone.parse()?;
    let progress = progress(args.which.quiet);
    let source = chain(&args.which)?.open(&request(&args.which, &*progress))?;
    let source = features_by(name, source, args.threads.map_or_else(cores, usize::from), &*progress)?;
    let [train, test] = Split::BOTH.map(|split| source.labels(split).len());
    print(&format!("{} features by {name} of {train} training and {test} test images\n", source.shape().channels))?;
    Ok(ExitCode::SUCCESS)
}
