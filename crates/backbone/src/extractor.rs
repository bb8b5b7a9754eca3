//! From files of photos to features: read, looked up, decoded and computed in batches, so that memory
//! does not grow with the number of photos.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use rayon::prelude::*;
use rehearsal_data::{DataError, Image, Progress, Unit, decode::PictureRef, photos::PhotoSource};
use rehearsal_gaussian::Feature;
use sha2::{Digest, Sha256};

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

impl Extracted {
    /// A feature that was computed elsewhere; its identity is the SHA-256 of its numbers.
    pub fn of_feature(feature: Feature) -> Self {
        let mut digest = Sha256::new();
        feature.raw().iter().for_each(|value| digest.update(value.to_le_bytes()));
        Self { sha256: digest.finalize().into(), feature, thumbnail: Vec::new().into() }
    }
}

impl Extractor {
    /// Of this backbone, with a cache below `root` if there is one.
    pub fn new(backbone: Box<dyn Backbone>, root: Option<&Path>) -> Self {
        let cache = root.map(|root| FeatureCache::new(root, &*backbone));
        Self { backbone, cache }
    }

    /// Without a cache: what it computes leaves no trace on disk.
    pub fn without_cache(self) -> Self {
        Self { cache: None, ..self }
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
    pub fn extract<P: PhotoSource>(
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
    pub fn for_each<P: PhotoSource>(
        &self,
        paths: &[P],
        progress: &dyn Progress,
        mut each: impl FnMut(usize, Result<Extracted, DataError>) -> ControlFlow<()>,
    ) -> Result<(), BackboneError> {
        progress.begin("reading photos", Unit::Items, 0, Some(paths.len() as u64));
        let mut number = 0;
        'all: for paths in paths.chunks(AT_ONCE) {
            // One photo at a time: they differ in size, and a thread that finishes early takes the next.
            let found: Vec<_> = paths.par_iter().with_max_len(1).map(|path| self.find(path)).collect();
            let features = self.compute(new_images(paths, &found))?;
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

    fn find(&self, photo: &impl PhotoSource) -> Result<Found, DataError> {
        let file = photo.read()?;
        let sha256 = file.sha256;
        match self.cache.as_ref().and_then(|cache| cache.get(sha256)) {
            Some(extracted) => Ok(Found::Known(extracted)),
            None => Ok(Found::New(sha256, self.backbone.preprocessing().decode(&file)?)),
        }
    }

    /// As [`Extractor::for_each`], of images in memory. Their identity is the SHA-256 of their size and pixels. The
    /// cache does not keep them.
    ///
    /// # Errors
    /// As [`Extractor::extract`].
    pub fn for_each_picture(
        &self,
        pictures: &[PictureRef<'_>],
        progress: &dyn Progress,
        mut each: impl FnMut(Extracted) -> ControlFlow<()>,
    ) -> Result<(), BackboneError> {
        progress.begin("reading images", Unit::Items, 0, Some(pictures.len() as u64));
        let preprocessing = self.backbone.preprocessing();
        for (chunk, pictures) in pictures.chunks(AT_ONCE).enumerate() {
            let number = chunk * AT_ONCE;
            let read = |picture: &PictureRef| (picture_sha256(*picture), preprocessing.fit(*picture));
            let read: Vec<_> = pictures.par_iter().with_max_len(1).map(read).collect();
            let named =
                read.iter().enumerate().map(|(at, (_, image))| (format!("image {}", number + at), image.clone()));
            let features = self.compute(named.map(|(name, image)| (name.into(), image)))?;
            let extracted = |((sha256, image), feature): (([u8; 32], Image), Feature)| Extracted {
                sha256,
                feature,
                thumbnail: thumbnail(&image, preprocessing.shape, REMEMBERED),
            };
            let all: Vec<Extracted> = read.into_par_iter().zip(features).map(extracted).collect();
            if all.into_iter().try_for_each(&mut each).is_break() {
                break;
            }
            progress.advance(pictures.len() as u64);
        }
        progress.end();
        Ok(())
    }

    /// Computes the features of images, all of them together; an error names one.
    fn compute(&self, images: impl Iterator<Item = (PathBuf, Image)>) -> Result<Vec<Feature>, BackboneError> {
        let (paths, images): (Vec<PathBuf>, Vec<Image>) = images.unzip();
        let values = self.backbone.features(&images)?;
        let (dimensions, backbone) = (self.backbone.dimensions(), || self.backbone.name().to_owned());
        let expected = images.len() * dimensions;
        if values.len() != expected {
            return Err(BackboneError::Count { backbone: backbone(), found: values.len(), expected });
        }
        let bad = |path: PathBuf| BackboneError::NotFiniteFeatures { backbone: backbone(), path };
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

/// Those that are not known yet, with their paths.
fn new_images<'a, P: PhotoSource>(
    paths: &'a [P],
    found: &'a [Result<Found, DataError>],
) -> impl Iterator<Item = (PathBuf, Image)> + use<'a, P> {
    paths.iter().zip(found).filter_map(|(path, found)| match found {
        Ok(Found::New(_, image)) => Some((path.path().into(), image.clone())),
        _ => None,
    })
}

/// Of the size and the pixels.
fn picture_sha256(picture: PictureRef<'_>) -> [u8; 32] {
    let (height, width) = picture.size();
    let size = [height, width].map(|side| (side as u64).to_le_bytes()).concat();
    Sha256::new().chain_update(size).chain_update(picture.pixels()).finalize().into()
}
