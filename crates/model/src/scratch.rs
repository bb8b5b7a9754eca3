//! A version with a network that is trained from scratch: a learner and all that goes with it, in one
//! sealed file.

mod contents;
mod folder;
mod holdout;
mod interrupted;
mod learn;
mod photo;
mod session;
mod split;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rehearsal::{
    Learner, ModelFileError,
    learner::{Extra, ExtraArray, WithExtra},
    sample::{Class, Image},
};
use serde::{Deserialize, Serialize};

use crate::{Contents, Digest, ModelError, threshold::threshold};
pub use holdout::Holdout;
use holdout::HoldoutImage;
pub use learn::LearnObserver;
pub use photo::Photo;
pub use session::Session;

/// 1 identified images by their pixels.
const FORMAT: u32 = 2;
const HOLDOUT_IMAGES: &str = "holdout.images";
const HOLDOUT_DIGESTS: &str = "holdout.digests";
const LEARNED: &str = "learned.digests";
const LEARNED_CLASSES: &str = "learned.classes";
const ONCE: &str = "learned.once";

/// A version with a network that is trained from scratch.
#[derive(Clone)]
pub struct Scratch {
    /// Predicts, and learns in the next session.
    pub learner: Learner,
    /// The holdout set.
    pub holdout: Holdout,
    /// Every image that was ever learned, and as what.
    pub(crate) learned: BTreeMap<Digest, Class>,
    /// Images that were learned once and removed or retired since: what was learned from them is still in the weights.
    pub(crate) once: BTreeSet<Digest>,
    /// The files of the images in memory, by the digests of their pixels. Two files can have the same pixels.
    pub(crate) origins: BTreeMap<Digest, Vec<Origin>>,
    /// Below which probability an answer is unsure, if there is one.
    pub(crate) threshold: Option<f64>,
}

/// The file of an image in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub digest: Digest,
    pub source: String,
}

/// The part of the file's header that is the model store's.
#[derive(Serialize, Deserialize)]
struct Header {
    model: u32,
    holdout: Vec<Kept>,
    memory: BTreeMap<Digest, Vec<Origin>>,
    threshold: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    class: u16,
    source: String,
}

impl Scratch {
    /// Of a learner that has learned nothing.
    pub(crate) fn new(learner: Learner) -> Self {
        Self {
            learner,
            holdout: Holdout::default(),
            learned: BTreeMap::new(),
            once: BTreeSet::new(),
            origins: BTreeMap::new(),
            threshold: None,
        }
    }

    /// Every image that was learned or held out, and as what.
    pub(crate) fn known(&self) -> BTreeMap<Digest, Class> {
        let held_out = self.holdout.images().iter().map(|image| (image.digest, image.class));
        self.learned.iter().map(|(digest, class)| (*digest, *class)).chain(held_out).collect()
    }

    /// The stored images with their classes and where they came from, in the order of the memory.
    fn stored(&self) -> impl Iterator<Item = (Class, &Image, &str)> {
        self.learner.memory().slots().iter().map(move |stored| {
            let source = self.origins_of(&stored.sample.image).first().map_or("", |origin| origin.source.as_str());
            (stored.sample.label, &stored.sample.image, source)
        })
    }

    /// The file of every photo in memory and holdout set: digest, class, path.
    fn files(&self) -> impl Iterator<Item = (Digest, Class, &str)> {
        let memory = self.stored().flat_map(move |(class, image, _)| {
            self.origins_of(image).iter().map(move |origin| (origin.digest, class, origin.source.as_str()))
        });
        memory.chain(self.holdout.images().iter().map(|image| (image.digest, image.class, image.source.as_str())))
    }

    /// The files that an image in memory may come from.
    pub(crate) fn origins_of(&self, image: &[u8]) -> &[Origin] {
        self.origins.get(&Digest::of(image)).map_or(&[][..], Vec::as_slice)
    }

    /// Images count as not learned, so that they can be learned again; what was learned from them is not forgotten.
    fn unlearn(&mut self, which: impl Fn(Digest, Class) -> bool) {
        let going = self.learned.extract_if(.., |digest, class| which(*digest, *class)).map(|(digest, _)| digest);
        self.once.extend(going);
    }

