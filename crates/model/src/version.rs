//! A version of a model: what predicts and all that goes with it, in one sealed file.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
};

use rehearsal_files::model_file::{FORMAT, Reader};
use rehearsal_gaussian::Feature;
use serde::Deserialize;

#[cfg(feature = "scratch")]
use crate::scratch::Scratch;
use crate::{
    Answer, Digest, Doubt, Input, InputReader, ModelError, Picture, Prediction, Similar, Verdict, exact::Exact,
    threshold,
};

/// A version of a model.
#[derive(Clone)]
pub struct Version {
    pub(crate) kind: Kind,
    /// The checksum of its file; empty before it is saved.
    pub(crate) sha256: String,
}

/// The kinds of versions.
#[derive(Clone)]
pub(crate) enum Kind {
    /// A Gaussian head on the features of a pre-trained backbone.
    Exact(Box<Exact>),
    /// A network that is trained from scratch.
    #[cfg(feature = "scratch")]
    Scratch(Box<Scratch>),
}

/// Features of photos.
pub type Features = BTreeMap<Digest, Feature>;

/// A photo of the holdout set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its identity.
    pub digest: Digest,
    /// Its class.
    pub class: Arc<str>,
    /// What a version reads of it.
    pub input: Input,
}

/// Where a version holds a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It measures.
    Holdout,
    /// Remembered.
    Memory,
}

/// A photo that a version holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its identity.
    pub digest: Digest,
    /// Its class.
    pub class: Arc<str>,
    /// The path that it came from.
    pub source: String,
    /// Where it is held.
    pub part: Part,
}

/// Photos that were removed from a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Their identities.
    pub digests: BTreeSet<Digest>,
    /// How many were in the memory.
    pub memory: usize,
    /// How many were in the holdout set.
    pub holdout: usize,
}

/// What every kind of version can do.
pub trait Contents: Send + Sync {
    /// The classes that it predicts.
    fn classes(&self) -> Vec<Arc<str>>;

    /// Its settings, as plain data.
    fn config(&self) -> serde_json::Value;

    /// Its settings in a few words.
    fn description(&self) -> String;

    /// Height and width of a photo as it reads it.
    fn size(&self) -> usize;

    /// A reader of photos for it.
    ///
    /// # Errors
    /// Its backbone is not on this machine.
    fn reader(&self) -> Result<InputReader, ModelError>;

    /// What it says of photos.
    ///
    /// # Errors
    /// They were read for another kind of version.
    fn predict(&self, inputs: &[Input]) -> Result<Vec<Prediction>, ModelError>;

    /// The holdout set, without near-duplicates of other photos.
    fn holdout(&self) -> Vec<Example>;

    /// What it said of the holdout set before it learned any of it.
    ///
    /// # Errors
    /// It cannot predict.
    fn holdout_answers(&self) -> Result<Vec<Answer>, ModelError> {
        self.measure(&self.holdout())
    }

    /// What it says of examples without having learned its holdout set.
    ///
    /// # Errors
    /// They were read for another kind of version.
    fn measure(&self, examples: &[Example]) -> Result<Vec<Answer>, ModelError>;

    /// Whether [`Contents::measure`] is fair to a photo: it was not learned for that.
    fn is_fair_to(&self, photo: Digest) -> bool {
        !self.has_learned(photo)
    }

    /// How many holdout photos are left out as near-duplicates.
    fn near_duplicates(&self) -> usize {
        0
    }

    /// Every photo in memory and holdout set.
    fn held(&self) -> Vec<Held>;

    /// The memory as pictures: class, picture, path.
    fn memory(&self) -> Vec<(Arc<str>, Picture, String)>;

    /// The picture of a photo in memory or holdout set; none if it is not held.
    fn picture(&self, _photo: Digest) -> Option<Picture> {
        None
    }

    /// How doubtful the class of each photo in memory and holdout set is, the most doubtful first; empty if the
    /// version cannot tell.
    fn doubts(&self) -> Vec<Doubt> {
        Vec::new()
    }

    /// How many photos fit into the memory.
    fn memory_capacity(&self) -> usize;

    /// Whether it was trained on a photo.
    fn has_learned(&self, photo: Digest) -> bool;

    /// How many photos of a class it was trained on.
    fn learned_of(&self, class: &str) -> usize;

    /// Every photo that is known as this class; none if there is no such class.
    fn photos_of(&self, class: &str) -> Option<BTreeSet<Digest>>;

    /// The features of the photos that it holds.
    fn features(&self) -> Features {
        Features::new()
    }

    /// The probability from which on an answer is sure.
    fn threshold(&self) -> Option<f64>;

    /// The distance beyond which a photo is unknown.
    fn farthest_known(&self) -> Option<f32> {
        None
    }

    /// How far to trust a prediction; `threshold` replaces the one of the holdout set.
    fn verdict(&self, prediction: &Prediction, threshold: Option<f64>) -> Verdict {
        let is_far = |farthest: f32| prediction.distance.is_some_and(|distance| distance > farthest);
        if self.farthest_known().is_some_and(is_far) {
            return Verdict::Unknown;
        }
        match threshold.or(self.threshold()) {
            Some(threshold) if f64::from(prediction.probability) >= threshold => Verdict::Sure,
            _ => Verdict::Unsure,
        }
    }

