//! A version with a Gaussian head on the features of a pre-trained backbone.
//!
//! What it holds is a function of the set of photos and their classes, whatever the order of sessions:
//! integer sums over all photos, and of each class the photos with the smallest digests. The first of
//! these are the holdout set; the others are the memory. A head without the holdout set is measured on
//! it, which also gives temperature and thresholds. The head that answers then has learned all photos.

mod calibration;
mod change;
mod classifier;
mod contents;
mod file;
mod kept;
mod learn;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rayon::prelude::*;
use rehearsal_backbone::{Backbone, Extractor};
use rehearsal_files::sha256::sha256;
use rehearsal_gaussian::{Feature, Head, Sums};
use serde::{Deserialize, Serialize};

use crate::{Answer, Contents, Digest, Doubt, Example, Input, ModelError, Prediction, backbones, score::answers};
use calibration::{Calibration, Measured, nearest};
pub use classifier::{Labelled, Learned, PhotoClassifier};
pub(crate) use kept::FEWEST;
use kept::{Kept, OfClass, held_out, share};
pub use learn::ExactSession;

/// Photos more alike than this show the same thing at the same moment: bursts and repeated shots. Of
/// photos that were cut by 5 %, made 10 % brighter or darker and saved as JPEG again, 95 % are more alike;
/// of pairs of different photos of one class, fewer than one in a thousand (`docs/models.md`).
const NEAR_DUPLICATE: f64 = 0.86;

/// Which backbone the features come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackboneId {
    /// Its name in the catalogue.
    pub name: String,
    /// SHA-256 of its weights.
    pub sha256: String,
    /// Height and width of a photo as it reads it.
    pub size: usize,
}

impl BackboneId {
    /// Of a backbone that is called by this name: that of the catalogue, or a path.
    pub fn of(name: &str, backbone: &dyn Backbone) -> Self {
        Self { name: name.into(), sha256: backbone.sha256().into(), size: backbone.preprocessing().shape.height }
    }
}

/// A version with a Gaussian head.
#[derive(Clone)]
pub struct Exact {
    backbone: BackboneId,
    /// Over all photos.
    sums: Sums,
    /// Every photo, and its class.
    photos: BTreeMap<Digest, Arc<str>>,
    classes: BTreeMap<Arc<str>, OfClass>,
    /// Photos that fit into the memory.
    capacity: usize,
    /// The most holdout photos of a class.
    holdout_per_class: usize,
    /// Over all photos.
    head: Head,
    /// Of the head that has not learned the holdout set.
    calibration: Calibration,
    /// What that head says of the holdout set, without near-duplicates.
    measured: Vec<Answer>,
    /// Holdout photos that are near-duplicates of photos in memory.
    near_duplicates: BTreeSet<Digest>,
    /// See [`PhotoClassifier::note`].
    note: Option<String>,
}

impl Exact {
    pub(crate) const KIND: &str = "gaussian";

    /// That has seen no photo.
    pub(crate) fn new(backbone: BackboneId, dimensions: usize) -> Self {
        let sums = Sums::new(dimensions);
        Self {
            backbone,
            head: Head::new(&Sums::new(0)),
            sums,
            photos: BTreeMap::new(),
            classes: BTreeMap::new(),
            capacity: 0,
            holdout_per_class: 0,
            calibration: Calibration::NONE,
            measured: Vec::new(),
            near_duplicates: BTreeSet::new(),
            note: None,
        }
    }

    /// The backbone.
    pub fn backbone(&self) -> &BackboneId {
        &self.backbone
    }

    /// The head.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// SHA-256 of the head: of two models with the same head the same.
    pub fn head_sha256(&self) -> String {
        let numbers = self.head.whitening().iter().chain(self.head.means());
        let names = self.head.names().iter().flat_map(|name| name.bytes().chain([0]));
        sha256(&numbers.flat_map(|number| number.to_le_bytes()).chain(names).collect::<Vec<u8>>())
    }

    /// The class of a photo that was learned.
    pub(crate) fn class_of(&self, photo: Digest) -> Option<&Arc<str>> {
        self.photos.get(&photo)
    }

