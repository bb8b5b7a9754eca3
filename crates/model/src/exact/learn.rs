//! A session of a model with a Gaussian head: photos are read in a stream, each once.

use std::{collections::BTreeMap, ops::ControlFlow};

use rehearsal_backbone::{Extracted, Extractor};
use rehearsal_data::{DataError, photos};
use rehearsal_files::threads::on_threads;

use super::{BackboneId, Exact, Kept};
use crate::{
    Contents, Digest, FolderReader, MemorySize, Model, ModelError, ModelSettings, Notice, Outcome, Report,
    SessionOptions, Version, backbones,
    folder::{ClassCount, reason},
    version::Kind,
};

/// Photos that are added to the sums at once.
const AT_ONCE: usize = 1024;

/// A session of a model with a pre-trained backbone.
pub struct ExactSession<'a> {
    /// The photos, by class and path.
    pub photos: Vec<photos::Photo>,
    /// Holdout photos of the user's: with these, no other photo is held out.
    pub holdout: Vec<photos::Photo>,
    /// The backbone of a new model; none for the default, or for that of the existing model.
    pub backbone: Option<String>,
    /// Memory, holdout set, acceptance check.
    pub options: SessionOptions,
    /// Whether to stop; asked from time to time. What was read is not read again.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What a session found.
#[derive(Default)]
struct Found {
    new: usize,
    seen_before: usize,
    as_another: usize,
    twice: usize,
    in_two_classes: Option<(String, String)>,
    bad: Vec<String>,
    classes: ClassCount,
    /// Holdout photos of the user's: new ones, known ones, and those of classes that are not known.
    given: usize,
    given_known: usize,
    given_unknown: usize,
}

/// A version that is learning.
struct Learning<'a> {
    exact: Exact,
    parent: Option<&'a Exact>,
    /// Photos that are not in the sums yet, by class.
    waiting: BTreeMap<String, Vec<Kept>>,
    waiting_count: usize,
    /// The new photos: class and path.
    new: BTreeMap<Digest, (String, String)>,
    found: Found,
}

impl Learning<'_> {
    fn take(&mut self, photo: &photos::Photo, extracted: Result<Extracted, DataError>) {
        let extracted = match extracted {
            Ok(extracted) => extracted,
            Err(error) => return self.found.bad.push(reason(error)),
        };
        self.found.classes.add(&photo.class);
        let (digest, source) = (Digest::from_sha256(extracted.sha256), photo.path.display().to_string());
        let known = |parent: &'_ Exact| parent.class_of(digest).or_else(|| parent.given_as(digest)).cloned();
        if let Some(class) = self.parent.and_then(known) {
            self.found.seen_before += 1;
            self.found.as_another += usize::from(*class != *photo.class);
            return;
        }
        if let Some((class, first)) = self.new.get(&digest) {
            self.found.twice += 1;
            if *class != photo.class && self.found.in_two_classes.is_none() {
                self.found.in_two_classes = Some((first.clone(), source));
            }
            return;
        }
        self.found.new += 1;
        self.new.insert(digest, (photo.class.clone(), source.clone()));
        let kept = Kept { digest, source, feature: extracted.feature, thumbnail: extracted.thumbnail };
        self.waiting.entry(photo.class.clone()).or_default().push(kept);
        self.waiting_count += 1;
        if self.waiting_count >= AT_ONCE {
            self.add_waiting();
        }
    }

    /// Takes a holdout photo of the user's, after all others.
    fn take_given(&mut self, photo: &photos::Photo, extracted: Result<Extracted, DataError>) {
        let extracted = match extracted {
            Ok(extracted) => extracted,
            Err(error) => return self.found.bad.push(reason(error)),
        };
        let (digest, source) = (Digest::from_sha256(extracted.sha256), photo.path.display().to_string());
        if self.exact.class_of(digest).is_some() {
            self.found.given_known += 1;
            return;
        }
        // The first class stays, as for all photos.
        if self.exact.given_as(digest).is_some() {
            return;
        }
        let kept = Kept { digest, source, feature: extracted.feature, thumbnail: extracted.thumbnail };
        match self.exact.classes.get_mut(&*photo.class) {
            Some(class) => self.found.given += usize::from(class.add_given(kept)),
            None => self.found.given_unknown += 1,
        }
    }

    fn add_waiting(&mut self) {
        for (class, photos) in std::mem::take(&mut self.waiting) {
            self.exact.add(&class, photos);
        }
        self.exact.trim();
        self.waiting_count = 0;
    }
}

impl Found {
    fn notices(&self) -> Vec<Notice> {
        let notices = [
            (self.seen_before > 0)
                .then_some(Notice::SeenBefore { images: self.seen_before, as_another: self.as_another }),
            (self.twice > 0).then_some(Notice::Twice { images: self.twice }),
            self.in_two_classes.clone().map(|paths| Notice::InTwoClasses { paths }),
            (self.given_known + self.given_unknown > 0)
                .then_some(Notice::HoldoutLeftOut { learned: self.given_known, unknown: self.given_unknown }),
        ];
        notices.into_iter().flatten().collect()
    }
}

