//! A training session. Killed at any moment, it continues to the same bits.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use rehearsal::{
    Learner,
    learner::{Fit, FitOptions, Recalibration},
    observer::{Observer, StepEvent},
    sample::{Class, Image},
};
use rehearsal_files::{sha256::sha256, threads::on_threads};

use super::{
    Origin, Photo, Scratch, Session,
    split::{Split, split},
};
use crate::{
    Digest, MemorySize, Model, ModelError, ModelSettings, Notice, Outcome, Report, Training, Version, version::Kind,
};

/// A callback of [`Model::learn`].
pub trait LearnObserver: Observer {
    /// Called before the first step.
    fn notice(&mut self, _: &Notice) {}
}

/// Does nothing.
impl LearnObserver for () {}

/// Forwards the events, and writes a checkpoint from time to time.
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
        match self.model.save_checkpoint(event.learner, self.key, event.loss) {
            Ok(()) => stop,
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Model {
    /// Runs a training session, which makes a new version.
    ///
    /// # Errors
    /// The session does not fit this model, or a file cannot be written. The model is unchanged then,
    /// and the same session continues from its last checkpoint.
    pub fn learn(
        &mut self,
        session: Session,
        observer: &mut (dyn LearnObserver + Send),
    ) -> Result<Outcome, ModelError> {
        let threads = self.threads();
        on_threads(threads, || self.learn_here(session, observer))
            .map_err(|error| ModelError::Threads(error.to_string()))?
    }

    fn learn_here(
        &mut self,
        mut session: Session,
        observer: &mut (dyn LearnObserver + Send),
    ) -> Result<Outcome, ModelError> {
        let living = if self.is_empty() { None } else { Some(self.current()?) };
        let parent = living.as_ref().map(scratch_of).transpose()?;
        session.check(parent.as_ref().map(|parent| parent.learner.config()))?;
        let options = session.options();
        let settings = options.applied_to(self.settings());
        let split = if session.again {
            remembered(parent)?
        } else {
            session.check_shape(parent.as_ref().map(|parent| parent.learner.shape()))?;
            split(std::mem::take(&mut session.photos), parent, settings.holdout_per_class)
        };
        if split.training.is_empty() {
            // This session may have been killed when it was done.
            self.clear();
            if !split.as_another.is_empty() && split.holdout.is_empty() {
                let (model, photos) = (self.path().into(), split.as_another);
                return Err(ModelError::AnotherClass { model, photos, is_exact: false });
            }
        }
        notices(&split).iter().for_each(|notice| observer.notice(notice));
        if split.training.is_empty() {
            return Ok(Outcome::NothingNew { images: split.seen_before + split.twice + split.holdout.len() });
        }
        let mut version = match parent {
            Some(parent) => parent.clone(),
            None => Scratch::new(self.begin(&session, &split)?),
        };
        prepare(&mut version.learner, &session, &settings, &split)?;
        let parent_id = living.as_ref().map(|parent| (self.settings().current, parent.sha256.as_str()));
        let key = key(parent_id, &version.learner, &split, &session);
        let before = version.learner.cursor().steps;
        let mut loss = None;
        if let Some(underway) = self.underway(&key) {
            observer.notice(&Notice::Continues { steps: underway.learner.cursor().steps.saturating_sub(before) });
            (version.learner, loss) = (underway.learner, underway.loss);
        }
        let mut fit = self.fit(&mut version.learner, &split, &key, &session, observer)?;
        if fit.is_stopped {
            return Ok(Outcome::Stopped);
        }
        if let Some(parent) = parent.filter(|_| session.again) {
            // What it remembers was inserted once.
            *version.learner.memory_mut() = parent.learner.memory().clone();
            fit.recalibration = session.recalibrate.then(|| version.learner.recalibrate());
        }
        let report = Report {
            images: split.training.len(),
            held_out: split.holdout.len(),
            seen_before: split.seen_before,
            training: Some(Training {
                epochs: version.learner.epochs(split.training.len()),
                steps: version.learner.cursor().steps - before,
                loss: if fit.steps > 0 { fit.loss } else { loss },
                recalibrated: matches!(fit.recalibration, Some(Recalibration::Done { .. })),
            }),
            ..Report::new(self, &options)
        };
        if !session.again {
            add_photos(&mut version, split);
        }
        version.set_threshold()?;
        self.finish(Version::new(Kind::Scratch(Box::new(version))), living.as_ref(), settings, &options, report)
    }

    /// Learns the rest of the session.
    fn fit(
        &self,
        learner: &mut Learner,
        split: &Split,
        key: &str,
        session: &Session,
        observer: &mut (dyn LearnObserver + Send),
    ) -> Result<Fit, ModelError> {
        let (images, labels): (Vec<Image>, Vec<&str>) =
            split.training.iter().map(|photo| (photo.image.clone(), photo.class.as_str())).unzip();
        let samples = learner.samples(&images, &labels)?;
        let every = session.checkpoint_every;
        let mut saver = Saver { model: self, key, every, saved: Instant::now(), observer, failed: None };
        let recalibrate = session.recalibrate && !session.again;
        let options = FitOptions { recalibrate, ..FitOptions::default() };
        let fit = learner.fit(&samples, options, &mut saver)?;
        saver.failed.map_or(Ok(fit), Err)
    }

    /// A learner for a new model.
    fn begin(&self, session: &Session, split: &Split) -> Result<Learner, ModelError> {
        let mut names: Vec<&str> = split.training.iter().map(|photo| photo.class.as_str()).collect();
        names.dedup();
        if let [only] = names[..] {
            return Err(ModelError::OneClass(only.to_owned()));
        }
        let mut given = session.settings.clone();
        given.memory = None;
        Ok(Learner::builder().shape(session.shape).settings(&given).threads(self.threads()).build()?)
    }
}

fn scratch_of(version: &Version) -> Result<&Scratch, ModelError> {
    match &version.kind {
        Kind::Scratch(scratch) => Ok(scratch),
        Kind::Exact(_) => Err(ModelError::Refused("this model has a pre-trained backbone".into())),
    }
}

fn notices(split: &Split) -> Vec<Notice> {
    let Split { seen_before, twice, .. } = *split;
    let only_holdout = split.training.is_empty() && !split.holdout.is_empty();
    let notices = [
        (seen_before > 0).then_some(Notice::SeenBefore { images: seen_before }),
        (!split.as_another.is_empty())
            .then(|| Notice::AnotherClass { photos: split.as_another.clone(), is_moved: false }),
        (twice > 0).then_some(Notice::Twice { images: twice }),
        split.in_two_classes.clone().map(|paths| Notice::InTwoClasses { paths }),
        only_holdout.then_some(Notice::OnlyHoldout { images: split.holdout.len() }),
    ];
    notices.into_iter().flatten().collect()
}

/// What the memory holds, as photos to learn again.
fn remembered(version: Option<&Scratch>) -> Result<Split, ModelError> {
    let version = version.ok_or_else(|| ModelError::Refused("the model has learned nothing yet".into()))?;
    let classes = version.learner.classes();
    let photo = |(class, image, source): (Class, &Image, &str)| Photo {
        class: classes.name(class).to_string(),
        source: source.to_owned(),
        image: image.clone(),
        digest: Digest::of(image),
    };
    let training: Vec<Photo> = version.stored().map(photo).collect();
    if training.is_empty() {
        return Err(ModelError::Refused("the memory is empty: there is nothing to learn again".into()));
    }
    Ok(Split { training, ..Split::default() })
}

/// Sets a learner's schedule and memory for a session.
fn prepare(
    learner: &mut Learner,
    session: &Session,
    settings: &ModelSettings,
    split: &Split,
) -> Result<(), ModelError> {
    learner.set_pace(session.pace())?;
    let memory: MemorySize = settings.memory.parse().map_err(ModelError::Refused)?;
    let memory = memory.photos(learner.shape().bytes());
    let mut classes = learner.classes().clone();
    for photo in &split.training {
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

/// Identifies a session: its parent, its settings, its images in order.
fn key(parent: Option<(u32, &str)>, learner: &Learner, split: &Split, session: &Session) -> String {
    let mut config = learner.config().clone();
    config.threads = 1;
    let images = |list: &[Photo]| -> Vec<(Digest, String)> {
        list.iter().map(|photo| (photo.digest, photo.class.clone())).collect()
    };
    let parts = serde_json::json!({
        "parent": parent,
        "config": config,
        "shape": learner.shape(),
        "training": images(&split.training),
        "holdout": images(&split.holdout),
        "recalibrate": session.recalibrate,
    });
    sha256(parts.to_string().as_bytes())
}

/// Adds the photos of a session to what was learned and to the holdout set.
fn add_photos(version: &mut Scratch, split: Split) {
    let classes = version.learner.classes();
    for photo in split.training {
        let class = classes.find(&photo.class).expect("the classes of a session are known");
        version.learned.insert(photo.digest, class);
        version.once.remove(&photo.digest);
        let origin = Origin { digest: photo.digest, source: photo.source };
        version.origins.entry(Digest::of(&photo.image)).or_default().push(origin);
    }
    version.holdout.add(split.holdout, classes);
}

#[cfg(test)]
mod tests {
    use rehearsal::{config::PartialConfig, network::BackboneKind};

    use super::*;
    use crate::{AcceptanceCheck, SessionOptions, Share, test_photos};

    const SHAPE: rehearsal_data::ImageShape = rehearsal_data::ImageShape { height: 16, width: 16, channels: 3 };

    /// Noise with a tint per class.
    fn photos(classes: &[&str]) -> Vec<Photo> {
        let image = |class: &str, number: usize| -> Image {
            let tint = usize::from(class.as_bytes()[0]) * 83;
            (0..16 * 16 * 3).map(|i| ((i * (number + 7) * 31 + tint * (i % 3 + 1)) % 256) as u8).collect()
        };
        let photo = |class: &str, number: usize| Photo {
            class: class.into(),
            source: format!("{class}/{number}.png"),
            image: image(class, number),
            digest: Digest::of(&image(class, number)),
        };
        classes.iter().flat_map(|class| (0..13).map(|number| photo(class, number))).collect()
    }

    fn session(photos: Vec<Photo>) -> Session {
        let settings = PartialConfig::parse("seed = 1\nbackbone = 'tiny'\nwidth = 4").unwrap();
        let options = SessionOptions { holdout_per_class: Some(0), ..SessionOptions::default() };
        Session { settings, options, ..Session::new(photos, SHAPE) }
    }

    fn learner_of(model: &Model) -> Learner {
        scratch_of(&model.current().unwrap()).unwrap().learner.clone()
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
            let Outcome::Learned(report) = model.learn(session(photos.clone()), &mut ()).unwrap() else {
                panic!("nothing was learned")
            };
            let training = report.training.unwrap();
            assert_eq!((report.images, training.steps, training.epochs), (26, 24, 12));
            let version = learner_of(&model);
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
    fn a_session_that_is_stopped_at_every_step_is_the_same_version_in_the_end() {
        let place = tempfile::tempdir().unwrap();
        let learn = |name: &str, observer: &mut (dyn LearnObserver + Send)| {
            let mut model = Model::open_or_create(&place.path().join(name)).unwrap();
            (model.learn(session(photos(&["boots", "clogs"])), observer).unwrap(), model)
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
        let states = [model, again].map(|model| learner_of(&model).network().state());
        assert!(states[0] == states[1]);
    }

    #[test]
    fn what_is_remembered_is_learned_again_without_being_remembered_twice() {
        let place = tempfile::tempdir().unwrap();
        let again = |name: &str, observer: &mut (dyn LearnObserver + Send)| {
            let mut model = Model::open_or_create(&place.path().join(name)).unwrap();
            if model.is_empty() {
                model.learn(session(photos(&["boots", "clogs"])), &mut ()).unwrap();
            }
            let session = Session { again: true, ..session(Vec::new()) };
            (model.learn(session, observer).unwrap(), model)
        };
        let (whole, model) = again("whole.model", &mut ());
        let (first, second) = (model.version(1).unwrap(), model.version(2).unwrap());
        let (first, second) = (scratch_of(&first).unwrap(), scratch_of(&second).unwrap());
        assert_eq!(first.learner.memory(), second.learner.memory());
        assert_eq!((first.origins.clone(), &first.learned), (second.origins.clone(), &second.learned));
        assert!(first.learner.network().state() != second.learner.network().state(), "it was trained");
        assert_eq!(second.learner.calibration_images(), Some(26));
        let mut observer = Stopping::default();
        let (parted, again) = loop {
            match again("parted.model", &mut observer) {
                (Outcome::Stopped, _) => {}
                ended => break ended,
            }
        };
        assert!(parted == whole && observer.0.len() == 24, "stopped after every step: {:?}", observer.0);
        assert!(learner_of(&again).network().state() == second.learner.network().state());
        let mut empty = Model::open_or_create(&place.path().join("empty.model")).unwrap();
        let nothing = Session { again: true, ..session(Vec::new()) };
        assert!(matches!(empty.learn(nothing, &mut ()), Err(ModelError::Refused(_))));
    }

    #[test]
    fn a_session_that_diverges_leaves_the_model_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let mut model = Model::open_or_create(&place.path().join("shop.model")).unwrap();
        let mut session = session(photos(&["boots", "clogs"]));
        session.settings.lr = Some(1e38);
        let error = model.learn(session, &mut ()).unwrap_err();
        let diverged = matches!(error, ModelError::Learner(rehearsal::learner::LearnerError::Diverged { .. }));
        assert!(diverged && !error.is_user_error(), "{error}");
        assert!(model.is_empty());
    }

    #[test]
    fn a_photo_is_known_by_its_file_and_a_version_that_forgets_is_rejected() {
        let place = tempfile::tempdir().unwrap();
        let mut model = test_photos::learn(place.path(), &["a", "b"], 10);
        let renamed = place.path().join("again");
        std::fs::create_dir_all(renamed.join("a")).unwrap();
        for number in 0..10 {
            let from = place.path().join(format!("ab/a/{number:02}.png"));
            std::fs::copy(from, renamed.join(format!("a/other{number}.png"))).unwrap();
        }
        let again = model.learn(test_photos::session(&model, &renamed), &mut ()).unwrap();
        assert_eq!(again, Outcome::NothingNew { images: 10 });
        test_photos::write_folder(&place.path().join("more"), &["c", "d"], 10);
        let mut session = test_photos::session(&model, &place.path().join("more"));
        session.options.check = AcceptanceCheck::AtMost(Share::new(0.0).unwrap());
        session.options.keep = Some(3);
        let Outcome::Learned(report) = model.learn(session, &mut ()).unwrap() else { panic!("nothing was learned") };
        let lost = report.old.unwrap().points_lost() > 0.0;
        assert_eq!((report.accepted, model.settings().current), (!lost, if lost { 1 } else { 2 }));
        assert_eq!((model.versions(), model.settings().keep), (vec![1, 2], 3));
    }

    #[test]
    fn impossible_sessions_are_refused_by_kind() {
        let place = tempfile::tempdir().unwrap();
        let mut model = Model::open_or_create(&place.path().join("shop.model")).unwrap();
        let mut refused = |session: Session| model.learn(session, &mut ()).unwrap_err();
        assert!(matches!(refused(session(Vec::new())), ModelError::NoImages));
        assert!(matches!(refused(session(photos(&["boots"]))), ModelError::OneClass(class) if class == "boots"));
        let both = || session(photos(&["boots", "clogs"]));
        let options = |options: SessionOptions| Session { options, ..both() };
        let memory = Some(MemorySize::Images(1));
        let small = refused(options(SessionOptions { memory, ..SessionOptions::default() }));
        assert!(matches!(small, ModelError::SmallMemory { memory: 1, classes: 2 }));
        let shape = rehearsal_data::ImageShape { height: 8, ..SHAPE };
        assert!(matches!(refused(Session { shape, ..both() }), ModelError::Refused(_)), "photos of another shape");
        assert!(matches!(
            refused(options(SessionOptions { keep: Some(0), ..SessionOptions::default() })),
            ModelError::Refused(_)
        ));
        assert!(model.is_empty());
    }
}
