//! A Gaussian head without a directory.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyBytes};
use rehearsal_gaussian::Feature;
use rehearsal_model::{Contents, Digest, Features as FeatureMap, Input, Labelled, PhotoClassifier};

use crate::{
    backbone::{Backbone, Features, matrix},
    error::{Error, Result},
    events,
    number::{self, Number},
};

/// See `rehearsal_learn.PhotoClassifier`.
#[pyclass(frozen, module = "rehearsal_learn")]
pub struct Classifier(Mutex<PhotoClassifier>);

#[pymethods]
impl Classifier {
    /// That has seen nothing: for features of a backbone, or of `dimensions` coordinates.
    #[new]
    #[pyo3(signature = (dimensions, backbone=None, memory="5000", holdout_per_class=Number(50), threads=None))]
    fn new(
        dimensions: Number<usize>,
        backbone: Option<&Backbone>,
        memory: &str,
        holdout_per_class: Number<usize>,
        threads: Option<Number<usize>>,
    ) -> Result<Self> {
        let (Number(dimensions), Number(holdout)) = (dimensions, holdout_per_class);
        let classifier = match backbone {
            Some(backbone) => PhotoClassifier::new(backbone.id()?, dimensions),
            None => PhotoClassifier::of_features(dimensions),
        };
        let memory = memory.parse().map_err(Error::Value)?;
        Self::of(classifier.remembering(memory).holding_out(holdout), threads)
    }

    /// Learns photos with the names of their classes; how many were new, known, and known as another class.
    #[pyo3(signature = (photos, classes, sources=None))]
    fn learn(
        &self,
        py: Python<'_>,
        photos: &Features,
        classes: Vec<String>,
        sources: Option<Vec<String>>,
    ) -> Result<(usize, usize, usize)> {
        self.check(photos)?;
        let sources = sources.unwrap_or_else(|| vec![String::new(); classes.len()]);
        if [classes.len(), sources.len()] != [photos.0.len(); 2] {
            let (photos, classes) = (photos.0.len(), classes.len());
            return Err(Error::Value(format!("{photos} photos and {classes} classes: expected as many of both")));
        }
        let labelled = photos.0.iter().zip(classes).zip(sources);
        let labelled = labelled.map(|((photo, class), source)| Labelled { class, source, photo: photo.clone() });
        events::run(py, None, |_| {
            let learned = self.lock().learn(labelled)?;
            Ok((learned.new, learned.seen_before, learned.as_another))
        })
    }

