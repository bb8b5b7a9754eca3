//! `rehearsal data clean`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::{
    clean::{Unused, remove, unused},
    printable,
};
use serde_json::json;

use crate::{
    args::data::Clean,
    printer::{bytes, message, print},
};

/// Removes packs that no data set uses, and prints them.
pub fn clean(args: &Clean) -> Result<ExitCode> {
    let found = unused(args.data.as_deref())?;
    if !args.dry_run {
        found.iter().try_for_each(remove)?;
    }
    let total = found.iter().map(|file| file.bytes).sum();
    if args.json {
        print(&format!("{}\n", json!({ "removed": !args.dry_run, "bytes": total, "files": found })))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&found.iter().map(line).collect::<String>())?;
    let files = if found.len() == 1 { "file" } else { "files" };
    message(&match (found.len(), args.dry_run) {
        (0, _) => "every pack is used".to_owned(),
        (count, true) => format!("{count} {files}, {}, would be removed", bytes(total)),
        (count, false) => format!("{count} {files}, {}, removed", bytes(total)),
    });
    Ok(ExitCode::SUCCESS)
}

/// The file, its size, and why it is not used.
fn line(Unused { path, bytes: size, why, .. }: &Unused) -> String {
    format!("{}\n", printable(&format!("{} ({}): {why}", path.display(), bytes(*size))))
}
