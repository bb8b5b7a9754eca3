//! The features of a data set, computed once by a pre-trained backbone and mapped into memory.
//!
//! A shard holds the samples of a few hundred images ([`InputShape::Features`]) and a CRC-32. Each appears
//! whole or not at all, so that computing them may stop at any time.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_files::{atomic, sha256::finish};
use sha2::{Digest, Sha256};

use crate::{
    DataError, Image, ImageShape, Incomplete, InputShape, Skipped, Source, Split,
    files::{unreadable, unwritable},
    mapped::Mapped,
    photos::Ignored,
};

/// Images of a shard.
const SHARD: usize = 512;
/// Bytes of a checksum.
const CHECKSUM: usize = 4;
/// What a key begins with: another layout is another key.
const FORMAT: &str = "rehearsal features 1";

/// Where the features of a data set are kept.
#[derive(Clone, Debug)]
pub struct FeatureStore {
    directory: PathBuf,
    features: usize,
    /// Of data set and backbone.
    key: String,
}

/// Some images of a split, whose samples are one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The split.
    pub split: Split,
    /// Its images.
    pub images: Range<usize>,
}

impl FeatureStore {
    /// Below `root`, for so many features of each image of `source` by the backbone with that SHA-256.
    pub fn new(root: &Path, source: &dyn Source, backbone: &str, features: usize) -> Self {
        let mut digest = Sha256::new();
        for part in [FORMAT, backbone, source.sha256()] {
            digest.update(part);
        }
        // Neither their size nor which of them are used changes the digest of the images.
        for number in source.input().axes() {
            digest.update((number as u64).to_le_bytes());
        }
        for split in Split::BOTH {
            digest.update((source.labels(split).len() as u64).to_le_bytes());
        }
        let key = finish(digest);
        Self { directory: root.join(&key[..32]), features, key }
    }

    /// The directory of its files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// All shards of a data set, in order.
    pub fn shards(source: &dyn Source) -> Vec<Shard> {
        let of = |split: Split| {
            let count = source.labels(split).len();
            let shard = move |start| Shard { split, images: start..(start + SHARD).min(count) };
            (0..count).step_by(SHARD).map(shard)
        };
        Split::BOTH.into_iter().flat_map(of).collect()
    }

    /// Whether a shard was written.
    pub fn has(&self, shard: &Shard) -> bool {
        self.open(shard).is_ok()
    }

    /// Writes a shard, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    ///
    /// # Panics
    /// If there is not one sample for each image.
    pub fn write(&self, shard: &Shard, samples: &[u8]) -> Result<(), DataError> {
        assert_eq!(samples.len(), self.bytes(shard), "one sample for each image");
        let path = self.path(shard);
        let bytes = [samples, &crc32fast::hash(samples).to_le_bytes()].concat();
        fs::create_dir_all(&self.directory).and_then(|()| atomic::write(&path, &bytes)).map_err(unwritable(&path))
    }

    /// The data set with features in place of pixels.
    ///
    /// # Errors
    /// A shard is missing or damaged.
    pub fn source(&self, source: Arc<dyn Source>) -> Result<FeatureSet, DataError> {
        let mut shards = [Vec::new(), Vec::new()];
        for shard in Self::shards(&*source) {
            let map = self.open(&shard).map_err(unreadable(&self.path(&shard)))?;
            shards[shard.split as usize].push(Arc::new(map));
        }
        let input = InputShape::Features { features: self.features };
        Ok(FeatureSet { inner: source, input, shards, sha256: self.key.clone() })
    }

    fn path(&self, shard: &Shard) -> PathBuf {
        self.directory.join(format!("{}-{:06}.features", shard.split.name(), shard.images.start))
    }

    fn bytes(&self, shard: &Shard) -> usize {
        shard.images.len() * InputShape::Features { features: self.features }.bytes()
    }

    fn open(&self, shard: &Shard) -> io::Result<Mapped> {
        let length = self.bytes(shard) + CHECKSUM;
        let map = Mapped::open(&self.path(shard), length as u64)?;
        let (samples, checksum) = map.split_last_chunk::<CHECKSUM>().unwrap_or((&[], &[0; CHECKSUM]));
        if map.len() != length || crc32fast::hash(samples).to_le_bytes() != *checksum {
            return Err(io::Error::other("it is damaged"));
        }
        Ok(map)
    }
}

/// A data set with features in place of pixels.
pub struct FeatureSet {
    inner: Arc<dyn Source>,
    input: InputShape,
    /// Of [`Split::BOTH`].
    shards: [Vec<Arc<Mapped>>; 2],
    sha256: String,
}

impl Source for FeatureSet {
    fn shape(&self) -> ImageShape {
        self.input.image()
    }

    fn input(&self) -> InputShape {
        self.input
    }

    fn class_names(&self) -> &[String] {
        self.inner.class_names()
    }

    fn labels(&self, split: Split) -> &[u16] {
        self.inner.labels(split)
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let map = &self.shards[split as usize][index / SHARD];
        if !map.is_whole() {
            return Err(DataError::Refused("a file of features was truncated while it was used".into()));
        }
        let bytes = self.input.bytes();
        Ok(Image::mapped(map, index % SHARD * bytes, bytes))
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn domain_names(&self) -> &[String] {
        self.inner.domain_names()
    }

    fn domains(&self, split: Split) -> &[u16] {
        self.inner.domains(split)
    }

    fn parts(&self) -> Vec<usize> {
        self.inner.parts()
    }

    fn incomplete(&self) -> &[Incomplete] {
        self.inner.incomplete()
    }

    fn skipped(&self) -> &[Skipped] {
        self.inner.skipped()
    }

    fn ignored(&self) -> &[Ignored] {
        self.inner.ignored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Request, feature_view};

    /// Sample `index` of a split: its number, and its negative for the mirror image.
    fn sample(split: Split, index: usize) -> Vec<u8> {
        let number = i16::try_from(index + 2000 * split as usize).unwrap();
        [number, -number].iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn samples_come_back_and_a_damaged_shard_is_not_there() {
        let source = Dataset::Embedded.open(&Request::default()).unwrap();
        let root = tempfile::tempdir().unwrap();
        let store = FeatureStore::new(root.path(), &*source, "a backbone", 1);
        let shards = FeatureStore::shards(&*source);
        assert_eq!(shards.len(), 5 + 2, "2,500 and 1,000 images");
        assert!(store.source(Arc::clone(&source)).is_err(), "nothing is there");
        for shard in &shards {
            assert!(!store.has(shard));
            let samples: Vec<u8> = shard.images.clone().flat_map(|index| sample(shard.split, index)).collect();
            store.write(shard, &samples).unwrap();
            assert!(store.has(shard));
        }
        let features = store.source(Arc::clone(&source)).unwrap();
        for (split, index) in [(Split::Train, 0), (Split::Train, 2499), (Split::Test, 512)] {
            let found = features.image(split, index).unwrap();
            assert_eq!(&*found, sample(split, index));
            let number = i16::try_from(index + 2000 * split as usize).unwrap();
            assert_eq!([0, 1].map(|view| feature_view(&found, view).next()), [Some(number), Some(-number)]);
        }
        assert_eq!(features.input(), InputShape::Features { features: 1 });
        assert_eq!(features.labels(Split::Test), source.labels(Split::Test));
        let path = store.path(&shards[6]);
        let mut bytes = fs::read(&path).unwrap();
        bytes[17] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(!store.has(&shards[6]) && store.has(&shards[5]));
        let other = FeatureStore::new(root.path(), &*source, "another", 1);
        assert!(!other.has(&shards[0]), "of another backbone");
    }
}
