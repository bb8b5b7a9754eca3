//! Every kind of file that the program writes, damaged before it reads it again.

mod judges;
mod subjects;

use std::path::Path;

use anyhow::{Context, Result};
pub use subjects::subjects;

use crate::{
    damage::damage,
    dice::Dice,
    program::{Call, Ending},
    stage::{Stage, copy},
    tally::Verdict,
};

/// Looks at a place with a damaged file: what does the program make of it?
pub type Judge = Box<dyn Fn(&Stage, &Path) -> Result<Verdict>>;

/// A file to damage, where it stands, and who reads it.
pub struct Subject {
    /// In the table.
    pub name: String,
    /// What the place is a copy of.
    pub template: std::path::PathBuf,
    /// Which file of it.
    pub file: String,
    /// A file of the same kind from elsewhere.
    pub other: Option<std::path::PathBuf>,
    pub judge: std::rc::Rc<Judge>,
}

/// One trial.
pub fn trial(subject: &Subject, stage: &Stage, place: &Path, dice: &mut Dice) -> Result<Verdict> {
    copy(&subject.template, place)?;
    let how = damage(&place.join(&subject.file), subject.other.as_deref(), dice)
        .with_context(|| format!("{} of {}", subject.file, subject.template.display()))?;
    let told = |why: &str| format!("{}: {how}: {why}", subject.file);
    Ok(match (subject.judge)(stage, place)? {
        Verdict::Another(why) => Verdict::Another(told(&why)),
        Verdict::Stuck(why) => Verdict::Stuck(told(&why)),
        Verdict::Mute(why) => Verdict::Mute(told(&why)),
        Verdict::Panic(why) => Verdict::Panic(told(&why)),
        Verdict::Signal(why) => Verdict::Signal(told(&why)),
        Verdict::Hang(why) => Verdict::Hang(told(&why)),
        verdict => verdict,
    })
}

/// What a call came to, if it ended well: its ending; else the verdict.
fn ended(call: &Call, place: &Path) -> Result<Result<Ending, Verdict>> {
    let ending = call.run(place)?;
    Ok(Verdict::of_failure(&ending).map_or(Ok(ending), Err))
}
