//! `rehearsal data`: what there is, how it gets here, whether it is whole, what it looks like.

mod clean;
mod fetch;
mod list;
mod preview;
mod stats;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{Chain, DataError, Progress, Request, printable};

use crate::{
    args::data::{Data, Verb, Which},
    printer::{Bar, message},
};

/// Does what was asked. What makes no sense is a user error.
pub fn data(args: &Data) -> Result<ExitCode> {
    let done = match &args.verb {
        Verb::List(list) => list::list(list),
        Verb::Fetch(fetch) => fetch::fetch(fetch),
        Verb::Verify(look) => verify::verify(look),
        Verb::Preview(preview) => preview::preview(preview),
        Verb::Stats(look) => stats::stats(look),
        Verb::Clean(clean) => clean::clean(clean),
    };
    match done {
        Err(error) if is_user_error(&error) => {
            message(&printable(&format!("error: {error:#}")));
            Ok(ExitCode::from(2))
        }
        done => done,
    }
}

/// Whether an error is about what was asked rather than about what happened.
fn is_user_error(error: &anyhow::Error) -> bool {
    error.is::<rehearsal_data::choice::UnknownName>()
        || matches!(
            error.downcast_ref(),
            Some(
                DataError::Absent { .. }
                    | DataError::NoFolder
                    | DataError::NoHome
                    | DataError::Untrusted { .. }
                    | DataError::ByHand(_)
                    | DataError::Refused(_)
            )
        )
}

/// Who shows how far it is.
fn progress(quiet: bool) -> Box<dyn Progress> {
    if quiet { Box::new(()) } else { Box::new(Bar::default()) }
}

/// The data sets that were named.
fn chain(which: &Which) -> Result<Chain> {
    Ok(which.name.parse()?)
}

/// As what a data set is wanted.
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
