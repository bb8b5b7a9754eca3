//! All parts one after another, bounded by time or by number.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;

use crate::{
    dice::Dice,
    faults, folders, kills, mutations,
    scene::{self, Rehearsed},
    servers,
    stage::{Stage, clear},
    strace, syncs,
    tally::{Tally, Verdict},
};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    Kills,
    Faults,
    Mutations,
    Folders,
    Servers,
    Syncs,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Kills => "kills",
            Self::Faults => "faults",
            Self::Mutations => "mutations",
            Self::Folders => "folders",
            Self::Servers => "servers",
            Self::Syncs => "syncs",
        }
    }

    /// The share of the time after which it is over, with all parts before it.
    fn end(self) -> f64 {
        match self {
            Self::Kills => 0.35,
            Self::Faults => 0.5,
            Self::Mutations => 0.85,
            Self::Folders => 0.95,
            Self::Servers | Self::Syncs => 1.0,
        }
    }
}

/// How much of what.
#[derive(clap::Args)]
pub struct Session {
    /// Every trial is made from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Some of everything, for so long; else by number
    #[arg(long)]
    seconds: Option<f64>,
    /// How often something is killed
    #[arg(long, default_value_t = 1000)]
    kills: usize,
    /// How many faults of the disk
    #[arg(long, default_value_t = 200)]
    faults: usize,
    /// How many damaged files
    #[arg(long, default_value_t = 2000)]
    mutations: usize,
    /// How many hostile folders
    #[arg(long, default_value_t = 324)]
    folders: usize,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// The number of the first trial
    #[arg(long, default_value_t = 0)]
    first: usize,
    /// Only the trial of this number
    #[arg(long)]
    trial: Option<usize>,
    /// Where places of trials are, and stay if something is wrong with them
    #[arg(long)]
    work: Option<PathBuf>,
}

/// What a part has left.
struct Bounds {
    until: Option<Instant>,
    trial: usize,
    /// Before this one, time does not count.
    at_least: usize,
    only: bool,
}

/// However slow a machine is, so much of each part is done.
const AT_LEAST: usize = 8;

impl Session {
    /// True if nothing is wrong.
    pub fn run(&self, binary: &Path) -> Result<bool> {
        let begun = Instant::now();
        let temporary = tempfile::Builder::new().prefix("torture").tempdir()?;
        let work = self.work.clone().unwrap_or_else(|| temporary.path().into());
        std::fs::create_dir_all(&work)?;
        let stage = Stage::new(binary, &work)?;
        let mut tally = Tally::default();
        let traced = strace::is_there();
        if !traced {
            eprintln!(
                "strace is missing or may not trace: no kills and no errors at system calls, only at moments and sizes"
            );
        }
        let wanted = |part: Part| self.only.is_empty() || self.only.contains(&part);
        if wanted(Part::Kills) || wanted(Part::Faults) || wanted(Part::Syncs) {
            let scenes = scene::all(&stage, traced, self.seconds.is_some())?;
            if wanted(Part::Syncs) && traced {
                sync(self.bounds(Part::Syncs, begun), &scenes, &stage, &mut tally)?;
            }
            for part in [Part::Kills, Part::Faults].into_iter().filter(|&part| wanted(part)) {
                self.disturb(self.bounds(part, begun), part, &scenes, &stage, &mut tally)?;
            }
        }
        if wanted(Part::Mutations) {
            self.mutate(self.bounds(Part::Mutations, begun), &stage, &mut tally)?;
        }
        if wanted(Part::Folders) {
            self.fold(self.bounds(Part::Folders, begun), &stage, &mut tally)?;
        }
        if wanted(Part::Servers) {
            self.serve(self.bounds(Part::Servers, begun), &stage, &mut tally)?;
        }
        print!("{}", tally.table());
        if !tally.is_clean() {
            eprintln!("something is wrong: places are kept in {}", work.display());
            let _ = temporary.keep();
        }
        Ok(tally.is_clean())
    }

    fn bounds(&self, part: Part, begun: Instant) -> Bounds {
        let end = if self.only.is_empty() { part.end() } else { 1.0 };
        let until = self.seconds.map(|seconds| begun + Duration::from_secs_f64(seconds * end));
        let trial = self.trial.unwrap_or(self.first);
        Bounds { until, trial, at_least: trial + AT_LEAST, only: self.trial.is_some() }
    }

    fn disturb(
        &self,
        mut bounds: Bounds,
        part: Part,
        scenes: &[Rehearsed],
        stage: &Stage,
        tally: &mut Tally,
    ) -> Result<()> {
        let number = if part == Part::Kills { self.kills } else { self.faults };
        while bounds.go_on(tally.disturbed(part.name()) < number) {
            let mut dice = Dice::new(self.seed, part.name(), bounds.trial);
            let rehearsed = &scenes[bounds.trial % scenes.len()];
            let place = stage.place(&format!("{}{}", part.name(), bounds.trial))?;
            let trial = if part == Part::Kills { kills::trial } else { faults::trial };
            let (disturbed, verdict) = trial(rehearsed, stage, &place, &mut dice)
                .with_context(|| format!("{} {}", part.name(), bounds.trial))?;
            tally.count(part.name(), &rehearsed.scene.name(), disturbed, &verdict);
            tell(part, &mut bounds, &place, &verdict)?;
            stage.note(&tally.table())?;
        }
        Ok(())
    }

