//! Learning from a visit: killed at any moment, it goes on to the same bits.

use std::{ops::ControlFlow, time::Instant};

use rehearsal::{
    Learner,
    learner::Recalibration,
    sample::{Sample, TaskId},
};
use rehearsal_files::{sha256::sha256, threads::on_threads};

use crate::{
    Defaults, Digest, Event, Gate, MemorySize, Model, ModelError, ModelSettings, Report, Score, Version, Visit,
    interrupted::PassLoss,
    sort::{Sorted, sort},
    threshold::threshold,
};

/// How far learning is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Steps taken.
    pub step: u64,
    /// Steps of the whole visit.
    pub steps: u64,
    /// The pass over the images, from 1.
    pub pass: usize,
    /// Passes of the whole visit.
    pub passes: usize,
    /// The loss; none where the step only moved the running statistics.
    pub loss: Option<f32>,
}

/// Someone who watches a model learn.
pub trait Watcher {
    /// After each step; `Break` stops, and the same visit goes on from there.
    fn step(&mut self, _: &Moment) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// A sentence worth saying.
    fn say(&mut self, _: &str) {}
}

/// Watches nothing.
impl Watcher for () {}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum Taught {
    /// A new version.
    Learned(Box<Report>),
    /// All images were known already, so many.
    NothingNew {
        /// How many.
        images: usize,
    },
    /// The watcher stopped it.
    Stopped,
}

impl Model {
    /// Learns from a visit and makes a new version of what was learned.
    ///
    /// # Errors
    /// The visit makes no sense for this model, or it cannot be written. Then the model is as it
    /// was, and where learning had begun, the same visit goes on where it was written down last.
    pub fn learn(&mut self, visit: Visit, watcher: &mut (dyn Watcher + Send)) -> Result<Taught, ModelError> {
        let threads = self.threads();
        on_threads(threads, || self.learn_here(visit, watcher))
            .map_err(|error| ModelError::Threads(error.to_string()))?
    }

    fn learn_here(&mut self, mut visit: Visit, watcher: &mut (dyn Watcher + Send)) -> Result<Taught, ModelError> {
        let parent = if self.is_empty() { None } else { Some(self.current()?) };
        visit.check(parent.as_ref().map(|parent| parent.learner.config()))?;
        let settings = self.settings_of(&visit);
        let shape = visit.shape(parent.as_ref().map(|parent| parent.learner.shape()))?;
        let sorted = sort(std::mem::take(&mut visit.photos), parent.as_ref(), settings.exam_per_class);
        say_what_is_known(&sorted, watcher);
        if sorted.lesson.is_empty() {
            if !sorted.exam.is_empty() {
                let count = images(sorted.exam.len());
                watcher
                    .say(&format!("{count} new, but kept back for the exam: they come into it with others to learn"));
            }
            // This very visit may have been killed when it was done.
            self.clear();
            return Ok(Taught::NothingNew { images: sorted.seen_before + sorted.twice + sorted.exam.len() });
        }
        let mut version = match &parent {
            Some(parent) => parent.clone(),
            None => Version::new(self.begin(&visit, &sorted, shape)?),
        };
        prepare(&mut version.learner, &visit, &settings, &sorted)?;
        let key = key(parent.as_ref(), self.settings().current, &version.learner, &sorted, &visit);
        let before = version.learner.position().steps;
        let mut loss = PassLoss::default();
        if let Some((learner, underway)) = self.underway(&key) {
            watcher.say(&format!("going on after step {}", learner.position().steps.saturating_sub(before)));
            (version.learner, loss) = (learner, underway);
        }
        if self.steps(&mut version.learner, &sorted, &key, &mut loss, &visit, before, watcher)?.is_break() {
            return Ok(Taught::Stopped);
        }
        let steps = version.learner.position().steps - before;
        let passes = version.learner.config().epochs;
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
            passes,
            steps,
            loss: loss.mean(),
            recalibrated: false,
        };
        add_lesson(&mut version, sorted);
        self.finish(version, parent.as_ref(), settings, &visit, report)
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
        let settings = Defaults::complete(&given);
        Ok(Learner::builder().shape(shape).settings(&settings).threads(self.threads()).build()?)
    }

    /// Learns what is left of the visit.
    #[allow(clippy::too_many_arguments, reason = "what a visit is made of")]
    fn steps(
        &self,
        learner: &mut Learner,
        sorted: &Sorted,
        key: &str,
        loss: &mut PassLoss,
        visit: &Visit,
        before: u64,
        watcher: &mut (dyn Watcher + Send),
    ) -> Result<ControlFlow<()>, ModelError> {
        let samples = samples(learner, sorted);
        let mut lesson = learner.lesson(&samples);
        let passes = learner.config().epochs;
        let steps = (samples.len() / learner.config().batch).max(1) as u64 * passes as u64;
        let mut saved = Instant::now();
        loop {
            let pass = learner.position().epoch + 1;
            let Some(step) = learner.learn_next(&mut lesson, &mut |_| {})? else { break };
            let taken = learner.position().steps - before;
            if let Some(loss) = step.loss.filter(|loss| !loss.is_finite()) {
                return Err(ModelError::Diverged { loss, step: taken });
            }
            loss.add(pass, step.loss);
            let stop = watcher.step(&Moment { step: taken, steps, pass, passes, loss: loss.mean() }).is_break();
            if stop || saved.elapsed() >= visit.checkpoint_every {
                self.write_down(learner, key, *loss)?;
                saved = Instant::now();
            }
            if stop {
                return Ok(ControlFlow::Break(()));
            }
        }
        if !learner.is_finite() {
            return Err(ModelError::Diverged { loss: f32::NAN, step: steps });
        }
        learner.offer_rest(&lesson)?;
        learner.end_task();
        Ok(ControlFlow::Continue(()))
    }

    /// Holds the exam, decides whether the version is used, and changes the model.
    fn finish(
        &mut self,
        mut version: Version,
        parent: Option<&Version>,
        mut settings: ModelSettings,
        visit: &Visit,
        mut report: Report,
    ) -> Result<Taught, ModelError> {
        report.recalibrated = visit.recalibrate && recalibrate(&mut version.learner);
        if !version.learner.is_finite() {
            return Err(ModelError::Diverged { loss: f32::NAN, step: report.steps });
        }
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
        Ok(Taught::Learned(Box::new(report)))
    }
}