impl Model {
    /// Learns photos, which makes a new version.
    ///
    /// # Errors
    /// A photo cannot be read, the session does not fit this model, or a file cannot be written. The
    /// model is unchanged then.
    pub fn learn_exact(
        &mut self,
        session: &ExactSession<'_>,
        reader: &mut FolderReader<'_>,
        notice: &mut (dyn FnMut(&Notice) + Send),
    ) -> Result<Outcome, ModelError> {
        session.options.check()?;
        let parent = if self.is_empty() { None } else { Some(self.current()?) };
        let before = parent.as_ref().map(Version::exact).transpose()?;
        let extractor = open(before, session.backbone.as_deref(), self.threads())?;
        let settings = session.options.applied_to(self.settings());
        let asked = session.backbone.as_deref().unwrap_or(backbones::DEFAULT);
        let mut exact = match before {
            Some(parent) => parent.clone(),
            None => Exact::new(BackboneId::of(asked, extractor.backbone()), extractor.backbone().dimensions()),
        };
        set_memory(&mut exact, &settings)?;
        let learning = Learning {
            exact,
            parent: before,
            waiting: BTreeMap::new(),
            waiting_count: 0,
            new: BTreeMap::new(),
            found: Found::default(),
        };
        let Some(learning) = self.read(learning, session, &extractor, reader)? else { return Ok(Outcome::Stopped) };
        let Learning { exact, found, .. } = learning;
        reader.describe(&found.classes, exact.size(), &before.map(Contents::classes).unwrap_or_default());
        found.notices().iter().for_each(notice);
        if found.new + found.given == 0 {
            self.clear();
            return Ok(Outcome::NothingNew { images: found.seen_before + found.twice });
        }
        let exact = self.computed(exact)?;
        let held_out = |version: &Exact| version.holdout_photos().count();
        let report = Report {
            images: found.new,
            held_out: held_out(&exact).saturating_sub(before.map_or(0, held_out)),
            seen_before: found.seen_before,
            ..Report::new(self, &session.options)
        };
        self.finish(Version::new(Kind::Exact(Box::new(exact))), parent.as_ref(), settings, &session.options, report)
    }

    /// Reads every photo; none if stopped.
    fn read<'a>(
        &self,
        mut learning: Learning<'a>,
        session: &ExactSession<'_>,
        extractor: &Extractor,
        reader: &mut FolderReader<'_>,
    ) -> Result<Option<Learning<'a>>, ModelError> {
        let (mut stopped, progress) = (false, reader.progress);
        let each = |number: usize, extracted| {
            learning.take(&session.photos[number], extracted);
            stopped = (session.stop)();
            if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        on_threads(self.threads(), || extractor.for_each(&session.photos, progress, each))
            .map_err(|error| ModelError::Threads(error.to_string()))??;
        if stopped {
            return Ok(None);
        }
        learning.add_waiting();
        if !session.holdout.is_empty() {
            let each = |number: usize, extracted| {
                learning.take_given(&session.holdout[number], extracted);
                ControlFlow::Continue(())
            };
            on_threads(self.threads(), || extractor.for_each(&session.holdout, progress, each))
                .map_err(|error| ModelError::Threads(error.to_string()))??;
        }
        reader.refuse_bad(std::mem::take(&mut learning.found.bad))?;
        Ok(Some(learning))
    }

    /// With head and calibration.
    fn computed(&self, mut exact: Exact) -> Result<Exact, ModelError> {
        on_threads(self.threads(), || exact.compute().map(|()| exact))
            .map_err(|error| ModelError::Threads(error.to_string()))?
    }
}

/// The backbone of a model; of a new one, the one that was asked for.
fn open(parent: Option<&Exact>, asked: Option<&str>, threads: usize) -> Result<Extractor, ModelError> {
    match (parent, asked) {
        (Some(parent), Some(asked)) if asked != parent.backbone.name => Err(ModelError::Fixed {
            setting: "backbone".into(),
            is: parent.backbone.name.clone(),
            asked: asked.to_owned(),
        }),
        (Some(parent), _) => parent.extractor(threads),
        (None, asked) => backbones::open_named(asked.unwrap_or(backbones::DEFAULT), threads),
    }
}

fn set_memory(exact: &mut Exact, settings: &ModelSettings) -> Result<(), ModelError> {
    let memory: MemorySize = settings.memory.parse().map_err(ModelError::Refused)?;
    exact.capacity = memory.photos(backbones::BYTES_PER_PHOTO);
    exact.holdout_per_class = settings.holdout_per_class;
    Ok(())
}
