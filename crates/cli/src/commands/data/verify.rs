//! `rehearsal data verify`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{
    printable,
    verify::{Bad, Report},
};

use super::{chain, progress, request};
use crate::{
    args::data::Look,
    printer::{message, print},
};

/// Checks data sets and prints the bad files; the exit code is 1 if there are any.
pub fn verify(args: &Look) -> Result<ExitCode> {
    let progress = progress(args.which.quiet);
    let request = request(&args.which, &*progress);
    let mut whole = true;
    for &dataset in chain(&args.which)?.datasets() {
        let report = rehearsal_data::verify::verify(dataset, &request)?;
        whole &= report.is_whole();
        if args.json {
            print(&format!("{}\n", serde_json::json!({ "dataset": dataset, "report": report })))?;
        } else {
            print(&text(&report))?;
            report.notes.iter().for_each(|note| message(&printable(note)));
            let Report { files, records, packs, bad, incomplete, .. } = &report;
            let bad = match bad.len() {
                0 => "no bad files".to_owned(),
                1 => "1 bad file".to_owned(),
                count => format!("{count} bad files"),
            };
            let missing = incomplete.map(|part| format!(", and there are only {part}")).unwrap_or_default();
            message(&format!(
                "{dataset}: {files} files compared, {records} images read, {packs} packs compared: {bad}{missing}"
            ));
        }
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line for each bad file.
fn text(report: &Report) -> String {
    let line = |bad: &Bad| format!("{}\n", printable(&format!("{}: {}", bad.path.display(), bad.why)));
    report.bad.iter().map(line).collect()
}
