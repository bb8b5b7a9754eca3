//! How a photo becomes what a network reads: part, size, and scale of the bytes. The only place where
//! this is decided.

use std::{path::Path, sync::Arc};

use image::DynamicImage;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    DataError, Image, ImageShape,
    decode::{Picture, PictureRef, decode, fit, to_grey},
    photos::{Decoded, bytes as read_bytes},
};

/// How the size of a photo is changed; both are antialiased when it shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Between two pixels a straight line.
    Bilinear,
    /// Between two pixels a cubic curve (Catmull-Rom).
    Bicubic,
}

/// From a photo to the numbers that a network reads: the largest centred part with the shape's
/// proportions, of which `crop` is kept, resized, then `(byte − mean) / std` for each channel.
///
/// ```
/// use rehearsal_data::{ImageShape, Preprocessing};
///
/// let preprocessing = Preprocessing::plain(ImageShape { height: 8, width: 8, channels: 3 });
/// let photo = image::DynamicImage::new_rgb8(640, 480);
/// let image = preprocessing.apply(&photo);
/// assert_eq!(image.len(), 8 * 8 * 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Preprocessing {
    /// Height, width and channels that the network reads.
    pub shape: ImageShape,
    /// The share of the part's height and width that is kept, around its centre.
    pub crop: f64,
    /// How its size is changed.
    pub interpolation: Interpolation,
    /// Subtracted from each byte.
    pub mean: [f32; 3],
    /// What the difference is divided by.
    pub std: [f32; 3],
}

/// An image file, read but not decoded: enough to know whether it is known.
pub struct PhotoFile<'a> {
    path: &'a Path,
    bytes: Arc<[u8]>,
    /// Of its bytes: the identity of a photo.
    pub sha256: [u8; 32],
}

impl<'a> PhotoFile<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read ([`DataError::Unreadable`]), or is not a regular file ([`DataError::Image`]).
    pub fn read(path: &'a Path) -> Result<Self, DataError> {
        let bytes = read_bytes(path)?.map_err(|why| DataError::Image { path: path.into(), why })?;
        Ok(Self::in_memory(path, bytes.into()))
    }

    /// Bytes that were read already; messages name them by `path`.
    pub fn in_memory(path: &'a Path, bytes: Arc<[u8]>) -> Self {
        let sha256 = Sha256::digest(&bytes).into();
        Self { path, bytes, sha256 }
    }
}

impl Preprocessing {
    /// For a network that is trained from nothing: the whole part, bilinear, bytes as 0 to 1.
    pub const fn plain(shape: ImageShape) -> Self {
        Self { shape, crop: 1.0, interpolation: Interpolation::Bilinear, mean: [0.0; 3], std: [255.0; 3] }
    }

    /// Reads an image file, turned as EXIF says.
    ///
    /// # Errors
    /// The file cannot be read ([`DataError::Unreadable`]), or is not an image ([`DataError::Image`]).
    pub fn load(&self, path: &Path) -> Result<Decoded, DataError> {
        self.load_file(&PhotoFile::read(path)?)
    }

    pub(crate) fn load_file(&self, file: &PhotoFile<'_>) -> Result<Decoded, DataError> {
        Ok(Decoded { image: self.decode(file)?, sha256: file.sha256 })
    }

    /// Decodes an image file that was read, turned as EXIF says.
    ///
    /// # Errors
    /// It is not an image ([`DataError::Image`]).
    pub fn decode(&self, file: &PhotoFile<'_>) -> Result<Image, DataError> {
        let picture = decode(&file.bytes).map_err(|why| DataError::Image { path: file.path.into(), why })?;
        Ok(self.fit(&picture))
    }

    /// An image that is in memory.
    pub fn apply(&self, image: &DynamicImage) -> Image {
        let image = image.to_rgb8();
        let (width, height) = image.dimensions();
        self.fit(&Picture { height: height as usize, width: width as usize, pixels: image.into_raw() })
    }

    /// A decoded image.
    pub fn fit<'a>(&self, picture: impl Into<PictureRef<'a>>) -> Image {
        let ImageShape { height, width, channels } = self.shape;
        let mut pixels = vec![0; height * width * 3];
        fit(picture.into(), (height, width), self.crop, self.interpolation, &mut pixels);
        if channels == 1 { to_grey(&pixels).into() } else { pixels.into() }
    }

    /// Appends the numbers that a network reads of an image of its shape.
    pub fn normalize(&self, image: &[u8], into: &mut Vec<f32>) {
        let channels = self.shape.channels;
        let scaled = |(index, &byte): (usize, &u8)| {
            let channel = index % channels;
            (f32::from(byte) - self.mean[channel]) / self.std[channel]
        };
        into.extend(image.iter().enumerate().map(scaled));
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    const SHAPE: ImageShape = ImageShape { height: 4, width: 4, channels: 3 };

    #[test]
    fn a_crop_keeps_the_centre() {
        // Black, with a white square in the middle.
        let inside = |at: u32| (14..26).contains(&at);
        let photo = RgbImage::from_fn(40, 40, |x, y| Rgb([if inside(x) && inside(y) { 255 } else { 0 }; 3]));
        let photo = DynamicImage::from(photo);
        let tenth = Preprocessing { crop: 0.1, ..Preprocessing::plain(SHAPE) };
        assert!(tenth.apply(&photo).iter().all(|byte| *byte == 255));
        let bicubic = Preprocessing { interpolation: Interpolation::Bicubic, ..tenth };
        assert!(bicubic.apply(&photo).iter().all(|byte| *byte == 255));
        let whole = Preprocessing::plain(SHAPE).apply(&photo);
        assert!(whole[0] < 20 && whole[3 * 5] > 40, "{whole:?}");
    }

    #[test]
    fn bytes_are_scaled_by_channel() {
        let preprocessing =
            Preprocessing { mean: [127.0, 0.0, 1.0], std: [128.0, 255.0, 2.0], ..Preprocessing::plain(SHAPE) };
        let mut values = Vec::new();
        preprocessing.normalize(&[255, 255, 3, 127, 0, 1], &mut values);
        assert_eq!(values, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