    /// The class of a holdout photo that the user gave.
    fn given_as(&self, photo: Digest) -> Option<&Arc<str>> {
        let has = |class: &OfClass| class.given().binary_search_by_key(&photo, |given| given.digest).is_ok();
        self.classes.iter().find(|(_, class)| has(class)).map(|(name, _)| name)
    }

    /// Whether the user gave a holdout set: then no other photo is held out.
    fn has_given(&self) -> bool {
        self.classes.values().any(|class| !class.given().is_empty())
    }

    /// Adds photos of a class; none of them is known.
    fn add(&mut self, class: &str, photos: Vec<Kept>) {
        let features: Vec<Feature> = photos.iter().map(|photo| photo.feature.clone()).collect();
        self.sums.add(class, &features);
        let name: Arc<str> =
            self.classes.get_key_value(class).map_or_else(|| class.into(), |(name, _)| Arc::clone(name));
        let of_class = self.classes.entry(Arc::clone(&name)).or_default();
        for photo in photos {
            self.photos.insert(photo.digest, Arc::clone(&name));
            of_class.add(photo);
        }
    }

    /// The most photos of a class that are held out.
    fn most_held_out(&self) -> usize {
        if self.has_given() { 0 } else { self.holdout_per_class }
    }

    /// Keeps no more photos than the memory holds.
    fn trim(&mut self) {
        let most = self.most_held_out();
        let trained = self.classes.values().map(|class| class.total() - held_out(class.total(), most));
        let share = share(&trained.collect::<Vec<_>>(), self.capacity);
        self.classes.values_mut().for_each(|class| class.trim(held_out(class.total(), most) + share));
    }

    /// Refuses if photos to hold out are not kept.
    fn check_kept(&self) -> Result<(), ModelError> {
        let most = self.most_held_out();
        let missing = |class: &OfClass| held_out(class.total(), most).saturating_sub(class.kept().len());
        match self.classes.values().map(missing).sum() {
            0 => Ok(()),
            photos => Err(ModelError::NotKept { photos }),
        }
    }

    /// As [`Exact::update`], for photos that may be the first ones.
    fn compute(&mut self) -> Result<(), ModelError> {
        let names = self.classes();
        match &names[..] {
            [] => Err(ModelError::NoImages),
            [only] => Err(ModelError::OneClass(only.to_string())),
            _ if self.capacity < names.len() => {
                Err(ModelError::SmallMemory { memory: self.capacity, classes: names.len() })
            }
            _ => self.update(),
        }
    }

    /// Computes what follows from the photos: head, near-duplicates, calibration.
    ///
    /// # Errors
    /// Photos to hold out are not kept.
    fn update(&mut self) -> Result<(), ModelError> {
        self.trim();
        self.check_kept()?;
        let head = self.measuring_head();
        self.near_duplicates = self.find_near_duplicates();
        let names: BTreeMap<&str, usize> =
            head.names().iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let examples: Vec<(&Arc<str>, &Kept)> = self.examples().collect();
        let measure = |(class, kept): &(&Arc<str>, &Kept)| Measured {
            distances: head.distances(&kept.feature),
            class: names[&***class],
        };
        let measured: Vec<Measured> = examples.par_iter().map(measure).collect();
        let calibration = Calibration::new(&measured);
        let answer = |((class, kept), measured): (&(&Arc<str>, &Kept), &Measured)| {
            let best = nearest(&measured.distances);
            let probabilities = Head::probabilities(&measured.distances, calibration.temperature);
            let (digest, class, predicted) = (kept.digest, Arc::clone(class), head.names()[best].as_str().into());
            Answer { digest, class, predicted, probability: probabilities[best] as f32 }
        };
        let answers = examples.iter().zip(&measured).map(answer).collect();
        (self.calibration, self.measured) = (calibration, answers);
        self.head = Head::new(&self.sums);
        Ok(())
    }

    /// The head that has not learned the holdout set.
    fn measuring_head(&self) -> Head {
        if self.has_given() {
            return Head::new(&self.sums);
        }
        let mut trained = self.sums.clone();
        for (name, class) in &self.classes {
            let held: Vec<Feature> = self.split(class).0.iter().map(|kept| kept.feature.clone()).collect();
            trained.remove(name, &held);
        }
        Head::new(&trained)
    }

