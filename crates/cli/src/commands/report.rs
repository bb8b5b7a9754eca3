//! `rehearsal report`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_report::{
    paper,
    report::{Options, Report, WriteError, may_write},
    study::Study,
};

use crate::{
    args,
    printer::{message, print},
};

/// Reads runs, writes the report, and prints where its page is.
pub fn report(args: &args::Report) -> Result<ExitCode> {
    if let Err(error) = may_write(&args.out) {
        return Ok(refuse(&with_flags(&error)));
    }
    let study = match Study::read(&args.directories) {
        Ok(study) if study.groups.is_empty() => return Ok(refuse(&nothing(args, &study))),
        Ok(study) => study,
        Err(error) => return Ok(refuse(&error.to_string())),
    };
    let named = args.directories.iter().any(|directory| paper::is_named_after(directory));
    let report = Report::new(study, Options { paper: args.paper || named, bare: args.bare });
    if !args.quiet {
        message(&report.summary());
        for note in report.parts.iter().flat_map(|part| &part.notes) {
            message(note);
        }
    }
    let page = match report.write(&args.out) {
        Err(error @ WriteError::Busy(_)) => return Ok(refuse(&with_flags(&error))),
        written => written?,
    };
    print(&format!("{}\n", page.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// With the flag that helps.
fn with_flags(error: &WriteError) -> String {
    match error {
        WriteError::Taken(_) => format!("{error}: choose another `--out`"),
        WriteError::Busy(_) => format!("{error}: wait for it, or choose another `--out`"),
        error => error.to_string(),
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

fn refuse(why: &str) -> ExitCode {
    message(&format!("error: {why}"));
    ExitCode::from(2)
}
