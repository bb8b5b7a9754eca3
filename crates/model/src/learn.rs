//! What training sessions of every kind have in common.

use std::fmt;

use rehearsal_files::text::{plural, thousands};
use serde::{Deserialize, Serialize};

use crate::{
    Acceptance, AcceptanceCheck, Event, MemorySize, Model, ModelError, ModelSettings, Names, Report, Score, Version,
};

/// What a user should know before a session learns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Images of earlier sessions, which are not learned again.
    SeenBefore {
        /// How many.
        images: usize,
    },
    /// Photos of earlier sessions that have another class here.
    AnotherClass {
        /// Which class they had, which they have here, and how many.
        photos: Vec<Relabel>,
        /// Whether they move; else they keep the class that they had.
        is_moved: bool,
    },
    /// Duplicates in this session, which are learned once.
    Twice {
        /// How many.
        images: usize,
    },
    /// The same image in two classes; it is taken as the first.
    InTwoClasses {
        /// Its paths.
        paths: (String, String),
    },
    /// All new images are held out: they join the holdout set when there are images to learn.
    OnlyHoldout {
        /// How many.
        images: usize,
    },
    /// Holdout photos of the user's that are left out.
    HoldoutLeftOut {
        /// Those that were learned.
        learned: usize,
        /// Those of classes that the model does not know.
        unknown: usize,
    },
    /// The session was interrupted and continues.
    Continues {
        /// Steps taken before.
        steps: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize| if count == 1 { "1 image".to_owned() } else { format!("{count} images") };
        match self {
            Self::SeenBefore { images } => {
                write!(f, "{} seen before: not learned again", counted(*images))
            }
            Self::AnotherClass { photos, is_moved: false } => write!(f, "{}", another_class(photos)),
            Self::AnotherClass { photos, is_moved: true } => {
                let moved = photos.iter().map(|Relabel { from, to, photos }| {
                    format!("{} moved from `{from}` to `{to}`", plural(*photos, "photo"))
                });
                f.write_str(&moved.collect::<Vec<_>>().join(", "))
            }
            Self::Twice { images } => write!(f, "{} found twice: learned once", counted(*images)),
            Self::InTwoClasses { paths: (first, second) } => {
                write!(f, "the same image in two classes: taken as the first: {first}, {second}")
            }
            Self::OnlyHoldout { images } => {
                write!(f, "{} new, but all of them held out: add more photos to learn from", counted(*images))
            }
            Self::HoldoutLeftOut { learned, unknown } => {
                let parts = [(*learned, "learned before"), (*unknown, "of classes that the model does not know")];
                let parts = parts.iter().filter(|(count, _)| *count > 0);
                let parts: Vec<String> = parts.map(|(count, why)| format!("{count} {why}")).collect();
                write!(f, "holdout photos left out: {}", parts.join(", "))
            }
            Self::Continues { steps } => write!(f, "continues after step {steps}"),
        }
    }
}

/// Photos that were learned as one class and come again as another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relabel {
    /// The class that they had.
    pub from: String,
    /// The class that they have in this session.
    pub to: String,
    /// How many.
    pub photos: usize,
}

/// How many classes are named.
const NAMED: usize = 5;

/// `10 photos are known as another class: 8 of clogs as boots, …`
pub(crate) fn another_class(photos: &[Relabel]) -> String {
    let all: usize = photos.iter().map(|of| of.photos).sum();
    let are = if all == 1 { "is" } else { "are" };
    let of = |Relabel { from, to, photos }: &Relabel| format!("{} as `{from}`, here `{to}`", thousands(*photos));
    let named: Vec<String> = photos.iter().take(NAMED).map(of).collect();
    let more = if photos.len() > NAMED { ", …" } else { "" };
    format!("{} {are} known as another class: {}{more}", plural(all, "photo"), named.join("; "))
}

/// The outcome of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A new version.
    Learned(Box<Report>),
    /// All images were known already.
    NothingNew {
        /// How many.
        images: usize,
    },
    /// Stopped; the same session continues from there.
    Stopped,
}

