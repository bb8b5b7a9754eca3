//! An image in memory.

use std::{cmp::Ordering, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::mapped::Mapped;

/// Height, width and channels (1 or 3) of every image of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
}

impl ImageShape {
    /// Bytes of one image.
    pub fn bytes(self) -> usize {
        self.height * self.width * self.channels
    }
}

/// What the bytes of a sample are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InputShape {
    /// Pixels of an image.
    Pixels(ImageShape),
    /// Features of a photo by a pre-trained backbone, then those of the mirrored photo: integers of 16
    /// bits, little-endian.
    Features {
        /// Features of one photo.
        features: usize,
    },
}

impl InputShape {
    /// Bytes of one sample.
    pub fn bytes(self) -> usize {
        match self {
            Self::Pixels(shape) => shape.bytes(),
            Self::Features { features } => VIEWS * VALUE * features,
        }
    }

    /// The axes of one sample in an array of bytes.
    pub fn axes(self) -> [usize; 3] {
        match self {
            Self::Pixels(ImageShape { height, width, channels }) => [height, width, channels],
            Self::Features { features } => [VIEWS, features, VALUE],
        }
    }

    /// As a network reads it: features are the channels of one pixel.
    pub fn image(self) -> ImageShape {
        match self {
            Self::Pixels(shape) => shape,
            Self::Features { features } => ImageShape { height: 1, width: 1, channels: features },
        }
    }
}

impl From<ImageShape> for InputShape {
    fn from(shape: ImageShape) -> Self {
        Self::Pixels(shape)
    }
}

/// The photo and its mirror image.
const VIEWS: usize = 2;
/// Bytes of a feature.
const VALUE: usize = 2;

/// The features of a photo (`view` 0), or of its mirror image (`view` 1), of the bytes of a sample.
pub fn feature_view(sample: &[u8], view: usize) -> impl Iterator<Item = i16> {
    let values = &sample[view * (sample.len() / VIEWS)..][..sample.len() / VIEWS];
    values.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes))
}

/// An image: `[height, width, channels]` bytes, shared, never changed; or a sample of features
/// ([`InputShape`]). Images of a pack stay in the mapped file, so that keeping one costs a few bytes.
#[derive(Clone)]
pub struct Image(Bytes);

#[derive(Clone)]
enum Bytes {
    Own(Arc<[u8]>),
    Mapped { file: Arc<Mapped>, start: usize, length: usize },
}

impl Image {
    /// A part of a mapped file.
    ///
    /// # Panics
    /// If it is not within the file.
    pub(crate) fn mapped(file: &Arc<Mapped>, start: usize, length: usize) -> Self {
        assert!(start.checked_add(length).is_some_and(|end| end <= file.len()), "an image within the file");
        Self(Bytes::Mapped { file: Arc::clone(file), start, length })
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Own(bytes) => bytes,
            Bytes::Mapped { file, start, length } => &file[*start..][..*length],
        }
    }
}

impl<B: Into<Arc<[u8]>>> From<B> for Image {
    fn from(bytes: B) -> Self {
        Self(Bytes::Own(bytes.into()))
    }
}

impl FromIterator<u8> for Image {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Self(Bytes::Own(bytes.into_iter().collect()))
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Image {}

impl PartialOrd for Image {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Image {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}
