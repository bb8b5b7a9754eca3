//! What a version reads of a photo: pixels, or features of a pre-trained network.

use std::sync::Arc;

use rehearsal_backbone::{BackboneError, Extractor};
use rehearsal_data::{
    DataError, Image, ImageShape, Progress,
    photos::{self, PhotoSource},
};
use rehearsal_gaussian::Feature;

use crate::Digest;

/// What a version reads of a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The pixels, for a network that is trained from scratch.
    Pixels(Image),
    /// Features of the version's backbone.
    Features(Feature),
}

/// A photo as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// All pixels that the network reads.
    Pixels(Image, ImageShape),
    /// A small JPEG file.
    Thumbnail(Arc<[u8]>),
}

/// A photo that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its identity.
    pub digest: Digest,
    /// What a version reads of it.
    pub input: Input,
    /// What people see of it.
    pub picture: Picture,
}

/// Reads photos for a version.
pub enum InputReader {
    /// Pixels of this shape.
    Pixels(ImageShape),
    /// Features of a backbone.
    Features(Extractor),
}

impl InputReader {
    /// Without a cache of features: what it reads leaves no trace on disk.
    pub fn without_cache(self) -> Self {
        match self {
            Self::Features(extractor) => Self::Features(extractor.without_cache()),
            pixels @ Self::Pixels(_) => pixels,
        }
    }

    /// Reads photos, in order; a photo that cannot be read has an error of its own.
    ///
    /// # Errors
    /// The backbone cannot be used.
    pub fn read<P: PhotoSource>(
        &self,
        paths: &[P],
        progress: &dyn Progress,
    ) -> Result<Vec<Result<Seen, DataError>>, BackboneError> {
        Ok(match self {
            Self::Pixels(shape) => {
                let seen = |photo: photos::Decoded| Seen {
                    digest: Digest::from_sha256(photo.sha256),
                    input: Input::Pixels(photo.image.clone()),
                    picture: Picture::Pixels(photo.image, *shape),
                };
                photos::read_all(paths, *shape, progress).into_iter().map(|photo| photo.map(seen)).collect()
            }
            Self::Features(extractor) => {
                let seen = |photo: rehearsal_backbone::Extracted| Seen {
                    digest: Digest::from_sha256(photo.sha256),
                    input: Input::Features(photo.feature),
                    picture: Picture::Thumbnail(photo.thumbnail),
                };
                extractor.extract(paths, progress)?.into_iter().map(|photo| photo.map(seen)).collect()
            }
        })
    }
}

impl Picture {
    /// An image file: its extension and its bytes.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn file(&self) -> std::io::Result<(&'static str, Vec<u8>)> {
        match self {
            Self::Pixels(image, shape) => Ok(("png", crate::png::encode_png(image, *shape)?)),
            Self::Thumbnail(jpeg) => Ok(("jpg", jpeg.to_vec())),
        }
    }

    /// Its pixels in colour, height and width.
    pub fn pixels(&self) -> (Image, ImageShape) {
        match self {
            Self::Pixels(image, shape) => (image.clone(), *shape),
            Self::Thumbnail(jpeg) => match rehearsal_data::decode::decode(jpeg) {
                Ok(picture) => {
                    let shape = ImageShape { height: picture.height, width: picture.width, channels: 3 };
                    (picture.pixels.into(), shape)
                }
                Err(_) => (Vec::new().into(), ImageShape { height: 0, width: 0, channels: 3 }),
            },
        }
    }
}
