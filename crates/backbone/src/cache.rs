//! Features on disk, by backbone and photo: computed once, used by every later session.
//!
//! One small file per photo, named after the SHA-256 of the photo's file: the features as integers, the
//! thumbnail, then a CRC-32 of both. It is a cache: a file that is damaged, or cannot be written, costs a
//! second computation and nothing else.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use rehearsal_files::{regular, sha256::hex};
use rehearsal_gaussian::Feature;

use crate::{Backbone, Extracted};

/// No thumbnail has more bytes.
const LARGEST_THUMBNAIL: u64 = 1 << 20;

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
    pub fn get(&self, photo: [u8; 32]) -> Option<Extracted> {
        let bytes = regular::read(&self.path(&photo), 2 * self.dimensions as u64 + LARGEST_THUMBNAIL).ok()?;
        let (content, checksum) = bytes.split_last_chunk()?;
        if crc32fast::hash(content).to_le_bytes() != *checksum {
            return None;
        }
        let (values, thumbnail) = content.split_at_checked(2 * self.dimensions)?;
        let raw: Vec<i16> = values.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect();
        Some(Extracted { sha256: photo, feature: Feature::from_raw(raw), thumbnail: thumbnail.into() })
    }

    /// Keeps the features of a photo, if they can be written.
    pub fn keep(&self, extracted: &Extracted) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = self.path(&extracted.sha256);
        let mut bytes: Vec<u8> = extracted.feature.raw().iter().flat_map(|value| value.to_le_bytes()).collect();
        bytes.extend_from_slice(&extracted.thumbnail);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        // A name that no other process or thread uses, then a rename: a reader sees all of it or none.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_extension(format!("{}-{number}.partial", process::id()));
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&partial, bytes));
        if written.and_then(|()| fs::rename(&partial, &path)).is_err() {
            let _ = fs::remove_file(&partial);
        }
    }
}
