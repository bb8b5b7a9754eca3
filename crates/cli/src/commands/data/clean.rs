//! `rehearsal data clean`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_backbone::{KeptFeatures, kept_features};
use rehearsal_data::{
    clean::{Unused, remove, unused},
    home, printable,
};
use serde_json::json;

use crate::{
    args::data::Clean,
    printer::{bytes, message, print},
};

/// Removes packs that no data set uses, or kept features, and prints them.
pub fn clean(args: &Clean) -> Result<ExitCode> {
    if args.features { clean_features(args) } else { clean_packs(args) }
}

fn clean_features(args: &Clean) -> Result<ExitCode> {
    let (mut removed, mut busy) = (Vec::new(), 0);
    for kept in kept_features(&home::directory(args.data.as_deref())?)? {
        if args.dry_run || kept.remove()? {
            removed.push(kept);
        } else {
            busy += 1;
        }
    }
    let total = removed.iter().map(|kept| kept.bytes).sum();
    if args.json {
        print(&format!(
            "{}\n",
            json!({ "removed": !args.dry_run, "bytes": total, "features": removed, "busy": busy })
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let line =
        |kept: &KeptFeatures| format!("{}\n", printable(&format!("{} ({})", kept.path.display(), bytes(kept.bytes))));
    print(&removed.iter().map(line).collect::<String>())?;
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    message(&format!("features of {} {verb}", bytes(total)));
    if busy > 0 {
        message(&format!("{busy} of another process that computes them now: kept"));
    }
    Ok(ExitCode::SUCCESS)
}

fn clean_packs(args: &Clean) -> Result<ExitCode> {
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