    /// After the memory has become smaller: statistics that came from it come from what is left.
    pub(crate) fn recalibrate_again(&mut self) {
        if self.learner.calibration_images().is_some() {
            self.learner.recalibrate();
        }
    }

    /// Computes the threshold from the holdout set.
    pub(crate) fn set_threshold(&mut self) -> Result<(), ModelError> {
        self.threshold = threshold(&self.holdout_answers()?);
        Ok(())
    }

    /// Saves it, whole or not at all, with the origins of what the memory holds.
    fn write(&mut self, path: &Path) -> Result<String, ModelError> {
        let slots = self.learner.memory().slots().iter();
        let held: BTreeSet<Digest> = slots.map(|stored| Digest::of(&stored.sample.image)).collect();
        self.origins.retain(|pixels, _| held.contains(pixels));
        Ok(self.learner.save_with_extra(path, &self.extra())?)
    }

    fn extra(&self) -> Extra {
        let examples = self.holdout.images();
        let kept = |example: &HoldoutImage| Kept { class: example.class.0, source: example.source.clone() };
        let header = Header {
            model: FORMAT,
            holdout: examples.iter().map(kept).collect(),
            memory: self.origins.clone(),
            threshold: self.threshold,
        };
        let shape = self.learner.shape();
        let digests = |bytes: Vec<u8>| ExtraArray { shape: vec![bytes.len() / Digest::BYTES, Digest::BYTES], bytes };
        let images = ExtraArray {
            shape: vec![examples.len(), shape.height, shape.width, shape.channels],
            bytes: examples.iter().flat_map(|example| example.image.iter().copied()).collect(),
        };
        let classes: Vec<u8> = self.learned.values().flat_map(|class| class.0.to_le_bytes()).collect();
        let once = self.once.iter().flat_map(|digest| digest.bytes()).collect();
        let once = (!self.once.is_empty()).then(|| (ONCE, digests(once)));
        let arrays = [
            (HOLDOUT_IMAGES, images),
            (HOLDOUT_DIGESTS, digests(examples.iter().flat_map(|example| example.digest.bytes()).collect())),
            (LEARNED, digests(self.learned.keys().flat_map(|digest| digest.bytes()).collect())),
            (LEARNED_CLASSES, ExtraArray { shape: vec![classes.len() / 2, 2], bytes: classes }),
        ];
        let header = serde_json::to_value(header).expect("a header is plain data");
        Extra { header, arrays: arrays.into_iter().chain(once).map(|(name, array)| (name.to_owned(), array)).collect() }
    }

    /// The version in a file, on `threads` threads, and the file's checksum.
    pub(crate) fn load(path: &Path, threads: usize) -> Result<(Self, String), ModelError> {
        let WithExtra { learner, extra, sha256 } = Learner::load_with_extra(path, threads)?;
        let unusable = |why: &str| {
            let error = ModelFileError::Unusable { path: path.into(), why: why.into() };
            ModelError::Learner(error.into())
        };
        let extra = extra.ok_or_else(|| unusable("it is a learner, not a version of a model"))?;
        let header: Header =
            serde_json::from_value(extra.header.clone()).map_err(|error| unusable(&error.to_string()))?;
        if header.model != FORMAT {
            return Err(ModelError::Format { path: path.into(), found: header.model.into(), expected: FORMAT });
        }
        let part = |name: &str| extra.arrays.get(name).map_or(&[][..], |array| &array.bytes);
        let holdout = holdout(&learner, &header.holdout, part(HOLDOUT_IMAGES), part(HOLDOUT_DIGESTS));
        let holdout =
            holdout.ok_or_else(|| unusable("the images, classes and digests of its holdout set do not match"))?;
        let learned = learned(&learner, part(LEARNED), part(LEARNED_CLASSES));
        let learned = learned
            .ok_or_else(|| unusable("the digests and classes of the images that it has learned do not match"))?;
        let once = part(ONCE);
        if !once.len().is_multiple_of(Digest::BYTES) {
            return Err(unusable("the digests of the images that it learned once are cut"));
        }
        let once = digests(once).collect();
        if header.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(unusable("its threshold is not a probability"));
        }
        Ok((Self { learner, holdout, learned, once, origins: header.memory, threshold: header.threshold }, sha256))
    }
}

