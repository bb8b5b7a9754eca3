//! A model with a Gaussian head without a directory: photos are added and taken out, and the head follows when it is
//! asked for. It is what a session of `Model::learn_exact` makes, to the bit.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Cursor,
    path::Path,
};

use rayon::prelude::*;
use rehearsal_backbone::Extracted;
use rehearsal_files::{
    model_file::{FORMAT, Reader},
    threads::{cores, on_threads},
};
use rehearsal_gaussian::{Feature, Head};

use super::{BackboneId, Exact, Kept};
use crate::{
    Contents, Digest, Features, Input, MemorySize, ModelError, Prediction, Removed, backbones, version::is_exact,
};

/// A photo to learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Its class.
    pub class: String,
    /// The path that it came from, or another name.
    pub source: String,
    /// Its features.
    pub photo: Extracted,
}

/// How many photos were learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// New ones.
    pub new: usize,
    /// Known ones: they are learned once.
    pub seen_before: usize,
    /// Those of the known ones that came as another class: the first class stays.
    pub as_another: usize,
}

/// A classifier that learns photos in any order and number of sessions, and can forget each of them.
///
/// ```
/// use rehearsal_backbone::Extracted;
/// use rehearsal_gaussian::Feature;
/// use rehearsal_model::{Labelled, PhotoClassifier};
///
/// let photo = |class: &str, x: f32, y: f32| Labelled {
///     class: class.into(),
///     source: String::new(),
///     photo: Extracted::of_feature(Feature::new(&[x, y, 0.1]).expect("finite numbers")),
/// };
/// let mut classifier = PhotoClassifier::of_features(3);
/// classifier.learn([photo("boots", 1.0, 0.1), photo("boots", 0.9, 0.2)])?;
/// classifier.learn([photo("clogs", 0.1, 1.0), photo("clogs", 0.2, 0.8)])?; // a new class at any time
/// let new = photo("", 0.8, 0.1).photo.feature;
/// assert!(classifier.probabilities(&[new])?[0] > 0.5, "a boot");
/// # Ok::<(), rehearsal_model::ModelError>(())
/// ```
///
/// With photos, [`Extractor`](rehearsal_backbone::Extractor) gives the features:
///
/// ```no_run
/// use rehearsal_model::{BackboneId, Labelled, PhotoClassifier, open_backbone};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let extractor = open_backbone("efficientnet-lite0", 2)?;
/// let backbone = BackboneId::of("efficientnet-lite0", extractor.backbone());
/// let mut classifier = PhotoClassifier::new(backbone, extractor.backbone().dimensions());
/// let photo = extractor.extract(&["boots/1.jpg"], &())?.remove(0)?;
/// classifier.learn([Labelled { class: "boots".into(), source: "boots/1.jpg".into(), photo }])?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PhotoClassifier {
    exact: Exact,
    /// Whether head and calibration follow from the photos as they are now.
    is_current: bool,
    threads: usize,
}

impl PhotoClassifier {
    /// That has seen no photo: for features of a backbone.
    pub fn new(backbone: BackboneId, dimensions: usize) -> Self {
        let exact = Exact::new(backbone, dimensions);
        Self { exact, is_current: false, threads: cores() }.remembering(MemorySize::DEFAULT).holding_out(50)
    }

    /// That has seen nothing: for features that were computed elsewhere.
    pub fn of_features(dimensions: usize) -> Self {
        Self::new(BackboneId { name: "features".into(), sha256: String::new(), size: 0 }, dimensions)
    }

    /// The size of the memory: of photos in it features are kept, so that they can be forgotten by name.
    pub fn remembering(mut self, memory: MemorySize) -> Self {
        self.exact.capacity = memory.photos(backbones::BYTES_PER_PHOTO);
        self.is_current = false;
        self
    }

    /// The most photos of a class that are held out to measure.
    pub fn holding_out(mut self, per_class: usize) -> Self {
        self.exact.holdout_per_class = per_class;
        self.is_current = false;
        self
    }

    /// Computes on `threads` threads; results do not depend on it.
    pub fn on_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Adds photos. A photo that is known is not learned again.
    ///
    /// # Errors
    /// The threads cannot be started.
    ///
    /// # Panics
    /// If features have another number of coordinates.
    pub fn learn(&mut self, photos: impl IntoIterator<Item = Labelled>) -> Result<Learned, ModelError> {
        let mut learned = Learned::default();
        let mut new: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
        let mut coming: BTreeMap<Digest, String> = BTreeMap::new();
        for Labelled { class, source, photo } in photos {
            let digest = Digest::from_sha256(photo.sha256);
            let known = self.exact.class_of(digest).map(|known| &**known).or(coming.get(&digest).map(String::as_str));
            if let Some(known) = known {
                learned.seen_before += 1;
                learned.as_another += usize::from(*known != *class);
                continue;
            }
            learned.new += 1;
            coming.insert(digest, class.clone());
            let kept = Kept { digest, source, feature: photo.feature, thumbnail: photo.thumbnail };
            new.entry(class).or_default().push(kept);
        }
        if learned.new > 0 {
            self.is_current = false;
            let exact = &mut self.exact;
            run_on(self.threads, || {
                new.into_iter().for_each(|(class, photos)| exact.add(&class, photos));
                exact.trim();
            })?;
        }
        Ok(learned)
    }