    /// Takes photos out again; the identities of those that were known.
    #[pyo3(signature = (digests, photos=None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        digests: PyReadonlyArray2<'_, u8>,
        photos: Option<&Features>,
    ) -> Result<Bound<'py, PyArray2<u8>>> {
        let digest = |row: numpy::ndarray::ArrayView1<u8>| row.to_vec().try_into().map(Digest::from_bytes);
        let digests =
            digests.as_array().rows().into_iter().map(digest).collect::<std::result::Result<BTreeSet<_>, _>>();
        let digests = digests.map_err(|row| Error::Value(format!("a digest has {} bytes, expected 16", row.len())))?;
        let given = photos.map(|photos| &photos.0[..]).unwrap_or_default().iter();
        let given: FeatureMap = given.map(|photo| (Digest::from_sha256(photo.sha256), photo.feature.clone())).collect();
        let gone = events::run(py, None, |_| Ok(self.lock().forget(&digests, &given)?.digests))?;
        matrix(py, (gone.len(), Digest::BYTES), gone.into_iter().flat_map(Digest::bytes).collect())
    }

    /// The identity of the remembered photo that came from here, if there is one.
    fn remembered<'py>(&self, py: Python<'py>, source: &str) -> Option<Bound<'py, PyBytes>> {
        self.lock().remembered(source).map(|digest| PyBytes::new(py, &digest.bytes()))
    }

    /// The names of the classes, in order.
    fn classes(&self) -> Vec<String> {
        self.lock().classes()
    }

    /// Coordinates of a feature.
    #[getter]
    fn dimensions(&self) -> usize {
        self.lock().dimensions()
    }

    /// Log-probabilities, but for a constant of each photo: [n, classes].
    fn scores<'py>(&self, py: Python<'py>, photos: &Features) -> Result<Bound<'py, PyArray2<f64>>> {
        self.each(py, photos, |classifier, features| Ok(classifier.scores(features)?))
    }

    /// Probabilities: [n, classes].
    fn probabilities<'py>(&self, py: Python<'py>, photos: &Features) -> Result<Bound<'py, PyArray2<f64>>> {
        self.each(py, photos, |classifier, features| Ok(classifier.probabilities(features)?))
    }

    /// `sure`, `unsure` or `unknown`, for each photo.
    fn verdicts(&self, py: Python<'_>, photos: &Features) -> Result<Vec<&'static str>> {
        self.check(photos)?;
        let inputs: Vec<Input> = photos.0.iter().map(|photo| Input::Features(photo.feature.clone())).collect();
        events::run(py, None, |_| {
            let mut classifier = self.lock();
            let predictions = classifier.predict(&inputs)?;
            let exact = classifier.current()?;
            Ok(predictions.iter().map(|prediction| exact.verdict(prediction, None).word()).collect())
        })
    }

    /// Computes the head now, rather than when it is first asked.
    fn compute(&self, py: Python<'_>) -> Result<()> {
        events::run(py, None, |_| Ok(self.lock().current().map(drop)?))
    }

    /// SHA-256 of the head.
    fn head_sha256(&self, py: Python<'_>) -> Result<String> {
        events::run(py, None, |_| Ok(self.lock().current()?.head_sha256()))
    }

    /// Writes an ONNX file for other programs.
    fn to_onnx(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        events::run(py, None, |_| Ok(self.lock().current()?.export_onnx(&path)?))
    }

    /// Writes the file of a version.
    #[pyo3(signature = (path, note=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, note: Option<String>) -> Result<()> {
        events::run(py, None, |_| {
            let mut classifier = self.lock();
            classifier.set_note(note);
            Ok(classifier.save(&path)?)
        })
    }

    /// The classifier in such a file.
    #[staticmethod]
    #[pyo3(signature = (path, threads=None))]
    fn load(py: Python<'_>, path: PathBuf, threads: Option<Number<usize>>) -> Result<Self> {
        events::run(py, None, |_| Self::of(PhotoClassifier::load(&path)?, threads))
    }

    /// The content of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = events::run(py, None, |_| Ok(self.lock().to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The classifier in such a content.
    #[staticmethod]
    #[pyo3(signature = (content, threads=None))]
    fn from_bytes(py: Python<'_>, content: Vec<u8>, threads: Option<Number<usize>>) -> Result<Self> {
        events::run(py, None, |_| Self::of(PhotoClassifier::from_bytes(content)?, threads))
    }

    /// What `save` was given.
    #[getter]
    fn note(&self) -> Option<String> {
        self.lock().note().map(ToOwned::to_owned)
    }

    /// Name and SHA-256 of the backbone.
    #[getter]
    fn backbone(&self) -> (String, String) {
        let classifier = self.lock();
        (classifier.backbone().name.clone(), classifier.backbone().sha256.clone())
    }
}

impl Classifier {
    fn of(classifier: PhotoClassifier, threads: Option<Number<usize>>) -> Result<Self> {
        Ok(Self(Mutex::new(classifier.on_threads(number::threads(threads)?))))
    }

    fn lock(&self) -> MutexGuard<'_, PhotoClassifier> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses features of another network.
    fn check(&self, photos: &Features) -> Result<()> {
        let dimensions = self.lock().dimensions();
        match photos.0.iter().map(|photo| photo.feature.dimensions()).find(|found| *found != dimensions) {
            Some(found) => Err(Error::Value(format!("a photo has {found} features, expected {dimensions}"))),
            None => Ok(()),
        }
    }

    fn each<'py>(
        &self,
        py: Python<'py>,
        photos: &Features,
        compute: impl FnOnce(&mut PhotoClassifier, &[Feature]) -> Result<Vec<f64>> + Send,
    ) -> Result<Bound<'py, PyArray2<f64>>> {
        self.check(photos)?;
        let features: Vec<Feature> = photos.0.iter().map(|photo| photo.feature.clone()).collect();
        let values = events::run(py, None, |_| compute(&mut self.lock(), &features))?;
        matrix(py, (features.len(), values.len() / features.len().max(1)), values)
    }
}
