//! From files of photos to features: read, looked up, decoded and computed in batches, so that memory
//! does not grow with the number of photos.

use std::{ops::ControlFlow, path::Path, sync::Arc};

use rayon::prelude::*;
use rehearsal_data::{DataError, Image, PhotoFile, Progress, Unit};
use rehearsal_gaussian::Feature;

use crate::{
    Backbone, BackboneError, FeatureCache,
    thumbnail::{REMEMBERED, thumbnail},
};

/// Photos that are in memory at a time.
const AT_ONCE: usize = 32;

/// Computes features of photos, each once.
pub struct Extractor {
    backbone: Box<dyn Backbone>,
    cache: Option<FeatureCache>,
}

/// The features of a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// SHA-256 of the photo's file.
    pub sha256: [u8; 32],
    /// Its features.
    pub feature: Feature,
    /// A small JPEG file of it.
    pub thumbnail: Arc<[u8]>,
}

/// A photo on its way: its features are known, or its pixels are there to compute them.
enum Found {
    Known(Extracted),
    New([u8; 32], Image),
}

impl Extractor {
    /// Of this backbone, with a cache below `root` if there is one.
    pub fn new(backbone: Box<dyn Backbone>, root: Option<&Path>) -> Self {
        let cache = root.map(|root| FeatureCache::new(root, &*backbone));
        Self { backbone, cache }
    }

    /// The backbone.
    pub fn backbone(&self) -> &dyn Backbone {
        &*self.backbone
    }

    /// The features of photos, in the order of `paths`; a photo that cannot be read has an error of its
    /// own.
    ///
    /// # Errors
    /// The network cannot be used: it cannot be computed, or gives NaN for a photo.
    pub fn extract<P: AsRef<Path> + Sync>(
        &self,
        paths: &[P],
        progress: &dyn Progress,
    ) -> Result<Vec<Result<Extracted, DataError>>, BackboneError> {
        let mut all = Vec::with_capacity(paths.len());
        self.for_each(paths, progress, |_, extracted| {
            all.push(extracted);
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    /// Calls `each` with the number of a photo and its features, in the order of `paths`, until it
    /// breaks. Only some photos are in memory at a time.
    ///
    /// # Errors
    /// As [`Extractor::extract`].
    pub fn for_each<P: AsRef<Path> + Sync>(
        &self,
        paths: &[P],
        progress: &dyn Progress,
        mut each: impl FnMut(usize, Result<Extracted, DataError>) -> ControlFlow<()>,
    ) -> Result<(), BackboneError> {
        progress.begin("reading photos", Unit::Items, 0, Some(paths.len() as u64));
        let mut number = 0;
        'all: for paths in paths.chunks(AT_ONCE) {
            // One photo at a time: they differ in size, and a thread that finishes early takes the next.
            let found: Vec<_> = paths.par_iter().with_max_len(1).map(|path| self.find(path.as_ref())).collect();
            let features = self.compute(paths, &found)?;
            for extracted in self.join(found, features) {
                if each(number, extracted).is_break() {
                    break 'all;
                }
                number += 1;
            }
            progress.advance(paths.len() as u64);
        }
        progress.end();
        Ok(())
    }

    fn find(&self, path: &Path) -> Result<Found, DataError> {
        let file = PhotoFile::read(path)?;
        let sha256 = file.sha256;
        match self.cache.as_ref().and_then(|cache| cache.get(sha256)) {
            Some(extracted) => Ok(Found::Known(extracted)),
            None => Ok(Found::New(sha256, self.backbone.preprocessing().decode(&file)?)),
        }
    }

    /// Computes what is new, all of it together.
    fn compute<P: AsRef<Path>>(
        &self,
        paths: &[P],
        found: &[Result<Found, DataError>],
    ) -> Result<Vec<Feature>, BackboneError> {
        let new = paths.iter().zip(found).filter_map(|(path, found)| match found {
            Ok(Found::New(_, image)) => Some((path.as_ref(), image.clone())),
            _ => None,
        });
        let (paths, images): (Vec<&Path>, Vec<Image>) = new.unzip();
        let values = self.backbone.features(&images)?;
        let (dimensions, backbone) = (self.backbone.dimensions(), || self.backbone.name().to_owned());
        let expected = images.len() * dimensions;
        if values.len() != expected {
            return Err(BackboneError::Count { backbone: backbone(), found: values.len(), expected });
        }
        let bad = |path: &Path| BackboneError::NotFiniteFeatures { backbone: backbone(), path: path.into() };
        let rows = values.chunks_exact(dimensions.max(1)).zip(paths);
        rows.map(|(row, path)| Feature::new(row).map_err(|_| bad(path))).collect()
    }

    /// Gives each new photo its features, and keeps them.
    fn join(
        &self,
        found: Vec<Result<Found, DataError>>,
        features: Vec<Feature>,
    ) -> impl Iterator<Item = Result<Extracted, DataError>> {
        let (mut features, shape) = (features.into_iter(), self.backbone.preprocessing().shape);
        let mut finish = move |found| match found {
            Found::Known(extracted) => Some(extracted),
            Found::New(sha256, image) => {
                let feature = features.next()?;
                let thumbnail = thumbnail(&image, shape, REMEMBERED);
                let extracted = Extracted { sha256, feature, thumbnail };
                if let Some(cache) = &self.cache {
                    cache.keep(&extracted);
                }
                Some(extracted)
            }
        };
        found.into_iter().filter_map(move |found| found.map(&mut finish).transpose())
    }
}
