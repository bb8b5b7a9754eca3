//! Accidents: signals that are ignored, requests that match nothing, two programs at once, files of the user beside ours.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    process::{Call, Status},
    random::Random,
    table::{ACCIDENT, ACCIDENTS, accident_files},
    tally::Verdict,
    workspace::{Workspace, copy},
};

/// One trial: a script that fails if something was lost.
pub fn trial(number: usize, workspace: &Workspace, directory: &Path, random: &mut Random) -> Result<(String, Verdict)> {
    let (name, script) = ACCIDENTS[number % ACCIDENTS.len()];
    copy(&workspace.shared("sessions"), directory)?;
    copy(&workspace.shared("learned/shop.model"), &directory.join("shop.model"))?;
    for (path, text) in accident_files() {
        fs::write(directory.join(path), text)?;
    }
    let script = format!("R={}; {ACCIDENT}{script}", workspace.binary().display());
    let delay = 100 + random.below(400);
    let exit =
        Call::new(["bash", "-c", &script, "accident", &delay.to_string()].map(Into::into).into()).run(directory)?;
    let verdict = match exit.status {
        Status::Code(0) if !exit.has_panicked() => Verdict::Same,
        Status::TimedOut => return Ok((name.into(), Verdict::of_failure(&exit).unwrap_or(Verdict::Same))),
        _ => Verdict::another_result(format!("{:?}: {}", exit.status, exit.stderr.trim())),
    };
    Ok((name.into(), verdict.after(name)))
}