    /// Takes photos out again, as if they had never been. `given` has the features of those that may no longer be in
    /// memory. Photos that are not known are left out of the answer.
    ///
    /// # Errors
    /// Features of a photo are missing, or fewer than two classes would be left. Nothing is changed then.
    pub fn forget(&mut self, photos: &BTreeSet<Digest>, given: &Features) -> Result<Removed, ModelError> {
        let mut exact = self.exact.clone();
        let removed = run_on(self.threads, || exact.take_out(photos, given))??;
        self.is_current &= removed.digests.is_empty();
        self.exact = exact;
        Ok(removed)
    }

    /// The classes that have photos, by name.
    pub fn classes(&self) -> Vec<String> {
        self.exact.classes().iter().map(ToString::to_string).collect()
    }

    /// Coordinates of a feature.
    pub fn dimensions(&self) -> usize {
        self.exact.sums.dimensions()
    }

    /// The backbone of its features.
    pub fn backbone(&self) -> &BackboneId {
        &self.exact.backbone
    }

    /// The remembered photo that came from here, if there is one.
    pub fn remembered(&self, source: &str) -> Option<Digest> {
        self.exact.held().into_iter().find(|held| held.source == source).map(|held| held.digest)
    }

    /// Whatever the front end that made it wants to have back from its file.
    pub fn note(&self) -> Option<&str> {
        self.exact.note.as_deref()
    }

    /// Changes [`PhotoClassifier::note`].
    pub fn set_note(&mut self, note: Option<String>) {
        self.exact.note = note;
    }

    /// What predicts: head and calibration of the photos as they are now.
    ///
    /// # Errors
    /// Fewer than two classes, a memory that is too small for the classes, or a holdout photo that is not kept.
    pub fn current(&mut self) -> Result<&Exact, ModelError> {
        if !self.is_current {
            let exact = &mut self.exact;
            run_on(self.threads, || exact.compute())??;
            self.is_current = true;
        }
        Ok(&self.exact)
    }

    /// Probabilities `[n, classes]`.
    ///
    /// # Errors
    /// As [`PhotoClassifier::current`].
    pub fn probabilities(&mut self, features: &[Feature]) -> Result<Vec<f64>, ModelError> {
        self.for_each(features, |exact, distances| Head::probabilities(distances, exact.calibration.temperature))
    }

    /// Their logarithms, but for what all classes of a photo have in common: `[n, classes]`.
    ///
    /// # Errors
    /// As [`PhotoClassifier::current`].
    pub fn scores(&mut self, features: &[Feature]) -> Result<Vec<f64>, ModelError> {
        self.for_each(features, |exact, distances| {
            let score = |&distance: &f32| -f64::from(distance) / (2.0 * exact.calibration.temperature);
            distances.iter().map(score).collect()
        })
    }

    /// What it says of photos.
    ///
    /// # Errors
    /// As [`PhotoClassifier::current`], or photos were read for another backbone.
    pub fn predict(&mut self, photos: &[Input]) -> Result<Vec<Prediction>, ModelError> {
        let threads = self.threads;
        let exact = self.current()?;
        run_on(threads, || exact.predict(photos))?
    }

    fn for_each(
        &mut self,
        features: &[Feature],
        row: impl Fn(&Exact, &[f32]) -> Vec<f64> + Sync,
    ) -> Result<Vec<f64>, ModelError> {
        let threads = self.threads;
        let exact = self.current()?;
        let row = |feature: &Feature| row(exact, &exact.head.distances(feature));
        run_on(threads, || features.par_iter().map(row).collect::<Vec<_>>().concat())
    }

    /// Writes the file of a version (`docs/model-file.md`), whole or not at all.
    ///
    /// # Errors
    /// As [`PhotoClassifier::current`], or it cannot be written.
    pub fn save(&mut self, path: &Path) -> Result<(), ModelError> {
        self.current()?.write(path).map(drop)
    }