/// Memory, holdout set and acceptance check of a session. What is not given stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionOptions {
    /// The size of the memory from now on.
    pub memory: Option<MemorySize>,
    /// The most holdout images of a class from now on.
    pub holdout_per_class: Option<usize>,
    /// How many versions are kept from now on.
    pub keep: Option<usize>,
    /// When the version is rejected.
    pub check: AcceptanceCheck,
    /// Whether photos that come again as another class move to it; a model that is trained from scratch
    /// cannot do that.
    pub relabel: bool,
    /// Which names of folders become classes.
    pub names: Names,
}

impl SessionOptions {
    /// Refuses impossible values.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if self.keep == Some(0) {
            return Err(ModelError::Refused("`keep` is 0: it must be at least 1".into()));
        }
        Ok(())
    }

    /// The model's settings after the session.
    pub(crate) fn applied_to(&self, settings: &ModelSettings) -> ModelSettings {
        let mut settings = settings.clone();
        settings.keep = self.keep.unwrap_or(settings.keep);
        settings.holdout_per_class = self.holdout_per_class.unwrap_or(settings.holdout_per_class);
        settings.memory = self.memory.map_or(settings.memory, |memory| memory.to_string());
        settings
    }
}

impl Report {
    /// Of a session that makes the next version, before anything is measured.
    pub(crate) fn new(model: &Model, options: &SessionOptions) -> Self {
        Self {
            version: model.next(),
            parent: (!model.is_empty()).then(|| model.settings().current),
            accepted: true,
            max_forgetting: match options.check {
                AcceptanceCheck::AtMost(most) => Some(most),
                AcceptanceCheck::BeyondChance | AcceptanceCheck::Off => None,
            },
            classes: 0,
            new_classes: Vec::new(),
            images: 0,
            held_out: 0,
            seen_before: 0,
            relabelled: Vec::new(),
            holdout: Score::default(),
            near_duplicates: 0,
            old: None,
            new: None,
            by_class: Vec::new(),
            threshold: None,
            memory: 0,
            memory_capacity: 0,
            bytes: 0,
            training: None,
        }
    }
}

impl Model {
    /// Measures the holdout accuracy, accepts or rejects the version, and changes the model. A rejected version that is
    /// kept already is not kept twice.
    pub(crate) fn finish(
        &mut self,
        mut version: Version,
        parent: Option<&Version>,
        mut settings: ModelSettings,
        options: &SessionOptions,
        mut report: Report,
    ) -> Result<Outcome, ModelError> {
        let after = version.holdout_answers()?;
        let known = parent.map(|parent| parent.classes()).unwrap_or_default();
        let mut examples = version.holdout();
        let before = parent.map_or(Ok(Vec::new()), |parent| {
            examples.retain(|example| known.contains(&example.class) && parent.is_fair_to(example.digest));
            parent.measure(&examples)
        })?;
        let classes = version.classes();
        let acceptance = Acceptance::new(&before, &known, &after, &classes);
        report.new_classes = classes.iter().filter(|class| !known.contains(class)).map(ToString::to_string).collect();
        report.accepted = !acceptance.rejects(options.check);
        report.classes = classes.len();
        report.holdout = Score::of(&after);
        report.near_duplicates = version.near_duplicates();
        report.threshold = version.threshold();
        (report.memory, report.memory_capacity) = (version.memory().len(), version.memory_capacity());
        (report.old, report.new, report.by_class) = (acceptance.old, acceptance.new, acceptance.by_class);
        report.bytes = self.write(report.version, &mut version)?;
        if let Some(same) = settings.rejected_with(&version.sha256).filter(|_| !report.accepted) {
            self.discard(report.version);
            report.version = same;
            return Ok(Outcome::Learned(Box::new(report)));
        }
        settings.last = report.version;
        settings.current = if report.accepted { report.version } else { settings.current };
        settings.vouch_for(report.version, &version.sha256);
        settings.set_rejected(report.version, !report.accepted);
        self.change(settings, Event::Learned(Box::new(report.clone())))?;
        Ok(Outcome::Learned(Box::new(report)))
    }
}