    fn mutate(&self, mut bounds: Bounds, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let subjects = mutations::subjects(stage, self.seconds.is_some())?;
        let part = Part::Mutations;
        while bounds.go_on(tally.disturbed(part.name()) < self.mutations) {
            let mut dice = Dice::new(self.seed, part.name(), bounds.trial);
            let subject = &subjects[bounds.trial % subjects.len()];
            let place = stage.place(&format!("{}{}", part.name(), bounds.trial))?;
            let verdict = mutations::trial(subject, stage, &place, &mut dice)
                .with_context(|| format!("{} {}", part.name(), bounds.trial))?;
            tally.count(part.name(), &subject.name, 1, &verdict);
            tell(part, &mut bounds, &place, &verdict)?;
            stage.note(&tally.table())?;
        }
        Ok(())
    }

    fn fold(&self, mut bounds: Bounds, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let part = Part::Folders;
        while bounds.go_on(tally.disturbed(part.name()) < self.folders) {
            let mut dice = Dice::new(self.seed, part.name(), bounds.trial);
            let place = stage.place(&format!("{}{}", part.name(), bounds.trial))?;
            let (name, verdict) = folders::trial(bounds.trial, stage, &place, &mut dice)?;
            tally.count(part.name(), name, 1, &verdict);
            tell(part, &mut bounds, &place, &verdict)?;
            stage.note(&tally.table())?;
        }
        Ok(())
    }

    /// Every server once, all at the same time, because most of it is waiting; those that are slow only
    /// without a limit of time.
    fn serve(&self, mut bounds: Bounds, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let (part, expected) = (Part::Servers, servers::expected(stage)?);
        let slow = if self.seconds.is_none() { servers::SLOW } else { &[] };
        let number = if bounds.only { 1 } else { usize::MAX };
        let all: Vec<_> = servers::QUICK.iter().chain(slow).enumerate().skip(bounds.trial).take(number).collect();
        let done = thread::scope(|scope| {
            let start = |&(trial, &(name, answer)): &(usize, &(&'static str, servers::Answer))| {
                let expected = &expected;
                scope.spawn(move || -> Result<_> {
                    let place = stage.place(&format!("{}{trial}", part.name()))?;
                    let verdict = servers::trial(answer, name, stage, &place, expected)?;
                    Ok((name, place, verdict))
                })
            };
            let started: Vec<_> = all.iter().map(start).collect();
            let ended =
                started.into_iter().map(|trial| trial.join().map_err(|_| anyhow!("a server's trial broke down"))?);
            ended.collect::<Result<Vec<_>>>()
        })?;
        for (name, place, verdict) in done {
            tally.count(part.name(), name, 1, &verdict);
            tell(part, &mut bounds, &place, &verdict)?;
        }
        stage.note(&tally.table())
    }
}

/// Every scene once, and a download.
fn sync(mut bounds: Bounds, scenes: &[Rehearsed], stage: &Stage, tally: &mut Tally) -> Result<()> {
    let part = Part::Syncs;
    while bounds.go_on(bounds.trial <= scenes.len()) && bounds.trial <= scenes.len() {
        let place = stage.place(&format!("{}{}", part.name(), bounds.trial))?;
        let (name, verdict) = if let Some(rehearsed) = scenes.get(bounds.trial) {
            (rehearsed.scene.name(), syncs::of_scene(rehearsed, stage, &place)?)
        } else {
            let call = servers::from_a_good_one(stage)?;
            ("data fetch, from a server".to_owned(), syncs::of_call(call, &place)?)
        };
        tally.count(part.name(), &name, 1, &verdict);
        tell(part, &mut bounds, &place, &verdict)?;
        stage.note(&tally.table())?;
    }
    Ok(())
}

impl Bounds {
    /// Whether there is another trial; `few` if the number is not reached.
    fn go_on(&self, few: bool) -> bool {
        match (self.only, self.until) {
            (true, _) => self.trial != usize::MAX,
            (false, Some(until)) => self.trial < self.at_least || Instant::now() < until,
            (false, None) => few,
        }
    }
}

/// Says what is wrong and keeps its place; else clears it. Then comes the next.
fn tell(part: Part, bounds: &mut Bounds, place: &Path, verdict: &Verdict) -> Result<()> {
    if let Some((_, what)) = verdict.wrong() {
        eprintln!("{} --trial {}: {}: {what}", part.name(), bounds.trial, verdict.column());
    } else {
        if bounds.only {
            eprintln!("{} --trial {}: {verdict:?}", part.name(), bounds.trial);
        }
        clear(place)?;
    }
    bounds.trial = if bounds.only { usize::MAX } else { bounds.trial + 1 };
    Ok(())
}
