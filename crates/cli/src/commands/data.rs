//! `rehearsal data`: lists, fetches, verifies and shows data sets.

mod clean;
mod features;
mod fetch;
mod list;
mod preview;
mod stats;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{Chain, Progress, Request};

use crate::{
    args::data::{Data, Verb, Which},
    printer::Bar,
};

/// Runs a verb of `data`.
pub fn data(args: &Data) -> Result<ExitCode> {
    match &args.verb {
        Verb::List(list) => list::list(list),
        Verb::Fetch(fetch) => fetch::fetch(fetch),
        Verb::Verify(look) => verify::verify(look),
        Verb::Preview(preview) => preview::preview(preview),
        Verb::Stats(look) => stats::stats(look),
        Verb::Features(args) => features::features(args),
        Verb::Clean(clean) => clean::clean(clean),
    }
}

/// A progress bar, unless `quiet`.
fn progress(quiet: bool) -> Box<dyn Progress> {
    if quiet { Box::new(()) } else { Box::new(Bar::default()) }
}

/// The data sets that were named.
fn chain(which: &Which) -> Result<Chain> {
    Ok(which.name.parse()?)
}

/// How to open the data set.
fn request<'a>(which: &'a Which, progress: &'a dyn Progress) -> Request<'a> {
    Request {
        directory: which.data.as_deref(),
        size: which.size.map(usize::from),
        classes: which.classes,
        skip_bad: which.skip_bad,
        follow_links_outside: which.follow_links,
        progress,
        ..Request::default()
    }
}
