//! What a program adds to a saved learner: it stands in the same file, under the same checksum, and
//! a plain [`Learner::load`] takes no notice of it.

use std::{collections::BTreeMap, path::Path};

use rehearsal_files::model_file::ArrayToWrite;
use safetensors::Dtype;

use super::{
    Learner, LearnerError, Parts,
    saved::{Added, Loaded},
};

/// Before the names of its arrays.
pub(super) const EXTRA: &str = "extra.";

/// What a program adds to a saved learner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// Plain data: `extra` in the file's header.
    pub header: serde_json::Value,
    /// Bytes by name: the file's arrays `extra.NAME`.
    pub arrays: BTreeMap<String, ExtraArray>,
}

/// An array of bytes, row-major.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraArray {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The values.
    pub bytes: Vec<u8>,
}

/// A learner of a file, and what else the file held.
pub struct WithExtra {
    /// Ready to predict and to go on learning.
    pub learner: Learner,
    /// What was added; none if nothing was.
    pub extra: Option<Extra>,
    /// The file's checksum, in hexadecimal.
    pub sha256: String,
}

impl Extra {
    pub(super) fn to_write(&self) -> impl Iterator<Item = ArrayToWrite<'_>> {
        self.arrays.iter().map(|(name, array)| ArrayToWrite {
            name: format!("{EXTRA}{name}"),
            dtype: Dtype::U8,
            shape: array.shape.clone(),
            pieces: Box::new(std::iter::once(array.bytes.clone())),
        })
    }
}

impl Learner {
    /// Saves it with what a program adds, whole or not at all; the file's checksum, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be written; what was there before still is.
    pub fn save_with_extra(&self, path: impl AsRef<Path>, extra: &Extra) -> Result<String, LearnerError> {
        for (name, ExtraArray { shape, bytes }) in &extra.arrays {
            assert_eq!(shape.iter().product::<usize>(), bytes.len(), "the bytes of {name}");
        }
        self.save_added(path.as_ref(), Added { run: None, extra: Some(extra) })
    }

    /// As [`Learner::load`], with what a program added; on `threads` threads instead of as many as the file says.
    ///
    /// # Errors
    /// As [`Learner::load`].
    pub fn load_with_extra(path: impl AsRef<Path>, threads: usize) -> Result<WithExtra, LearnerError> {
        let adjust = |config: &mut crate::config::LearnerConfig| config.threads = threads;
        let Loaded { learner, extra, sha256, .. } = Self::read(path.as_ref(), Parts::new(), adjust)?;
        Ok(WithExtra { learner, extra, sha256 })
    }
}