fn digests(bytes: &[u8]) -> impl Iterator<Item = Digest> {
    bytes.as_chunks().0.iter().map(|bytes| Digest::from_bytes(*bytes))
}

/// What was learned, and as what; none where the parts of a file do not fit together.
fn learned(learner: &Learner, images: &[u8], classes: &[u8]) -> Option<BTreeMap<Digest, Class>> {
    let fits = images.len().is_multiple_of(Digest::BYTES) && images.len() / Digest::BYTES * 2 == classes.len();
    let class = |bytes: &[u8; 2]| Class(u16::from_le_bytes(*bytes));
    let learned: Vec<(Digest, Class)> = digests(images).zip(classes.as_chunks().0.iter().map(class)).collect();
    let known = learned.iter().all(|(_, class)| class.index() < learner.classes().seen());
    (fits && known).then(|| learned.into_iter().collect())
}

/// The examples of a file; none where its parts do not fit together.
fn holdout(learner: &Learner, kept: &[Kept], images: &[u8], bytes: &[u8]) -> Option<Holdout> {
    let each = learner.shape().bytes();
    let fits = images.len() == kept.len().checked_mul(each)? && bytes.len() == kept.len() * Digest::BYTES;
    let known = kept.iter().all(|kept| usize::from(kept.class) < learner.classes().seen());
    let example = |((kept, image), digest): ((&Kept, &[u8]), Digest)| HoldoutImage {
        image: image.to_vec().into(),
        class: Class(kept.class),
        digest,
        source: kept.source.clone(),
    };
    let examples: Vec<HoldoutImage> =
        kept.iter().zip(images.chunks_exact(each)).zip(digests(bytes)).map(example).collect();
    (fits && known).then(|| Holdout::new(examples))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A version of two classes and two examples, as a file.
    fn saved(path: &Path) -> Extra {
        let mut learner = Learner::builder().size(8).width(4).memory(10).build().unwrap();
        let images: Vec<Image> = (0..20u8).map(|i| vec![i; 8 * 8 * 3].into()).collect();
        let labels: Vec<&str> = (0..20).map(|i| ["a", "b"][i % 2]).collect();
        learner.learn_task(&images, &labels).unwrap();
        let example = |class: u16| {
            let image: Image = vec![200 + class as u8; 8 * 8 * 3].into();
            HoldoutImage { digest: Digest::of(&image), image, class: Class(class), source: "x.png".into() }
        };
        let mut version = Scratch::new(learner);
        version.holdout = Holdout::new(vec![example(0), example(1)]);
        version.learned = images.iter().map(|image| (Digest::of(image), Class(0))).collect();
        version.write(path).unwrap();
        version.extra()
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused_also_with_the_right_checksum() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("0001.safetensors");
        let whole = saved(&path);
        let learner = Learner::load(&path).unwrap();
        let load = |extra: &Extra| {
            learner.save_with_extra(&path, extra).unwrap();
            Scratch::load(&path, 1).map(drop)
        };
        load(&whole).unwrap();
        let cut = |name: &str| {
            let mut extra = whole.clone();
            let array = extra.arrays.get_mut(name).unwrap();
            array.bytes.pop();
            array.shape = vec![array.bytes.len()];
            extra
        };
        let said = |name: &str, value: serde_json::Value| {
            let mut extra = whole.clone();
            extra.header[name] = value;
            extra
        };
        let mut other_class = whole.clone();
        other_class.arrays.get_mut(LEARNED_CLASSES).unwrap().bytes[0] = 2;
        for (what, extra) in [
            ("fewer classes than digests", cut(LEARNED_CLASSES)),
            ("half a digest", cut(LEARNED)),
            ("half an image", cut(HOLDOUT_IMAGES)),
            ("a class that never was", other_class),
            ("a threshold that is no probability", said("threshold", json!(1.5))),
            ("a digest that is none", said("memory", json!({"../x": []}))),
        ] {
            let error = load(&extra).err().unwrap_or_else(|| panic!("{what} was believed")).to_string();
            assert!(error.contains("cannot be used"), "{what}: {error}");
        }
    }
}