    fn measure_with(&self, head: &Head, examples: &[Example]) -> Result<Vec<Answer>, ModelError> {
        let predict = |example: &Example| Ok(self.predict_with(head, self.feature(&example.input)?));
        Ok(answers(examples, examples.par_iter().map(predict).collect::<Result<_, ModelError>>()?))
    }

    /// The photos of a class that are held out, and those in memory.
    fn split<'a>(&self, class: &'a OfClass) -> (&'a [Kept], &'a [Kept]) {
        if self.has_given() {
            return (class.given(), class.kept());
        }
        class.kept().split_at(held_out(class.total(), self.holdout_per_class).min(class.kept().len()))
    }

    fn holdout_photos(&self) -> impl Iterator<Item = (&Arc<str>, &Kept)> {
        self.classes.iter().flat_map(|(name, class)| self.split(class).0.iter().map(move |kept| (name, kept)))
    }

    fn memory_photos(&self) -> impl Iterator<Item = (&Arc<str>, &Kept)> {
        self.classes.iter().flat_map(|(name, class)| self.split(class).1.iter().map(move |kept| (name, kept)))
    }

    /// The holdout photos that measure.
    fn examples(&self) -> impl Iterator<Item = (&Arc<str>, &Kept)> {
        self.holdout_photos().filter(|(_, kept)| !self.near_duplicates.contains(&kept.digest))
    }

    /// Holdout photos that are near-duplicates of a photo of their class in memory.
    fn find_near_duplicates(&self) -> BTreeSet<Digest> {
        let of_class = |class: &OfClass| {
            let (held, memory) = self.split(class);
            let is_near = |a: &Kept, b: &Kept| a.feature.similarity(&b.feature) > NEAR_DUPLICATE;
            let near = held.iter().filter(|photo| memory.iter().any(|other| is_near(photo, other)));
            near.map(|photo| photo.digest).collect::<Vec<_>>()
        };
        self.classes.values().flat_map(of_class).collect()
    }

    fn predict_with(&self, head: &Head, feature: &Feature) -> Prediction {
        let distances = head.distances(feature);
        let probabilities = Head::probabilities(&distances, self.calibration.temperature);
        let best = nearest(&distances);
        let name = |class: usize| -> Arc<str> { head.names()[class].as_str().into() };
        let mut others: Vec<usize> = (0..distances.len()).filter(|class| *class != best).collect();
        others.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)));
        Prediction {
            class: name(best),
            probability: probabilities[best] as f32,
            others: others.into_iter().map(|class| (name(class), probabilities[class] as f32)).collect(),
            distance: Some(distances[best]),
        }
    }

    /// How near a photo is to another class than its own; none if it is the only one of its class.
    fn doubt(&self, class: &Arc<str>, kept: &Kept) -> Option<Doubt> {
        let own = self.head.names().iter().position(|name| *name == **class)?;
        let distances = if self.photos.contains_key(&kept.digest) {
            self.head.distances_without(&kept.feature, own, self.classes.get(class)?.total(), self.photos.len())?
        } else {
            self.head.distances(&kept.feature).into_iter().map(f64::from).collect()
        };
        let others = (0..distances.len()).filter(|other| *other != own);
        let nearest = others.min_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)))?;
        let ratio = distances[own] / distances[nearest].max(f64::MIN_POSITIVE);
        let nearest = self.head.names()[nearest].as_str().into();
        ratio.is_finite().then_some(Doubt { digest: kept.digest, nearest, ratio })
    }

    fn feature<'a>(&self, input: &'a Input) -> Result<&'a Feature, ModelError> {
        match input {
            Input::Features(feature) if feature.dimensions() == self.sums.dimensions() => Ok(feature),
            _ => Err(ModelError::Refused("the photo was read for another kind of model".into())),
        }
    }

    /// The backbone, ready to read photos.
    fn extractor(&self, threads: usize) -> Result<Extractor, ModelError> {
        backbones::open(&self.backbone, threads)
    }
}
