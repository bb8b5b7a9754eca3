//! Features on disk, by backbone and photo: computed once, used by every later session.
//!
//! One small file per photo, named after the SHA-256 of the photo's file: the features as integers,
//! then a CRC-32 of them. It is a cache: a file that is damaged, or cannot be written, costs a second
//! computation and nothing else.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use rehearsal_files::{regular, sha256::hex};
use rehearsal_gaussian::Feature;

use crate::Backbone;

/// Features of one backbone.
pub struct FeatureCache {
    directory: PathBuf,
    dimensions: usize,
}

impl FeatureCache {
    /// The features of `backbone` below `root`; nothing is created until something is kept.
    pub fn new(root: &Path, backbone: &dyn Backbone) -> Self {
        let short = backbone.sha256().get(..16).unwrap_or(backbone.sha256());
        Self { directory: root.join(format!("{}-{short}", backbone.name())), dimensions: backbone.dimensions() }
    }

    fn path(&self, photo: &[u8; 32]) -> PathBuf {
        let name = hex(photo);
        self.directory.join(&name[..2]).join(&name[2..])
    }

    /// The features of a photo, if they were kept.
    pub fn get(&self, photo: &[u8; 32]) -> Option<Feature> {
        let bytes = regular::read(&self.path(photo), 2 * self.dimensions as u64 + 4).ok()?;
        let (values, checksum) = bytes.split_last_chunk()?;
        let whole = values.len() == 2 * self.dimensions && crc32fast::hash(values).to_le_bytes() == *checksum;
        let raw = || values.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes));
        whole.then(|| Feature::from_raw(raw().collect::<Vec<i16>>()))
    }

    /// Keeps the features of a photo, if they can be written.
    pub fn keep(&self, photo: &[u8; 32], feature: &Feature) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = self.path(photo);
        let values: Vec<u8> = feature.raw().iter().flat_map(|value| value.to_le_bytes()).collect();
        let bytes = [&values[..], &crc32fast::hash(&values).to_le_bytes()].concat();
        // A name that no other process or thread uses, then a rename: a reader sees all of it or none.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_extension(format!("{}-{number}.partial", process::id()));
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&partial, bytes));
        if written.and_then(|()| fs::rename(&partial, &path)).is_err() {
            let _ = fs::remove_file(&partial);
        }
    }
}