/// Re-estimates the norm's statistics from the memory; whether there was enough in it.
fn recalibrate(learner: &mut Learner) -> bool {
    matches!(learner.recalibrate(), Recalibration::Done { .. })
}

fn images(count: usize) -> String {
    if count == 1 { "1 image".to_owned() } else { format!("{count} images") }
}

fn say_what_is_known(sorted: &Sorted, watcher: &mut (dyn Watcher + Send)) {
    if sorted.seen_before > 0 {
        watcher.say(&format!("{} seen before, not counted twice", images(sorted.seen_before)));
    }
    if sorted.seen_as_another > 0 {
        watcher.say(&format!("{} of these as another class, which stays", sorted.seen_as_another));
    }
    if sorted.twice > 0 {
        watcher.say(&format!("{} in this folder twice, counted once", images(sorted.twice)));
    }
    if let Some((first, second)) = &sorted.in_two_classes {
        watcher.say(&format!("the same image in two classes, taken as the first: {first}, {second}"));
    }
}

/// Gives a learner what it needs for a visit: the pace, the memory, the classes.
fn prepare(learner: &mut Learner, visit: &Visit, settings: &ModelSettings, sorted: &Sorted) -> Result<(), ModelError> {
    learner.set_pace(visit.pace(&Defaults::new(sorted.lesson.len())))?;
    let memory: MemorySize = settings.memory.parse().map_err(ModelError::Refused)?;
    let memory = memory.images(learner.shape());
    let names: Vec<&str> = sorted.lesson.iter().map(|(_, photo)| photo.class.as_str()).collect();
    let mut classes = learner.classes().clone();
    for name in &names {
        let _ = classes.appear(name);
    }
    let count = classes.active().count();
    if learner.config().method.replays() {
        if memory < count {
            return Err(ModelError::SmallMemory { memory, classes: count });
        }
        learner.set_memory(memory)?;
    }
    Ok(learner.begin_task(&names)?)
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

fn samples(learner: &Learner, sorted: &Sorted) -> Vec<Sample> {
    let task = TaskId(u16::try_from(learner.position().task).unwrap_or(u16::MAX));
    let sample = |(_, photo): &(Digest, crate::Photo)| {
        let label = learner.classes().find(&photo.class).expect("the classes of a visit are known");
        Sample { image: photo.image.clone(), label, task }
    };
    sorted.lesson.iter().map(sample).collect()
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
