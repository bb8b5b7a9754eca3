//! What training sessions of every kind have in common.

use std::fmt;

use crate::{Acceptance, Event, MemorySize, Model, ModelError, ModelSettings, Report, Score, Version};

/// What a user should know before a session learns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Images of earlier sessions, which are not learned again.
    SeenBefore {
        /// How many.
        images: usize,
        /// How many of these have another class now; the first class stays.
        as_another: usize,
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
            Self::SeenBefore { images, as_another: 0 } => {
                write!(f, "{} seen before: not learned again", counted(*images))
            }
            Self::SeenBefore { images, as_another } => write!(
                f,
                "{} seen before: not learned again; {as_another} of them had another class, which stays",
                counted(*images)
            ),
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
    /// The version is rejected if the classes known before lose more percentage points than this.
    pub max_forgetting: Option<f64>,
}

impl SessionOptions {
    /// Refuses impossible values.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if let Some(points) = self.max_forgetting.filter(|points| !(0.0..=100.0).contains(points)) {
            return Err(ModelError::Refused(format!(
                "`max-forgetting` is {points}: it must be between 0 and 100 percentage points"
            )));
        }
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
            max_forgetting: options.max_forgetting,
            classes: 0,
            new_classes: Vec::new(),
            images: 0,
            held_out: 0,
            seen_before: 0,
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
        report.accepted = !options.max_forgetting.is_some_and(|most| acceptance.rejects(most));
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
