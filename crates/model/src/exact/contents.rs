//! What the model store asks of a version with a Gaussian head.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use rayon::prelude::*;
use rehearsal_backbone::{Limits, export_onnx};
use rehearsal_files::threads;
use serde_json::json;

use super::{Calibration, Exact, Kept, OfClass};
use crate::{
    Answer, Contents, Digest, Doubt, Example, Features, Held, Input, InputReader, ModelError, Part, Picture,
    Prediction, Removed, Similar,
};

impl Contents for Exact {
    fn classes(&self) -> Vec<Arc<str>> {
        self.classes.keys().cloned().collect()
    }

    fn config(&self) -> serde_json::Value {
        json!({
            "method": Self::KIND,
            "backbone": self.backbone,
            "temperature": self.calibration.temperature,
            "head_sha256": self.head_sha256(),
        })
    }

    fn description(&self) -> String {
        format!("Gaussian head on {}", self.backbone.name)
    }

    fn size(&self) -> usize {
        self.backbone.size
    }

    fn reader(&self) -> Result<InputReader, ModelError> {
        Ok(InputReader::Features(self.extractor(threads::current())?))
    }

    fn predict(&self, inputs: &[Input]) -> Result<Vec<Prediction>, ModelError> {
        inputs
            .par_iter()
            .map(|input| self.feature(input).map(|feature| self.predict_with(&self.head, feature)))
            .collect()
    }

    fn holdout(&self) -> Vec<Example> {
        let example = |(class, kept): (&Arc<str>, &Kept)| Example {
            digest: kept.digest,
            class: Arc::clone(class),
            input: Input::Features(kept.feature.clone()),
        };
        self.examples().map(example).collect()
    }

    fn holdout_answers(&self) -> Result<Vec<Answer>, ModelError> {
        Ok(self.measured.clone())
    }

    fn measure(&self, examples: &[Example]) -> Result<Vec<Answer>, ModelError> {
        let known: BTreeMap<Digest, &Answer> = self.measured.iter().map(|answer| (answer.digest, answer)).collect();
        let new: Vec<Example> = examples.iter().filter(|new| !known.contains_key(&new.digest)).cloned().collect();
        // A head costs more than looking up what it said.
        let new = if new.is_empty() { Vec::new() } else { self.measure_with(&self.measuring_head(), &new)? };
        let new: BTreeMap<Digest, &Answer> = new.iter().map(|answer| (answer.digest, answer)).collect();
        let answer = |example: &Example| known.get(&example.digest).or_else(|| new.get(&example.digest));
        // A photo may have been given another class since.
        let with_class = |example: &Example| {
            answer(example).map(|answer| Answer { class: Arc::clone(&example.class), ..(*answer).clone() })
        };
        Ok(examples.iter().filter_map(with_class).collect())
    }

    fn is_fair_to(&self, photo: Digest) -> bool {
        self.class_of(photo).is_none_or(|class| {
            let of_class = self.classes.get(class);
            of_class.is_some_and(|class| self.split(class).0.iter().any(|kept| kept.digest == photo))
        })
    }

    fn near_duplicates(&self) -> usize {
        self.near_duplicates.len()
    }

    fn held(&self) -> Vec<Held> {
        let held = |part: Part| {
            move |(class, kept): (&Arc<str>, &Kept)| Held {
                digest: kept.digest,
                class: Arc::clone(class),
                source: kept.source.clone(),
                part,
            }
        };
        self.holdout_photos().map(held(Part::Holdout)).chain(self.memory_photos().map(held(Part::Memory))).collect()
    }

    fn memory(&self) -> Vec<(Arc<str>, Picture, String)> {
        let picture = |kept: &Kept| Picture::Thumbnail(Arc::clone(&kept.thumbnail));
        self.memory_photos().map(|(class, kept)| (Arc::clone(class), picture(kept), kept.source.clone())).collect()
    }

    fn picture(&self, photo: Digest) -> Option<Picture> {
        let kept = self.classes.values().flat_map(|class| class.kept().iter().chain(class.given()));
        let found = kept.into_iter().find(|kept| kept.digest == photo)?;
        Some(Picture::Thumbnail(Arc::clone(&found.thumbnail)))
    }

    fn doubts(&self) -> Vec<Doubt> {
        let photos: Vec<_> = self.holdout_photos().chain(self.memory_photos()).collect();
        let doubt = |(class, kept): &(&Arc<str>, &Kept)| self.doubt(class, kept);
        let mut doubts: Vec<Doubt> = photos.par_iter().filter_map(doubt).collect();
        doubts.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.digest.cmp(&b.digest)));
        doubts
    }

    fn memory_capacity(&self) -> usize {
        self.capacity
    }

    fn has_learned(&self, photo: Digest) -> bool {
        self.class_of(photo).is_some()
    }

    fn learned_of(&self, class: &str) -> usize {
        self.classes.get(class).map_or(0, OfClass::total)
    }

    fn photos_of(&self, class: &str) -> Option<BTreeSet<Digest>> {
        self.classes.get(class).map(|kept| {
            let of_class = self.photos.iter().filter(|(_, name)| ***name == *class);
            of_class.map(|(digest, _)| *digest).chain(kept.given().iter().map(|given| given.digest)).collect()
        })
    }

    fn features(&self) -> Features {
        let kept = self.classes.values().flat_map(OfClass::kept);
        kept.map(|kept| (kept.digest, kept.feature.clone())).collect()
    }

    fn threshold(&self) -> Option<f64> {
        self.calibration.threshold
    }

    fn farthest_known(&self) -> Option<f32> {
        self.calibration.farthest
    }

    fn similar(&self, photo: &Input, count: usize) -> Vec<Similar> {
        let Ok(feature) = self.feature(photo) else { return Vec::new() };
        let similar = |(class, kept): (&Arc<str>, &Kept)| Similar {
            digest: kept.digest,
            class: Arc::clone(class),
            source: kept.source.clone(),
            similarity: feature.similarity(&kept.feature),
        };
        let mut all: Vec<Similar> = self.memory_photos().map(similar).collect();
        all.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        all.truncate(count);
        all
    }

    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), ModelError> {
        self.rename(from, to)
    }

    fn retire_class(&mut self, name: &str, features: &Features) -> Result<(), ModelError> {
        let photos = self.photos_of(name).ok_or_else(|| ModelError::NoSuchClass(name.into()))?;
        self.remove(&photos, features).map(drop)
    }

    fn remove(&mut self, photos: &BTreeSet<Digest>, features: &Features) -> Result<Removed, ModelError> {
        self.remove_photos(photos, features)
    }

    fn check_removal(&self, photos: &BTreeSet<Digest>, features: &Features) -> Result<(), ModelError> {
        self.clone().take_out(photos, features).map(drop)
    }

    fn save(&mut self, path: &Path) -> Result<String, ModelError> {
        self.write(path)
    }

    fn export_onnx(&self, path: &Path) -> Result<(), ModelError> {
        let extractor = self.extractor(1)?;
        let Calibration { temperature, threshold, farthest } = self.calibration;
        let limits = Limits { temperature, sure_from: threshold, unknown_beyond: farthest };
        Ok(export_onnx(extractor.backbone(), &self.head, limits, path)?)
    }

    fn export_safetensors(&self, _: &Path) -> Result<(), ModelError> {
        Err(ModelError::Refused("a model with a pre-trained backbone is exported as ONNX only".into()))
    }
}
