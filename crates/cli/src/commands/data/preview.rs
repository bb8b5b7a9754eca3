//! `rehearsal data preview`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use rehearsal_data::{Split, preview::sheet};

use super::{chain, progress, request};
use crate::{
    args::data::Preview,
    output,
    printer::{draw_text, print},
};

/// Writes a contact sheet and prints where it is.
pub fn preview(args: &Preview) -> Result<ExitCode> {
    let progress = progress(args.which.quiet);
    let source = chain(&args.which)?.open(&request(&args.which, &*progress))?;
    let split = if args.test { Split::Test } else { Split::Train };
    let png = sheet(&*source, split, usize::from(args.per_class), &draw_text)?;
    output::write(&args.out, &png).with_context(|| format!("{} cannot be written", args.out.display()))?;
    print(&format!("{}\n", args.out.display()))?;
    Ok(ExitCode::SUCCESS)
}