    /// The remembered photos that are most like a photo.
    fn similar(&self, _photo: &Input, _count: usize) -> Vec<Similar> {
        Vec::new()
    }

    /// Renames a class.
    ///
    /// # Errors
    /// There is no such class, or another has that name.
    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), ModelError>;

    /// Never predicts a class again. `features` has those of photos that it may no longer hold.
    ///
    /// # Errors
    /// There is no such class, or a photo's features are missing.
    fn retire_class(&mut self, name: &str, features: &Features) -> Result<(), ModelError>;

    /// Removes photos. `features` has those of photos that it may no longer hold.
    ///
    /// # Errors
    /// A photo's features are missing.
    fn remove(&mut self, photos: &BTreeSet<Digest>, features: &Features) -> Result<Removed, ModelError>;

    /// Refuses photos that [`Contents::remove`] could not remove.
    ///
    /// # Errors
    /// As [`Contents::remove`].
    fn check_removal(&self, _photos: &BTreeSet<Digest>, _features: &Features) -> Result<(), ModelError> {
        Ok(())
    }

    /// Writes its file, whole or not at all; the file's checksum.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(&mut self, path: &Path) -> Result<String, ModelError>;

    /// Writes an ONNX file for other programs.
    ///
    /// # Errors
    /// It cannot be written.
    fn export_onnx(&self, path: &Path) -> Result<(), ModelError>;

    /// Writes weights for PyTorch.
    ///
    /// # Errors
    /// It cannot be written, or has no weights of its own.
    fn export_safetensors(&self, path: &Path) -> Result<(), ModelError>;

    /// How many photos it was trained on.
    fn learned(&self) -> usize {
        self.classes().iter().map(|class| self.learned_of(class)).sum()
    }
}

impl Deref for Version {
    type Target = dyn Contents;

    fn deref(&self) -> &Self::Target {
        match &self.kind {
            Kind::Exact(exact) => &**exact,
            #[cfg(feature = "scratch")]
            Kind::Scratch(scratch) => &**scratch,
        }
    }
}

impl DerefMut for Version {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.kind {
            Kind::Exact(exact) => &mut **exact,
            #[cfg(feature = "scratch")]
            Kind::Scratch(scratch) => &mut **scratch,
        }
    }
}

impl Version {
    /// A smaller holdout set gives no threshold.
    pub const SMALLEST_HOLDOUT: usize = threshold::FEWEST;

    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, sha256: String::new() }
    }

    /// Whether it has a Gaussian head, rather than a network trained from scratch.
    pub fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Exact(_))
    }

    #[cfg_attr(not(feature = "scratch"), allow(clippy::unnecessary_wraps, reason = "there is one kind only"))]
    pub(crate) fn exact(&self) -> Result<&Exact, ModelError> {
        match &self.kind {
            Kind::Exact(exact) => Ok(exact),
            #[cfg(feature = "scratch")]
            Kind::Scratch(_) => Err(ModelError::NotExact),
        }
    }

    #[cfg_attr(not(feature = "scratch"), allow(clippy::unnecessary_wraps, reason = "there is one kind only"))]
    pub(crate) fn exact_mut(&mut self) -> Result<&mut Exact, ModelError> {
        match &mut self.kind {
            Kind::Exact(exact) => Ok(exact),
            #[cfg(feature = "scratch")]
            Kind::Scratch(_) => Err(ModelError::NotExact),
        }
    }

    /// Saves it, whole or not at all.
    pub(crate) fn save_to(&mut self, path: &Path) -> Result<(), ModelError> {
        self.sha256 = self.save(path)?;
        Ok(())
    }

    /// The version in a file, which computes on `threads` threads.
    #[cfg_attr(not(feature = "scratch"), allow(unused_variables, reason = "an exact head needs no threads of its own"))]
    pub(crate) fn load(path: &Path, threads: usize) -> Result<Self, ModelError> {
        let reader = Reader::open(path, FORMAT)?;
        if is_exact(&reader) {
            let (exact, sha256) = Exact::load(path, reader)?;
            return Ok(Self { kind: Kind::Exact(Box::new(exact)), sha256 });
        }
        #[cfg(feature = "scratch")]
        {
            drop(reader);
            let (scratch, sha256) = Scratch::load(path, threads)?;
            Ok(Self { kind: Kind::Scratch(Box::new(scratch)), sha256 })
        }
        #[cfg(not(feature = "scratch"))]
        Err(ModelError::NotBuilt)
    }
}

/// Whether a file says that it has a Gaussian head.
pub(crate) fn is_exact(reader: &Reader) -> bool {
    #[derive(Deserialize)]
    struct Peeked {
        kind: Option<String>,
    }
    let kind = serde_json::from_str(reader.header()).ok().and_then(|Peeked { kind }| kind);
    kind.as_deref() == Some(Exact::KIND)
}
