//! What the model store asks of a version that is trained from scratch.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use rehearsal::sample::{Class, Image};

use super::{Scratch, holdout::HoldoutImage};
use crate::{
    Answer, Contents, Digest, Example, Features, Held, Input, InputReader, ModelError, Part, Picture, Prediction,
    Removed, score::answers,
};

impl Contents for Scratch {
    fn classes(&self) -> Vec<Arc<str>> {
        let classes = self.learner.classes();
        classes.active().map(|class| Arc::clone(classes.name(class))).collect()
    }

    fn config(&self) -> serde_json::Value {
        serde_json::to_value(self.learner.config()).expect("settings are plain data")
    }

    fn description(&self) -> String {
        let config = self.learner.config();
        let retrieval = config.replay.retrieval.map(|retrieval| format!(" + {retrieval}")).unwrap_or_default();
        format!("{}{retrieval}, width {}, seed {}", config.method.kind, config.network.width, config.seed)
    }

    fn size(&self) -> usize {
        self.learner.shape().height
    }

    fn reader(&self) -> Result<InputReader, ModelError> {
        Ok(InputReader::Pixels(self.learner.shape()))
    }

    fn predict(&self, inputs: &[Input]) -> Result<Vec<Prediction>, ModelError> {
        let image = |input: &Input| match input {
            Input::Pixels(image) => Ok(image.clone()),
            Input::Features(_) => Err(ModelError::Refused("the photo was read for another kind of model".into())),
        };
        let images = inputs.iter().map(image).collect::<Result<Vec<_>, _>>()?;
        let prediction = |prediction: rehearsal::learner::Prediction| Prediction {
            class: prediction.class,
            probability: prediction.probability,
            others: prediction.others,
            distance: None,
        };
        Ok(self.learner.predict(&images)?.into_iter().map(prediction).collect())
    }

    fn measure(&self, examples: &[Example]) -> Result<Vec<Answer>, ModelError> {
        if examples.is_empty() {
            return Ok(Vec::new());
        }
        let inputs: Vec<Input> = examples.iter().map(|example| example.input.clone()).collect();
        Ok(answers(examples, self.predict(&inputs)?))
    }

    fn holdout(&self) -> Vec<Example> {
        let classes = self.learner.classes();
        let example = |image: &HoldoutImage| Example {
            digest: image.digest,
            class: Arc::clone(classes.name(image.class)),
            input: Input::Pixels(image.image.clone()),
        };
        self.holdout.images().iter().map(example).collect()
    }

    fn held(&self) -> Vec<Held> {
        let classes = self.learner.classes();
        let in_memory = self.stored().flat_map(|(_, image, _)| self.origins_of(image)).map(|origin| origin.digest);
        let in_memory: BTreeSet<Digest> = in_memory.collect();
        let held = |(digest, class, source): (Digest, Class, &str)| Held {
            digest,
            class: Arc::clone(classes.name(class)),
            source: source.to_owned(),
            part: if in_memory.contains(&digest) { Part::Memory } else { Part::Holdout },
        };
        self.files().map(held).collect()
    }

    fn memory(&self) -> Vec<(Arc<str>, Picture, String)> {
        let (classes, shape) = (self.learner.classes(), self.learner.shape());
        let picture = |(class, image, source): (Class, &Image, &str)| {
            (Arc::clone(classes.name(class)), Picture::Pixels(image.clone(), shape), source.to_owned())
        };
        self.stored().map(picture).collect()
    }

    fn memory_capacity(&self) -> usize {
        self.learner.memory().capacity()
    }

    fn has_learned(&self, photo: Digest) -> bool {
        self.learned.contains_key(&photo) || self.once.contains(&photo)
    }

    fn learned_of(&self, class: &str) -> usize {
        let class = self.learner.classes().find(class);
        self.learned.values().filter(|learned| Some(**learned) == class).count()
    }

    fn learned(&self) -> usize {
        self.learned.len()
    }

    fn photos_of(&self, class: &str) -> Option<BTreeSet<Digest>> {
        let class = self.learner.classes().find(class)?;
        let all = self.known().into_iter().chain(self.files().map(|(digest, of, _)| (digest, of)));
        Some(all.filter(|(_, of)| *of == class).map(|(digest, _)| digest).collect())
    }

    fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), ModelError> {
        Ok(self.learner.rename_class(from, to)?)
    }

    fn retire_class(&mut self, name: &str, _: &Features) -> Result<(), ModelError> {
        let class = self.learner.classes().find(name);
        self.learner.retire_class(name)?;
        if self.learner.classes().active().count() < 2 {
            return Err(ModelError::LastClasses(name.to_owned()));
        }
        self.holdout.remove(|image| Some(image.class) == class);
        self.unlearn(|_, learned| Some(learned) == class);
        self.recalibrate_again();
        self.set_threshold()
    }

    fn remove(&mut self, going: &BTreeSet<Digest>, _: &Features) -> Result<Removed, ModelError> {
        let mut gone = Removed::default();
        let origins = &self.origins;
        gone.memory = self.learner.forget(|memorized| {
            let of = origins.get(&Digest::of(&memorized.sample.image)).into_iter().flatten();
            let fitting: Vec<Digest> = of.map(|origin| origin.digest).filter(|digest| going.contains(digest)).collect();
            gone.digests.extend(&fitting);
            !fitting.is_empty()
        });
        self.unlearn(|digest, _| gone.digests.contains(&digest));
        self.origins.values_mut().for_each(|of| of.retain(|origin| !going.contains(&origin.digest)));
        let held_out = self.holdout.images().iter().map(|image| image.digest);
        gone.digests.extend(held_out.filter(|digest| going.contains(digest)));
        gone.holdout = self.holdout.remove(|image| going.contains(&image.digest));
        if gone.memory > 0 {
            self.recalibrate_again();
        }
        if !gone.digests.is_empty() {
            self.set_threshold()?;
        }
        Ok(gone)
    }

    fn save(&mut self, path: &Path) -> Result<String, ModelError> {
        self.write(path)
    }

    fn export_onnx(&self, path: &Path) -> Result<(), ModelError> {
        Ok(self.learner.export_onnx(path)?)
    }

    fn export_safetensors(&self, path: &Path) -> Result<(), ModelError> {
        Ok(self.learner.export_safetensors(path)?)
    }
}
