//! `rehearsal report`.

use std::process::ExitCode;

use anyhow::{Error, Result};
use rehearsal_report::{
    paper,
    report::{Options, Report, WriteError, may_write},
    study::Study,
};

use crate::{
    args,
    printer::{message, print},
    user_error::UserError,
};

/// Reads runs, writes the report, and prints the path of its page.
pub fn report(args: &args::Report) -> Result<ExitCode> {
    may_write(&args.out).map_err(with_way_out)?;
    let study = Study::read(&args.directories).map_err(|error| UserError(error.to_string()))?;
    if study.groups.is_empty() {
        return Err(UserError(nothing(args, &study)).into());
    }
    let named = args.directories.iter().any(|directory| paper::is_named_after(directory));
    let report = Report::new(study, Options { paper: args.paper || named, bare: args.bare });
    if !args.quiet {
        message(&report.summary());
        for note in report.parts.iter().flat_map(|part| &part.notes) {
            message(note);
        }
    }
    let page = report.write(&args.out).map_err(with_way_out)?;
    print(&format!("{}\n", page.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the flag that helps.
fn with_way_out(error: WriteError) -> Error {
    match error {
        WriteError::Taken(_) => UserError(format!("{error}: choose another `--out`")).into(),
        WriteError::Busy(_) => UserError(format!("{error}: wait for it, or choose another `--out`")).into(),
        error => error.into(),
    }
}

fn nothing(args: &args::Report, study: &Study) -> String {
    let places: Vec<String> = args.directories.iter().map(|path| path.display().to_string()).collect();
    let unfinished = match study.unfinished.len() {
        0 => String::new(),
        1 => ": one run there has no result yet".into(),
        n => format!(": {n} runs there have no result yet"),
    };
    format!("there is no finished run in {}{unfinished}", places.join(", "))
}
