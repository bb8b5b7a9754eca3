//! Learning from a visit: killed at any moment, it goes on to the same bits.

use std::{
    fmt,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use rehearsal::{
    Learner,
    learner::{Fit, FitOptions, Recalibration},
    observer::{Observer, StepEvent},
    sample::Image,
};
use rehearsal_files::{sha256::sha256, threads::on_threads};

use crate::{
    Digest, Event, Gate, MemorySize, Model, ModelError, ModelSettings, Report, Score, Version, Visit,
    sort::{Sorted, sort},
    threshold::threshold,
};

/// What is worth knowing before the first step of a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Images of an earlier visit, which are not counted twice.
    SeenBefore {
        /// How many.
        images: usize,
        /// How many of these came as another class now; the first class stays.
        as_another: usize,
    },
    /// Images that came more than once in this visit, and are counted once.
    Twice {
        /// How many.
        images: usize,
    },
    /// The same image in two classes; it is taken as the first.
    InTwoClasses {
        /// Its paths.
        paths: (String, String),
    },
    /// New images, but all of them are kept back for the exam, which they join with others to learn.
    OnlyExam {
        /// How many.
        images: usize,
    },
    /// The visit was interrupted and is continued.
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
                write!(f, "{} seen before, not counted twice", counted(*images))
            }
            Self::SeenBefore { images, as_another } => write!(
                f,
                "{} seen before, not counted twice; {as_another} of these as another class, which stays",
                counted(*images)
            ),
            Self::Twice { images } => write!(f, "{} in this folder twice, counted once", counted(*images)),
            Self::InTwoClasses { paths: (first, second) } => {
                write!(f, "the same image in two classes, taken as the first: {first}, {second}")
            }
            Self::OnlyExam { images } => write!(
                f,
                "{} new, but kept back for the exam: they come into it with others to learn",
                counted(*images)
            ),
            Self::Continues { steps } => write!(f, "going on after step {steps}"),
        }
    }
}

/// A callback of [`Model::learn`].
pub trait LearnObserver: Observer {
    /// Before the first step.
    fn notice(&mut self, _: &Notice) {}
}

/// Watches nothing.
impl LearnObserver for () {}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A new version.
    Learned(Box<Report>),
    /// All images were known already.
    NothingNew {
        /// How many.
        images: usize,
    },
    /// The observer stopped it: the same visit goes on from there.
    Stopped,
}

/// Passes the events on, and writes down from time to time how far the learning is.
struct Saver<'a> {
    model: &'a Model,
    key: &'a str,
    every: Duration,
    saved: Instant,
    observer: &'a mut (dyn LearnObserver + Send),
    /// Why it could not go on.
    failed: Option<ModelError>,
}

