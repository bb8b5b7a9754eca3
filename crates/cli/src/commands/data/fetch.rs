//! `rehearsal data fetch`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{
    Dataset,
    catalogue::{State, card, state},
    choice::Choice,
    fetch::{Fetch, Timeouts},
    home,
};

use super::progress;
use crate::{
    args::data,
    printer::{message, print},
};

/// Fetches a data set and prints where it is.
pub fn fetch(args: &data::Fetch) -> Result<ExitCode> {
    let dataset = Dataset::from_name(&args.name)?;
    let home = home::directory(args.data.as_deref())?;
    if !args.quiet {
        message(&format!("{dataset}: terms of use: {} ({})", card(dataset).terms, card(dataset).about));
    }
    let progress = progress(args.quiet);
    let fetch = Fetch {
        home: &home,
        mirror: args.mirror.as_deref(),
        from: &args.from,
        trust: args.trust,
        keep: args.keep,
        part: args.part,
        timeouts: Timeouts::default(),
        progress: &*progress,
    };
    let directory = fetch.dataset(dataset)?;
    if !args.quiet {
        match state(dataset, &home).0 {
            State::Ready => {}
            State::Incomplete(part) => message(&format!("incomplete: {part}")),
            State::Partial | State::Absent => message(&format!("{dataset} is not complete yet")),
        }
    }
    print(&format!("{}\n", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
