//! A version of a model: a learner and all that goes with it, in one sealed file.

use std::{collections::BTreeMap, path::Path};

use rehearsal::{
    Learner, ModelFileError,
    learner::{Extra, ExtraArray, WithExtra},
    sample::{Class, Image},
};
use serde::{Deserialize, Serialize};

use crate::{Digest, Exam, ModelError, Question, threshold};

const FORMAT: u32 = 1;
const EXAM_IMAGES: &str = "exam.images";
const EXAM_DIGESTS: &str = "exam.digests";
const LEARNED: &str = "learned.digests";
const LEARNED_CLASSES: &str = "learned.classes";

/// A version of a model.
#[derive(Clone)]
pub struct Version {
    /// What predicts, and goes on learning.
    pub learner: Learner,
    /// The images kept back.
    pub exam: Exam,
    /// Every image that was ever learned, and as what.
    pub(crate) learned: BTreeMap<Digest, Class>,
    /// Where the images of the memory came from.
    pub(crate) sources: BTreeMap<Digest, String>,
    /// Below which probability an answer is unsure, if there is one.
    pub threshold: Option<f64>,
    /// The checksum of its file; empty before it is saved.
    pub(crate) sha256: String,
}

/// What stands in the file's header.
#[derive(Serialize, Deserialize)]
struct Header {
    model: u32,
    exam: Vec<Kept>,
    memory: BTreeMap<String, String>,
    threshold: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    class: u16,
    source: String,
}

impl Version {
    /// An exam of fewer images says nothing about which answers are sure.
    pub const SMALLEST_EXAM: usize = threshold::FEWEST;

    /// Of a learner that has learned nothing.
    pub(crate) fn new(learner: Learner) -> Self {
        let (exam, threshold, sha256) = (Exam::default(), None, String::new());
        Self { learner, exam, learned: BTreeMap::new(), sources: BTreeMap::new(), threshold, sha256 }
    }

    /// Every image that was learned or kept back, and as what.
    pub(crate) fn known(&self) -> BTreeMap<Digest, Class> {
        let kept_back = self.exam.questions().iter().map(|question| (question.digest, question.class));
        self.learned.iter().map(|(digest, class)| (*digest, *class)).chain(kept_back).collect()
    }

    /// Whether an image, of the model's size, was learned.
    pub fn has_learned(&self, image: &[u8]) -> bool {
        self.learned.contains_key(&Digest::of(image))
    }

    /// How many images were learned.
    pub fn images_learned(&self) -> usize {
        self.learned.len()
    }

    /// How many images of a class were learned.
    pub fn images_learned_of(&self, class: Class) -> usize {
        self.learned.values().filter(|learned| **learned == class).count()
    }

    /// The stored images with their classes and where they came from, in the order of the memory.
    pub fn memory(&self) -> impl Iterator<Item = (Class, &Image, &str)> {
        self.learner.memory().slots().iter().map(|stored| {
            let source = self.sources.get(&Digest::of(&stored.sample.image)).map_or("", String::as_str);
            (stored.sample.label, &stored.sample.image, source)
        })
    }

    /// Every image in memory and exam: what tells it from others, its class, where it came from.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Digest, Class, &str)> {
        let memory = self.memory().map(|(class, image, source)| (Digest::of(image), class, source));
        memory.chain(self.exam.questions().iter().map(|asked| (asked.digest, asked.class, asked.source.as_str())))
    }

    /// After the memory has become smaller: statistics that came from it come from what is left.
    pub(crate) fn recalibrate_again(&mut self) {
        if self.learner.calibration_images().is_some() {
            self.learner.recalibrate();
        }
    }

    /// Saves it, whole or not at all, with the sources of what the memory holds.
    pub(crate) fn save(&mut self, path: &Path) -> Result<(), ModelError> {
        let held = self.learner.memory().slots().iter().map(|stored| Digest::of(&stored.sample.image));
        let sources = held.filter_map(|digest| Some((digest, self.sources.get(&digest)?.clone()))).collect();
        self.sources = sources;
        self.sha256 = self.learner.save_with_extra(path, &self.extra())?;
        Ok(())
    }

    fn extra(&self) -> Extra {
        let questions = self.exam.questions();
        let kept = |question: &Question| Kept { class: question.class.0, source: question.source.clone() };
        let header = Header {
            model: FORMAT,
            exam: questions.iter().map(kept).collect(),
            memory: self.sources.iter().map(|(digest, source)| (digest.to_string(), source.clone())).collect(),
            threshold: self.threshold,
        };
        let shape = self.learner.shape();
        let digests = |bytes: Vec<u8>| ExtraArray { shape: vec![bytes.len() / Digest::BYTES, Digest::BYTES], bytes };
        let images = ExtraArray {
            shape: vec![questions.len(), shape.height, shape.width, shape.channels],
            bytes: questions.iter().flat_map(|question| question.image.iter().copied()).collect(),
        };
        let classes: Vec<u8> = self.learned.values().flat_map(|class| class.0.to_le_bytes()).collect();
        let arrays = [
            (EXAM_IMAGES, images),
            (EXAM_DIGESTS, digests(questions.iter().flat_map(|question| question.digest.bytes()).collect())),
            (LEARNED, digests(self.learned.keys().flat_map(|digest| digest.bytes()).collect())),
            (LEARNED_CLASSES, ExtraArray { shape: vec![classes.len() / 2, 2], bytes: classes }),
        ];
        let header = serde_json::to_value(header).expect("a header is plain data");
        Extra { header, arrays: arrays.map(|(name, array)| (name.to_owned(), array)).into_iter().collect() }
    }

    /// The version in a file, on `threads` threads.
    pub(crate) fn load(path: &Path, threads: usize) -> Result<Self, ModelError> {
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
        let exam = exam(&learner, &header.exam, part(EXAM_IMAGES), part(EXAM_DIGESTS));
        let exam = exam.ok_or_else(|| unusable("its exam has not as many images as classes"))?;
        let learned = digests(part(LEARNED))
            .zip(part(LEARNED_CLASSES).as_chunks().0)
            .map(|(digest, class)| (digest, Class(u16::from_le_bytes(*class))));
        let sources =
            header.memory.iter().filter_map(|(digest, source)| Some((Digest::parse(digest)?, source.clone())));
        let (learned, sources) = (learned.collect(), sources.collect());
        Ok(Self { learner, exam, learned, sources, threshold: header.threshold, sha256 })
    }
}

fn digests(bytes: &[u8]) -> impl Iterator<Item = Digest> {
    bytes.as_chunks().0.iter().map(|bytes| Digest::from_bytes(*bytes))
}

/// The questions of a file; none where its parts do not fit together.
fn exam(learner: &Learner, kept: &[Kept], images: &[u8], bytes: &[u8]) -> Option<Exam> {
    let each = learner.shape().bytes();
    let fits = images.len() == kept.len().checked_mul(each)? && bytes.len() == kept.len() * Digest::BYTES;
    let known = kept.iter().all(|kept| usize::from(kept.class) < learner.classes().seen());
    let question = |((kept, image), digest): ((&Kept, &[u8]), Digest)| Question {
        image: image.to_vec().into(),
        class: Class(kept.class),
        digest,
        source: kept.source.clone(),
    };
    let questions = kept.iter().zip(images.chunks_exact(each)).zip(digests(bytes)).map(question);
    (fits && known).then(|| Exam::new(questions.collect()))
}