impl Observer for Saver<'_> {
    fn before_step(&mut self, learner: &Learner) {
        self.observer.before_step(learner);
    }

    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let stop = self.observer.step(event);
        if stop.is_continue() && self.saved.elapsed() < self.every {
            return stop;
        }
        self.saved = Instant::now();
        match self.model.write_down(event.learner, self.key, event.loss) {
            Ok(()) => stop,
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Model {
    /// Learns from a visit and makes a new version of what was learned.
    ///
    /// # Errors
    /// The visit makes no sense for this model, or it cannot be written. Then the model is as it
    /// was, and if learning had begun, the same visit goes on where it was written down last.
    pub fn learn(&mut self, visit: Visit, observer: &mut (dyn LearnObserver + Send)) -> Result<Outcome, ModelError> {
        let threads = self.threads();
        on_threads(threads, || self.learn_here(visit, observer))
            .map_err(|error| ModelError::Threads(error.to_string()))?
    }

    fn learn_here(
        &mut self,
        mut visit: Visit,
        observer: &mut (dyn LearnObserver + Send),
    ) -> Result<Outcome, ModelError> {
        let parent = if self.is_empty() { None } else { Some(self.current()?) };
        visit.check(parent.as_ref().map(|parent| parent.learner.config()))?;
        let settings = self.settings_of(&visit);
        let shape = visit.shape(parent.as_ref().map(|parent| parent.learner.shape()))?;
        let sorted = sort(std::mem::take(&mut visit.photos), parent.as_ref(), settings.exam_per_class);
        notices(&sorted).iter().for_each(|notice| observer.notice(notice));
        if sorted.lesson.is_empty() {
            // This very visit may have been killed when it was done.
            self.clear();
            return Ok(Outcome::NothingNew { images: sorted.seen_before + sorted.twice + sorted.exam.len() });
        }
        let mut version = match &parent {
            Some(parent) => parent.clone(),
            None => Version::new(self.begin(&visit, &sorted, shape)?),
        };
        prepare(&mut version.learner, &visit, &settings, &sorted)?;
        let key = key(parent.as_ref(), self.settings().current, &version.learner, &sorted, &visit);
        let before = version.learner.cursor().steps;
        let mut loss = None;
        if let Some(underway) = self.underway(&key) {
            observer.notice(&Notice::Continues { steps: underway.learner.cursor().steps.saturating_sub(before) });
            (version.learner, loss) = (underway.learner, underway.loss);
        }
        let fit = self.fit(&mut version.learner, &sorted, &key, &visit, observer)?;
        if fit.is_stopped {
            return Ok(Outcome::Stopped);
        }
        let report = Report {
            version: self.next(),
            parent: parent.as_ref().map(|_| self.settings().current),
            used: true,
            max_forgetting: visit.max_forgetting,
            classes: 0,
            new_classes: Vec::new(),
            images: sorted.lesson.len(),
            kept_back: sorted.exam.len(),
            seen_before: sorted.seen_before,
            exam: Score::default(),
            old: None,
            new: None,
            by_class: Vec::new(),
            threshold: None,
            memory: 0,
            memory_capacity: 0,
            bytes: 0,
            epochs: version.learner.epochs(sorted.lesson.len()),
            steps: version.learner.cursor().steps - before,
            loss: if fit.steps > 0 { fit.loss } else { loss },
            recalibrated: matches!(fit.recalibration, Some(Recalibration::Done { .. })),
        };
        add_lesson(&mut version, sorted);
        self.finish(version, parent.as_ref(), settings, &visit, report)
    }

    /// Learns what is left of the visit.
    fn fit(
        &self,
        learner: &mut Learner,
        sorted: &Sorted,
        key: &str,
        visit: &Visit,
        observer: &mut (dyn LearnObserver + Send),
    ) -> Result<Fit, ModelError> {
        let (images, labels): (Vec<Image>, Vec<&str>) =
            sorted.lesson.iter().map(|(_, photo)| (photo.image.clone(), photo.class.as_str())).unzip();
        let samples = learner.samples(&images, &labels)?;
        let every = visit.checkpoint_every;
        let mut saver = Saver { model: self, key, every, saved: Instant::now(), observer, failed: None };
        let options = FitOptions { recalibrate: visit.recalibrate, ..FitOptions::default() };
        let fit = learner.fit(&samples, options, &mut saver)?;
        saver.failed.map_or(Ok(fit), Err)
    }

    /// What the model's settings are after the visit.
    fn settings_of(&self, visit: &Visit) -> ModelSettings {
        let mut settings = self.settings().clone();
        settings.keep = visit.keep.unwrap_or(settings.keep);
        settings.exam_per_class = visit.exam_per_class.unwrap_or(settings.exam_per_class);
        settings.memory = visit.memory().map_or(settings.memory, |memory| memory.to_string());
        settings
    }

    /// A learner for a new model.
    fn begin(&self, visit: &Visit, sorted: &Sorted, shape: rehearsal_data::ImageShape) -> Result<Learner, ModelError> {
        let mut names: Vec<&str> = sorted.lesson.iter().map(|(_, photo)| photo.class.as_str()).collect();
        names.dedup();
        if let [only] = names[..] {
            return Err(ModelError::OneClass(only.to_owned()));
        }
        let mut given = visit.settings.clone();
        given.memory = None;
        Ok(Learner::builder().shape(shape).settings(&given).threads(self.threads()).build()?)
    }

    /// Holds the exam, decides whether the version is used, and changes the model.
    fn finish(
        &mut self,
        mut version: Version,
        parent: Option<&Version>,
        mut settings: ModelSettings,
        visit: &Visit,
        mut report: Report,
    ) -> Result<Outcome, ModelError> {
        let after = version.exam.take(&version.learner)?;
        let before = parent.map_or(Ok(Vec::new()), |parent| version.exam.take(&parent.learner))?;
        let classes = version.learner.classes();
        let known = parent.map(|parent| parent.learner.classes());
        let gate = Gate::new(&before, known, &after, classes);
        let is_new = |name: &&str| known.is_none_or(|known| known.find(name).is_none());
        let active = classes.active().map(|class| &**classes.name(class));
        report.new_classes = active.filter(is_new).map(str::to_owned).collect();
        report.used = !visit.max_forgetting.is_some_and(|most| gate.is_shut(most));
        report.classes = classes.active().count();
        report.exam = Score::of(&after);
        version.threshold = threshold(&after);
        report.threshold = version.threshold;
        (report.memory, report.memory_capacity) = (version.learner.memory().len(), version.learner.memory().capacity());
        (report.old, report.new, report.by_class) = (gate.old, gate.new, gate.by_class);
        report.bytes = self.write(report.version, &mut version)?;
        settings.last = report.version;
        settings.current = if report.used { report.version } else { settings.current };
        settings.vouch_for(report.version, &version.sha256);
        self.change(settings, Event::Learned(Box::new(report.clone())))?;
        Ok(Outcome::Learned(Box::new(report)))
    }
}

fn notices(sorted: &Sorted) -> Vec<Notice> {
    let Sorted { seen_before, seen_as_another, twice, .. } = *sorted;
    let only_exam = sorted.lesson.is_empty() && !sorted.exam.is_empty();
    let notices = [
        (seen_before > 0).then_some(Notice::SeenBefore { images: seen_before, as_another: seen_as_another }),
        (twice > 0).then_some(Notice::Twice { images: twice }),
        sorted.in_two_classes.clone().map(|paths| Notice::InTwoClasses { paths }),
        only_exam.then_some(Notice::OnlyExam { images: sorted.exam.len() }),
    ];
    notices.into_iter().flatten().collect()
}

/// Gives a learner what it needs for a visit: its schedule and memory.
fn prepare(learner: &mut Learner, visit: &Visit, settings: &ModelSettings, sorted: &Sorted) -> Result<(), ModelError> {
    learner.set_pace(visit.pace())?;
    let memory: MemorySize = settings.memory.parse().map_err(ModelError::Refused)?;
    let memory = memory.images(learner.shape());
    let mut classes = learner.classes().clone();
    for (_, photo) in &sorted.lesson {
        let _ = classes.appear(&photo.class);
    }
    let count = classes.active().count();
    if learner.config().method.kind.replays() {
        if memory < count {
            return Err(ModelError::SmallMemory { memory, classes: count });
        }
        learner.set_memory(memory)?;
    }
    Ok(())
}

/// What identifies a visit: from where, how, and from which images in which order.
fn key(parent: Option<&Version>, number: u32, learner: &Learner, sorted: &Sorted, visit: &Visit) -> String {
    let mut config = learner.config().clone();
    config.threads = 1;
    let images = |list: &[(Digest, crate::Photo)]| -> Vec<(String, String)> {
        list.iter().map(|(digest, photo)| (digest.to_string(), photo.class.clone())).collect()
    };
    let parts = serde_json::json!({
        "parent": parent.map(|parent| (number, &parent.sha256)),
        "config": config,
        "shape": learner.shape(),
        "lesson": images(&sorted.lesson),
        "exam": images(&sorted.exam),
        "recalibrate": visit.recalibrate,
    });
    sha256(parts.to_string().as_bytes())
}

/// What was learned is known from now on, and what was kept back is asked.
fn add_lesson(version: &mut Version, sorted: Sorted) {
    let classes = version.learner.classes();
    for (digest, photo) in &sorted.lesson {
        let class = classes.find(&photo.class).expect("the classes of a visit are known");
        version.learned.insert(*digest, class);
        version.sources.insert(*digest, photo.source.clone());
    }
    version.exam.add(sorted.exam, classes);
}

#[cfg(test)]
mod tests {
    use rehearsal::{config::PartialConfig, network::BackboneKind};

    use super::*;
    use crate::Photo;

    /// Noise that its class colours, class by class.
    fn photos(classes: &[&str]) -> Vec<Photo> {
        let image = |class: &str, number: usize| -> Image {
            let tint = usize::from(class.as_bytes()[0]) * 83;
            (0..16 * 16 * 3).map(|i| ((i * (number + 7) * 31 + tint * (i % 3 + 1)) % 256) as u8).collect()
        };
        let photo = |class: &str, number: usize| Photo {
            class: class.into(),
            source: format!("{class}/{number}.png"),
            image: image(class, number),
        };
        classes.iter().flat_map(|class| (0..13).map(|number| photo(class, number))).collect()
    }

    fn visit(photos: Vec<Photo>) -> Visit {
        let settings = PartialConfig::parse("seed = 1\nbackbone = 'tiny'\nwidth = 4").unwrap();
        Visit { settings, exam_per_class: Some(0), ..Visit::new(photos) }
    }

    #[test]
    fn a_model_learns_what_the_library_learns_from_the_same_photos() {
        let place = tempfile::tempdir().unwrap();
        let mut model = Model::open_or_create(&place.path().join("shop.model")).unwrap();
        let builder = Learner::builder().size(16).seed(1).backbone(BackboneKind::Tiny).width(4);
        let mut learner = builder.threads(model.threads()).build().unwrap();
        for classes in [&["boots", "clogs"][..], &["ankle boots", "mules"]] {
            let photos = photos(classes);
            let (images, labels): (Vec<Image>, Vec<&str>) =
                photos.iter().map(|photo| (photo.image.clone(), photo.class.as_str())).unzip();
            learner.learn_task(&images, &labels).unwrap();
            let Outcome::Learned(report) = model.learn(visit(photos.clone()), &mut ()).unwrap() else {
                panic!("nothing was learned")
            };
            assert_eq!((report.images, report.steps, report.epochs), (26, 24, 12));
            let version = model.current().unwrap().learner;
            assert_eq!(version.config(), learner.config());
            assert!(version.network().state() == learner.network().state(), "another network");
            assert_eq!(version.memory(), learner.memory());
            assert_eq!(version.calibration_images(), Some(learner.memory().len()), "both have recalibrated");
            assert_eq!(version.predict(&images).unwrap(), learner.predict(&images).unwrap());
        }
    }

    /// Keeps the notices, and stops after the first step.
    #[derive(Default)]
    struct Stopping(Vec<Notice>);

    impl Observer for Stopping {
        fn step(&mut self, _: &StepEvent) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }

    impl LearnObserver for Stopping {
        fn notice(&mut self, notice: &Notice) {
            self.0.push(notice.clone());
        }
    }

    #[test]
    fn a_visit_that_is_stopped_at_every_step_is_the_same_version_in_the_end() {
        let place = tempfile::tempdir().unwrap();
        let learn = |name: &str, observer: &mut (dyn LearnObserver + Send)| {
            let mut model = Model::open_or_create(&place.path().join(name)).unwrap();
            (model.learn(visit(photos(&["boots", "clogs"])), observer).unwrap(), model)
        };
        let (whole, model) = learn("whole.model", &mut ());
        let mut observer = Stopping::default();
        let (parted, again) = loop {
            match learn("parted.model", &mut observer) {
                (Outcome::Stopped, _) => {}
                ended => break ended,
            }
        };
        assert_eq!(parted, whole, "the report too");
        assert_eq!(observer.0, (1..=24).map(|steps| Notice::Continues { steps }).collect::<Vec<_>>());
        let states = [model, again].map(|model| model.current().unwrap().learner.network().state());
        assert!(states[0] == states[1]);
    }

    #[test]
    fn a_visit_that_diverges_leaves_the_model_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let mut model = Model::open_or_create(&place.path().join("shop.model")).unwrap();
        let mut visit = visit(photos(&["boots", "clogs"]));
        visit.settings.lr = Some(1e38);
        let error = model.learn(visit, &mut ()).unwrap_err();
        let diverged = matches!(error, ModelError::Learner(rehearsal::learner::LearnerError::Diverged { .. }));
        assert!(diverged && !error.is_user_error(), "{error}");
        assert!(model.is_empty());
    }
}