    /// The content of that file.
    ///
    /// # Errors
    /// As [`PhotoClassifier::current`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut file = Cursor::new(Vec::new());
        let written = self.current()?.write_to(&mut file);
        written.map_err(|error| ModelError::Unwritable { path: "memory".into(), error })?;
        Ok(file.into_inner())
    }

    /// The classifier in a file, also in that of a model's version.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or is of a network that is trained from scratch.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::restored(path, Reader::open(path, FORMAT)?)
    }

    /// From the content of such a file.
    ///
    /// # Errors
    /// As [`PhotoClassifier::load`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let name = Path::new("these bytes");
        Self::restored(name, Reader::of_bytes(name, bytes, FORMAT)?)
    }

    fn restored(path: &Path, reader: Reader) -> Result<Self, ModelError> {
        if !is_exact(&reader) {
            return Err(ModelError::NotExact);
        }
        let (exact, _) = Exact::load(path, reader)?;
        Ok(Self { exact, is_current: true, threads: cores() })
    }
}

fn run_on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, ModelError> {
    on_threads(threads, work).map_err(|error| ModelError::Threads(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(class: &str, number: usize) -> Labelled {
        let centre = ["a", "b", "c"].iter().position(|other| *other == class).unwrap();
        let angle = number as f32 * 0.01 + 1.5 * centre as f32;
        let feature = Feature::new(&[angle.cos(), angle.sin(), 0.2 * (number % 7) as f32]).unwrap();
        Labelled { class: class.into(), source: format!("{class}/{number}"), photo: Extracted::of_feature(feature) }
    }

    fn learned(photos: impl IntoIterator<Item = Labelled>) -> PhotoClassifier {
        let mut classifier = PhotoClassifier::of_features(3);
        classifier.learn(photos).unwrap();
        classifier
    }

    #[test]
    fn order_and_number_of_sessions_and_threads_do_not_matter_and_a_file_keeps_all() {
        let all = || (0..60).flat_map(|number| ["a", "b"].map(|class| photo(class, number)));
        let bytes = learned(all()).to_bytes().unwrap();
        let mut sessions = PhotoClassifier::of_features(3).on_threads(1);
        for photo in all().collect::<Vec<_>>().into_iter().rev() {
            sessions.learn([photo]).unwrap();
        }
        let again = sessions.learn([photo("a", 3), photo("b", 70), Labelled { class: "a".into(), ..photo("b", 70) }]);
        assert_eq!(again.unwrap(), Learned { new: 1, seen_before: 2, as_another: 1 });
        let last = Digest::from_sha256(photo("b", 70).photo.sha256);
        assert_eq!(sessions.forget(&[last].into(), &Features::new()).unwrap().digests, BTreeSet::from([last]));
        assert_eq!(sessions.to_bytes().unwrap(), bytes);
        let mut loaded = PhotoClassifier::from_bytes(bytes.clone()).unwrap();
        loaded.learn([photo("c", 0)]).unwrap();
        assert_eq!(loaded.classes(), ["a", "b", "c"]);
        let gone = Digest::from_sha256(photo("c", 0).photo.sha256);
        loaded.forget(&[gone].into(), &Features::new()).unwrap();
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn scores_are_logarithms_of_probabilities() {
        let mut classifier = learned((0..60).flat_map(|number| ["a", "b"].map(|class| photo(class, number))));
        let features: Vec<Feature> = (0..9).map(|number| photo("b", 10 * number).photo.feature).collect();
        let (scores, shares) = (classifier.scores(&features).unwrap(), classifier.probabilities(&features).unwrap());
        for (scores, shares) in scores.chunks(2).zip(shares.chunks(2)) {
            assert!((shares[0] + shares[1] - 1.0).abs() < 1e-9);
            assert!(((shares[1] / shares[0]).ln() - (scores[1] - scores[0])).abs() < 1e-4, "{scores:?} {shares:?}");
            assert!(shares[1] > 0.5);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut classifier = learned([photo("a", 1), photo("a", 2)]);
        assert!(matches!(classifier.current(), Err(ModelError::OneClass(name)) if name == "a"));
        let mut classifier = learned([photo("a", 1), photo("a", 2), photo("b", 1)]).remembering(MemorySize::Images(1));
        assert!(matches!(classifier.current(), Err(ModelError::SmallMemory { .. })));
        let mut classifier = learned([photo("a", 1), photo("a", 2), photo("b", 1)]);
        let before = classifier.to_bytes().unwrap();
        let only = Digest::from_sha256(photo("b", 1).photo.sha256);
        assert!(matches!(classifier.forget(&[only].into(), &Features::new()), Err(ModelError::LastClasses(_))));
        assert_eq!(classifier.remembered("b/1"), Some(only));
        assert_eq!(classifier.to_bytes().unwrap(), before);
        let mut damaged = before.clone();
        damaged[before.len() / 2] ^= 1;
        assert!(matches!(PhotoClassifier::from_bytes(damaged), Err(ModelError::File(_))));
    }
}
