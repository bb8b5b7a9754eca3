//! A session of a model with a Gaussian head: photos are read in a stream, each once.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use rehearsal_backbone::{Extracted, Extractor};
use rehearsal_data::{DataError, photos};
use rehearsal_files::threads::on_threads;

use super::{BackboneId, Exact, Kept};
use crate::{
    Contents, Digest, FolderReader, MemorySize, Model, ModelError, ModelSettings, Notice, Outcome, Relabel, Report,
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

/// How many photos had a class, the first, and come again as another.
type Relabelled = BTreeMap<(Arc<str>, String), usize>;

fn count(photos: &mut Relabelled, from: &Arc<str>, to: &str) {
    *photos.entry((Arc::clone(from), to.to_owned())).or_default() += 1;
}

fn listed(photos: &Relabelled) -> Vec<Relabel> {
    let relabel = |((from, to), photos): (&(Arc<str>, String), &usize)| Relabel {
        from: from.to_string(),
        to: to.clone(),
        photos: *photos,
    };
    photos.iter().map(relabel).collect()
}

/// What a session found.
#[derive(Default)]
struct Found {
    new: usize,
    seen_before: usize,
    /// Photos with another class here than the one that they keep, and those that are moved.
    as_another: Relabelled,
    moved: Relabelled,
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
    /// Holdout photos of the user's that are given another class.
    given_again: Vec<(Kept, String)>,
    /// Photos that are not in the sums yet, by class.
    waiting: BTreeMap<String, Vec<Kept>>,
    waiting_count: usize,
    /// The photos that this session places: class and path.
    placed: BTreeMap<Digest, (String, String)>,
    /// Whether photos that come again as another class move to it.
    relabel: bool,
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
        if let Some((class, first)) = self.placed.get(&digest) {
            self.found.twice += 1;
            if *class != photo.class && self.found.in_two_classes.is_none() {
                self.found.in_two_classes = Some((first.clone(), source));
            }
            return;
        }
        let known = |parent: &'_ Exact| parent.class_of(digest).or_else(|| parent.given_as(digest)).cloned();
        let known = self.parent.and_then(known);
        if known.is_none() || self.relabel {
            self.placed.insert(digest, (photo.class.clone(), source.clone()));
        }
        let kept = Kept { digest, source, feature: extracted.feature, thumbnail: extracted.thumbnail };
        if let Some(class) = known {
            return self.take_known(kept, &class, &photo.class);
        }
        self.found.new += 1;
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
        } else if let std::collections::btree_map::Entry::Vacant(place) = self.placed.entry(digest) {
            place.insert((photo.class.clone(), source.clone()));
            let kept = Kept { digest, source, feature: extracted.feature, thumbnail: extracted.thumbnail };
            self.give(kept, &photo.class);
        }
    }

    /// Adds a holdout photo of the user's to its class, or moves it there.
    fn give(&mut self, photo: Kept, class: &str) {
        let before = self.exact.given_as(photo.digest).cloned();
        match &before {
            Some(before) if **before == *class => return,
            _ if !self.exact.classes.contains_key(class) => return self.found.given_unknown += 1,
            // The first class stays, as for all photos.
            Some(before) if !self.relabel => return count(&mut self.found.as_another, before, class),
            Some(before) => {
                count(&mut self.found.moved, before, class);
                self.exact.take_given(photo.digest);
            }
            None => self.found.given += 1,
        }
        if let Some(class) = self.exact.classes.get_mut(class) {
            class.add_given(photo);
        }
    }

    /// A photo of an earlier session.
    fn take_known(&mut self, photo: Kept, class: &Arc<str>, here: &str) {
        if **class == *here || !self.relabel {
            self.found.seen_before += 1;
            if **class != *here {
                count(&mut self.found.as_another, class, here);
            }
        } else if self.exact.class_of(photo.digest).is_some() {
            count(&mut self.found.moved, class, here);
            self.exact.relabel(photo, here);
        } else {
            self.given_again.push((photo, here.to_owned()));
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
    /// Whether the version would be the one before.
    fn is_nothing_new(&self) -> bool {
        self.new + self.given == 0 && self.moved.is_empty()
    }

    fn notices(&self) -> Vec<Notice> {
        let notices = [
            (self.seen_before > 0).then_some(Notice::SeenBefore { images: self.seen_before }),
            (!self.as_another.is_empty())
                .then(|| Notice::AnotherClass { photos: listed(&self.as_another), is_moved: false }),
            (!self.moved.is_empty()).then(|| Notice::AnotherClass { photos: listed(&self.moved), is_moved: true }),
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
        let known = before.map(Contents::classes).unwrap_or_default();
        session.options.names.check(&session.photos, self, &known)?;
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
            given_again: Vec::new(),
            waiting: BTreeMap::new(),
            waiting_count: 0,
            placed: BTreeMap::new(),
            relabel: session.options.relabel,
            found: Found::default(),
        };
        let Some(learning) = self.read(learning, session, &extractor, reader)? else { return Ok(Outcome::Stopped) };
        let Learning { exact, found, .. } = learning;
        reader.describe(&found.classes, exact.size(), &known, |class| exact.learned_of(class));
        if found.is_nothing_new() {
            self.clear();
            if !found.as_another.is_empty() {
                let (model, photos) = (self.path().into(), listed(&found.as_another));
                return Err(ModelError::AnotherClass { model, photos, is_exact: true });
            }
            found.notices().iter().for_each(notice);
            return Ok(Outcome::NothingNew { images: found.seen_before + found.twice });
        }
        found.notices().iter().for_each(notice);
        if let (1, Some(((last, _), _))) = (exact.classes.len(), found.moved.iter().next()) {
            return Err(ModelError::LastClasses(last.to_string()));
        }
        let exact = self.computed(exact)?;
        let held_out = |version: &Exact| version.holdout_photos().count();
        let report = Report {
            images: found.new,
            held_out: held_out(&exact).saturating_sub(before.map_or(0, held_out)),
            seen_before: found.seen_before,
            relabelled: listed(&found.moved),
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
        for (photo, class) in std::mem::take(&mut learning.given_again) {
            learning.give(photo, &class);
        }
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
