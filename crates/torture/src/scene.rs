//! What is tortured: something that a user begins, that can be stopped anywhere, and that comes to
//! the same end.

mod fetch;
mod grid;
mod model;
mod pack;
mod report;
mod run;

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, bail};

use crate::{
    outcome::Outcome,
    program::{Call, Ending},
    stage::{Stage, clear},
    strace::{self, Counts},
};
pub use fetch::Fetch;
pub use grid::Grid;
pub use model::{Changes, MODEL, Visits};
pub use pack::{PACKS, Pack};
pub use report::Report;
pub use run::Run;

/// Something that a user begins and that ends with a result.
pub trait Scene {
    fn name(&self) -> String;

    /// Puts what it begins with into an empty place.
    fn prepare(&self, place: &Path) -> Result<()>;

    /// What a user would type next: to begin, or to go on with what is there.
    fn next(&self, stage: &Stage, place: &Path) -> Call;

    /// How many calls it takes, undisturbed.
    fn calls(&self) -> usize {
        1
    }

    /// Whether nothing is left to type, after a call has ended well.
    fn is_over(&self, _: &Path) -> bool {
        true
    }

    /// What came out, after the last call has ended well.
    fn outcome(&self, place: &Path, last: &Ending) -> Result<Outcome>;
}

/// A scene, and what it is like undisturbed.
pub struct Rehearsed {
    pub scene: Box<dyn Scene>,
    pub outcome: Outcome,
    /// The longest of its calls.
    pub lasts: Duration,
    /// How often a call makes system calls, at most; nothing without strace.
    pub calls: Counts,
}

impl Rehearsed {
    /// Does it twice, undisturbed, which must come to the same.
    pub fn new(scene: Box<dyn Scene>, stage: &Stage, traced: bool) -> Result<Self> {
        let place = stage.place("undisturbed")?;
        let mut ends = Vec::new();
        for _ in 0..2 {
            let place = stage.place("undisturbed")?;
            scene.prepare(&place)?;
            let mut lasted = Duration::ZERO;
            for number in 1.. {
                let call = scene.next(stage, &place);
                let ending = call.run(&place)?;
                if !ending.is_done() || number > scene.calls() {
                    bail!("{}, undisturbed: {:?}: {}", call.text(), ending.ended, ending.errors);
                }
                lasted = lasted.max(ending.lasted);
                if scene.is_over(&place) {
                    ends.push((scene.outcome(&place, &ending).with_context(|| scene.name())?, lasted));
                    break;
                }
            }
        }
        let (again, lasts) = ends.pop().context("two")?;
        let (outcome, other) = ends.pop().context("two")?;
        if let Some(difference) = outcome.difference(&again) {
            bail!("{} is not the same twice, undisturbed: {difference}", scene.name());
        }
        let mut calls = Counts::new();
        if traced {
            let place = stage.place("undisturbed")?;
            scene.prepare(&place)?;
            for _ in 0..scene.calls() {
                for (name, count) in strace::count(&scene.next(stage, &place), &place)? {
                    let most = calls.entry(name).or_default();
                    *most = count.max(*most);
                }
            }
        }
        clear(&place)?;
        Ok(Self { scene, outcome, lasts: lasts.min(other), calls })
    }

    /// Types on until it is over or a call fails: how the last one ended.
    pub fn finish(&self, stage: &Stage, place: &Path) -> Result<Ending> {
        loop {
            let ending = self.scene.next(stage, place).run(place)?;
            if !ending.is_done() || self.scene.is_over(place) {
                return Ok(ending);
            }
        }
    }

    /// Compares what is in a place with what should be.
    pub fn compare(&self, place: &Path, last: &Ending) -> Option<String> {
        match self.scene.outcome(place, last) {
            Ok(found) => self.outcome.difference(&found),
            Err(error) => Some(format!("{error:#}")),
        }
    }
}

/// Every scene, rehearsed; a few for a short time.
pub fn all(stage: &Stage, traced: bool, short: bool) -> Result<Vec<Rehearsed>> {
    let mut scenes: Vec<Box<dyn Scene>> = Vec::new();
    for visits in Visits::variants() {
        scenes.push(Box::new(visits));
    }
    scenes.push(Box::new(Changes::new(stage)?));
    let runs = run::variants(&stage.photos()?).into_iter();
    for run in runs.take(if short { 3 } else { usize::MAX }) {
        scenes.push(Box::new(run));
    }
    scenes.push(Box::new(Grid));
    scenes.push(Box::new(Report::new(stage)?));
    scenes.push(Box::new(Pack { photos: stage.photos()? }));
    scenes.push(Box::new(Fetch { archive: stage.archive()? }));
    scenes.into_iter().map(|scene| Rehearsed::new(scene, stage, traced)).collect()
}
