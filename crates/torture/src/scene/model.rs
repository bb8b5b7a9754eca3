//! `rehearsal learn`, visit after visit, and what else changes a model.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::Scene;
use crate::{
    dice::Dice,
    outcome::Outcome,
    program::{Call, Ending},
    stage::{Stage, bitmap, copy},
};

/// The model of a place.
pub const MODEL: &str = "shop.model";
/// What comes when: classes, and how many photos of each.
const VISITS: [(&str, &[(&str, usize)]); 3] =
    [("january", &[("a", 14), ("b", 14)]), ("february", &[("c", 12), ("a", 6)]), ("march", &[("d", 12)])];
/// What all learn with: a few steps of a small network.
const BASE: &str = "backbone = 'tiny'\nwidth = 4\nepochs = 3\nbatch = 5\nretrieved = 5\ncandidates = 8\n";

/// Three visits to a model, how far each is written down after every step.
pub struct Visits {
    name: &'static str,
    /// More settings of the learner.
    settings: &'static str,
    seed: &'static str,
}

impl Visits {
    /// By what a learner keeps between steps and visits.
    pub fn variants() -> Vec<Self> {
        vec![
            Self { name: "learn pcr, three visits", settings: "", seed: "0" },
            Self {
                name: "learn der-pp, momentum, three visits",
                settings: "method = 'der-pp'\nmomentum = 0.9\n",
                seed: "0",
            },
        ]
    }

    /// As the first of them, from another seed.
    pub fn of_seed(seed: &'static str) -> Self {
        Self { name: "learn", settings: "", seed }
    }

    /// A visit, as a user types it; after the last one, the last again.
    pub fn visit(&self, stage: &Stage, number: usize) -> Call {
        let (visit, _) = VISITS[number.min(VISITS.len() - 1)];
        let words = ["learn", MODEL, visit, "--settings", "small.toml", "--seed", self.seed, "--memory", "24"];
        stage.call(&[&words[..], &["--threads", "1", "--checkpoint-every", "0", "--keep", "9"]].concat())
    }
}

impl Scene for Visits {
    fn name(&self) -> String {
        self.name.into()
    }

    fn prepare(&self, place: &Path) -> Result<()> {
        let mut dice = Dice::new(0, "visits", 0);
        for (visit, classes) in VISITS {
            for (number, (class, count)) in classes.iter().enumerate() {
                let folder = place.join(visit).join(class);
                fs::create_dir_all(&folder)?;
                for i in 0..*count {
                    fs::write(folder.join(format!("{i}.bmp")), bitmap(18, 16, (90 * number) as u8, &mut dice))?;
                }
            }
        }
        Ok(fs::write(place.join("small.toml"), format!("{BASE}{}", self.settings))?)
    }

    fn next(&self, stage: &Stage, place: &Path) -> Call {
        self.visit(stage, versions_made(place))
    }

    fn calls(&self) -> usize {
        VISITS.len()
    }

    fn is_over(&self, place: &Path) -> bool {
        versions_made(place) >= VISITS.len()
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        Outcome::of_model(&place.join(MODEL))
    }
}

/// How many versions a model has had, as its settings say.
fn versions_made(place: &Path) -> usize {
    setting(place, "last").unwrap_or(0)
}

/// A number of `model.toml`.
fn setting(place: &Path, name: &str) -> Option<usize> {
    let text = fs::read_to_string(place.join(MODEL).join("model.toml")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('=')?.trim().parse().ok())
}

/// Images removed from every version, a class renamed, one retired, another version used.
pub struct Changes {
    learned: PathBuf,
}

/// In this order.
const CHANGES: [&[&str]; 4] = [
    &["memory", MODEL, "remove", "january/a/1*"],
    &["class", MODEL, "rename", "b", "wooden shoes"],
    &["class", MODEL, "retire", "c"],
    &["use", MODEL, "2"],
];

impl Changes {
    /// Of a model that all trials begin with.
    pub fn new(stage: &Stage) -> Result<Self> {
        let learned = stage.shared("learned");
        if !learned.exists() {
            let visits = Visits::of_seed("0");
            visits.prepare(&learned)?;
            for number in 0..VISITS.len() {
                let ending = visits.visit(stage, number).run(&learned)?;
                anyhow::ensure!(ending.is_done(), "learning, undisturbed: {}", ending.errors);
            }
        }
        Ok(Self { learned })
    }

    /// The model, and the photos that it has learned.
    pub fn learned(&self) -> &Path {
        &self.learned
    }
}

impl Scene for Changes {
    fn name(&self) -> String {
        "memory remove, class rename and retire, use".into()
    }

    fn prepare(&self, place: &Path) -> Result<()> {
        copy(&self.learned.join(MODEL), &place.join(MODEL))
    }

    fn next(&self, stage: &Stage, place: &Path) -> Call {
        let done = changes_made(place).unwrap_or(VISITS.len()).saturating_sub(VISITS.len());
        stage.call(CHANGES[done.min(CHANGES.len() - 1)])
    }

    fn calls(&self) -> usize {
        CHANGES.len()
    }

    fn is_over(&self, place: &Path) -> bool {
        changes_made(place).is_ok_and(|made| made >= VISITS.len() + CHANGES.len())
    }

    fn outcome(&self, place: &Path, _: &Ending) -> Result<Outcome> {
        Outcome::of_model(&place.join(MODEL))
    }
}

/// How many lines of the history count.
fn changes_made(place: &Path) -> Result<usize> {
    let bytes = fs::read(place.join(MODEL).join("history.jsonl"))?;
    let vouched = setting(place, "history-bytes").context("model.toml says nothing of the history")?;
    Ok(bytes.iter().take(vouched).filter(|byte| **byte == b'\n').count())
}
