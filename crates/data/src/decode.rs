//! Decodes image files: PNG, JPEG, WebP, TIFF, BMP and the first frame of GIF, recognised by their
//! content, within limits of size, and turned as EXIF says.

mod jpeg_end;
mod jpeg_scans;
mod orientation;

use std::{
    cell::RefCell,
    io::{self, Cursor},
    sync::{Mutex, PoisonError},
};

use fast_image_resize::{
    FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::{U8, U8x3},
};
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, codecs::png::PngDecoder};

use crate::{photos::unread_format, preprocessing::Interpolation};

/// The longest side that is decoded.
pub const LONGEST_SIDE: u32 = 16_384;

/// The largest image file that is read, in bytes.
pub const LARGEST_FILE: u64 = 1 << 28;

/// What a decoder may allocate for one image.
const MOST_BYTES: u64 = 1 << 30;

/// What the chunks of a PNG beside its pixels may expand to, such as a colour profile, which is not used.
const MOST_BESIDE: u64 = 32 << 20;

/// Images of more pixels are decoded one at a time: they need up to eight bytes per pixel.
const LARGE: usize = 1 << 26;

/// Held while a large image is decoded.
static ONE_LARGE: Mutex<()> = Mutex::new(());

/// The extensions of files that are taken for images.
pub const EXTENSIONS: [&str; 8] = ["png", "jpg", "jpeg", "webp", "tif", "tiff", "bmp", "gif"];

/// A decoded image in red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// `[height, width, 3]`.
    pub pixels: Vec<u8>,
}

/// An image in red, green and blue whose pixels belong to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureRef<'a> {
    height: usize,
    width: usize,
    pixels: &'a [u8],
}

impl<'a> PictureRef<'a> {
    /// Of `[height, width, 3]` bytes; none if there are more or fewer, or no pixel.
    pub fn new(height: usize, width: usize, pixels: &'a [u8]) -> Option<Self> {
        let bytes = height.checked_mul(width).and_then(|pixels| pixels.checked_mul(3));
        (bytes == Some(pixels.len()) && !pixels.is_empty()).then_some(Self { height, width, pixels })
    }

    /// Height and width.
    pub fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// `[height, width, 3]`.
    pub fn pixels(&self) -> &'a [u8] {
        self.pixels
    }
}

impl<'a> From<&'a Picture> for PictureRef<'a> {
    fn from(Picture { height, width, pixels }: &'a Picture) -> Self {
        Self { height: *height, width: *width, pixels }
    }
}

/// Decodes an image file and turns it as its EXIF data say. Grey becomes three equal channels;
/// transparency is dropped, as Pillow's `convert("RGB")` drops it; 16 bits a channel become 8.
///
/// # Errors
/// The bytes are not an image, or the image is damaged or too large; the text says which.
pub fn decode(bytes: &[u8]) -> Result<Picture, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    let format = reader.format();
    match format {
        None => return Err(unrecognised(bytes)),
        Some(format) if !format.reading_enabled() => return Err(unrecognised(bytes)),
        Some(ImageFormat::Jpeg) if is_cut(bytes) => return Err("its end is missing".into()),
        Some(_) => {}
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_BYTES);
    let mut decoder: Box<dyn ImageDecoder> = if format == Some(ImageFormat::Png) {
        limits.max_alloc = Some(MOST_BESIDE);
        Box::new(PngDecoder::with_limits(Cursor::new(bytes), limits).map_err(|error| in_words(&error))?)
    } else {
        reader.limits(limits);
        Box::new(reader.into_decoder().map_err(|error| in_words(&error))?)
    };
    if decoder.total_bytes() > MOST_BYTES {
        return Err("its pixels need more than a gigabyte".into());
    }
    let pixels = decoder.dimensions().0 as usize * decoder.dimensions().1 as usize;
    let _alone = (pixels > LARGE).then(|| ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    // To follow a scan takes as long as to decode it: only where it is likely to end early.
    let is_early = |is_likely: bool| format == Some(ImageFormat::Jpeg) && is_likely && jpeg_end::is_early(bytes);
    let lacks_scans = format == Some(ImageFormat::Jpeg) && jpeg_scans::are_missing(bytes);
    if lacks_scans || is_early(pixels / 100 > bytes.len()) {
        return Err("its end is missing".into());
    }
    let orientation = orientation::of(&mut decoder);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| in_words(&error))?;
    if is_early(jpeg_end::may_be_filled(&image)) {
        return Err("its end is missing".into());
    }
    image.apply_orientation(orientation);
    let image = image.into_rgb8();
    let (width, height) = image.dimensions();
    if width == 0 || height == 0 {
        return Err("it has no pixels".into());
    }
    Ok(Picture { height: height as usize, width: width as usize, pixels: image.into_raw() })
}

/// Width and height of an image by its header, not turned; nothing is decoded.
///
/// # Errors
/// As [`decode`], as far as the header tells.
pub fn dimensions(bytes: &[u8]) -> Result<(u32, u32), String> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    match reader.format() {
        Some(format) if format.reading_enabled() => reader.into_dimensions().map_err(|error| in_words(&error)),
        _ => Err(unrecognised(bytes)),
    }
}

/// A decoder's error in one line; the same words for every file that ends too early.
fn in_words(error: &ImageError) -> String {
    let is_cut = match error {
        ImageError::IoError(error) => error.kind() == io::ErrorKind::UnexpectedEof,
        _ => false,
    };
    let words = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    if is_cut || words.contains("Not enough bytes") { "its end is missing".into() } else { words }
}

/// Why bytes of an unknown format are not an image.
fn unrecognised(bytes: &[u8]) -> String {
    match unread_format(bytes) {
        _ if bytes.is_empty() => "it is empty".into(),
        Some("a video") => "it is a video".into(),
        Some(format) => format!("it is {format}, which is not read: convert it to JPEG"),
        None => "it is not a PNG, JPEG, WebP, TIFF, BMP or GIF file".into(),
    }
}

/// Whether the last scan of a JPEG has no end. The decoder would fill the rest with grey.
fn is_cut(jpeg: &[u8]) -> bool {
    let last = |marker: [u8; 2]| jpeg.windows(2).rposition(|pair| pair == marker);
    // Inside a scan 0xff is followed by 0 or a restart marker, so these bytes are markers.
    let (scan, end) = (last([0xff, 0xda]), last([0xff, 0xd9]));
    scan.is_some() && end < scan
}

/// Crops the largest centred part of `picture` with the proportions of `to` (height, width), keeps the
/// share `crop` of it, resizes that and writes it into `into`.
pub fn fit(picture: PictureRef<'_>, to: (usize, usize), crop: f64, interpolation: Interpolation, into: &mut [u8]) {
    let (height, width) = largest_part(picture, to);
    let (top, left) = ((picture.height - height) / 2, (picture.width - width) / 2);
    let from = (picture.height, picture.width);
    if crop < 1.0 {
        let window = ((height as f64 * crop).max(1.0), (width as f64 * crop).max(1.0));
        let corner = ((picture.width as f64 - window.1) / 2.0, (picture.height as f64 - window.0) / 2.0);
        return resize(picture.pixels, from, 3, corner, window, to, interpolation, into);
    }
    if (height, width) == to {
        for (row, into) in into.chunks_exact_mut(3 * width).enumerate() {
            into.copy_from_slice(&picture.pixels[3 * ((top + row) * picture.width + left)..][..3 * width]);
        }
        return;
    }
    let (corner, window) = ((left as f64, top as f64), (height as f64, width as f64));
    resize(picture.pixels, from, 3, corner, window, to, interpolation, into);
}

/// Height and width of the largest part of a picture that has the proportions of `to`.
fn largest_part(picture: PictureRef<'_>, to: (usize, usize)) -> (usize, usize) {
    if picture.height * to.1 <= picture.width * to.0 {
        (picture.height, (picture.height * to.1 / to.0).max(1))
    } else {
        ((picture.width * to.0 / to.1).max(1), picture.width)
    }
}

/// Colours as shades of grey, weighted as Pillow's `convert("L")` weighs them (ITU-R 601).
pub(crate) fn to_grey(pixels: &[u8]) -> Vec<u8> {
    let shade = |pixel: &[u8]| {
        let [red, green, blue] = [0, 1, 2].map(|channel| u32::from(pixel[channel]));
        ((19_595 * red + 38_470 * green + 7_471 * blue + 0x8000) >> 16) as u8
    };
    pixels.chunks_exact(3).map(shade).collect()
}

/// A whole image of `channels`, resized.
pub(crate) fn resized(pixels: &[u8], from: (usize, usize), channels: usize, to: (usize, usize)) -> Vec<u8> {
    let mut into = vec![0; to.0 * to.1 * channels];
    let window = (from.0 as f64, from.1 as f64);
    resize(pixels, from, channels, (0.0, 0.0), window, to, Interpolation::Bilinear, &mut into);
    into
}

/// Resizes a window; sizes are (height, width), `corner` is (left, top).
#[allow(clippy::too_many_arguments, reason = "an image, a window of it, and a target")]
fn resize(
    pixels: &[u8],
    from: (usize, usize),
    channels: usize,
    corner: (f64, f64),
    window: (f64, f64),
    to: (usize, usize),
    interpolation: Interpolation,
    into: &mut [u8],
) {
    let filter = match interpolation {
        Interpolation::Bilinear => FilterType::Bilinear,
        Interpolation::Bicubic => FilterType::CatmullRom,
    };
    let algorithm = ResizeAlg::Convolution(filter);
    let options = ResizeOptions::new().resize_alg(algorithm).crop(corner.0, corner.1, window.1, window.0);
    // Typed, because the untyped call compiles a dozen pixel types, which takes a minute.
    match channels {
        1 => resize_pixels::<U8>(pixels, from, to, into, &options),
        _ => resize_pixels::<U8x3>(pixels, from, to, into, &options),
    }
}

fn resize_pixels<P: PixelTrait>(
    pixels: &[u8],
    from: (usize, usize),
    to: (usize, usize),
    into: &mut [u8],
    options: &ResizeOptions,
) {
    let image = TypedImageRef::<P>::from_buffer(from.1 as u32, from.0 as u32, pixels)
        .expect("an image has as many bytes as pixels");
    let mut target = TypedImage::<P>::from_buffer(to.1 as u32, to.0 as u32, into).expect("a target of its own size");
    let resized = RESIZER.with_borrow_mut(|resizer| resizer.resize_typed(&image, &mut target, options));
    resized.expect("the window is inside the image");
}

thread_local! {
    /// One per thread, because it keeps its buffers.
    static RESIZER: RefCell<Resizer> = RefCell::new(Resizer::new());
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, GrayImage, LumaA, Rgb, RgbImage, RgbaImage};

    use super::*;

    /// Row `y`, column `x` of an image of 3 rows and 5 columns that every flip or transposition
    /// changes.
    fn colour(x: u32, y: u32) -> [u8; 3] {
        [x as u8 * 50, y as u8 * 100, 7]
    }

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn lossless_formats_give_the_exact_pixels() {
        let image = DynamicImage::from(RgbImage::from_fn(5, 3, |x, y| Rgb(colour(x, y))));
        for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::WebP, ImageFormat::Gif] {
            let picture = decode(&encoded(&image, format)).unwrap();
            assert_eq!((picture.height, picture.width), (3, 5), "{format:?}");
            assert_eq!(picture.pixels[3 * (2 * 5 + 4)..][..3], colour(4, 2), "{format:?}, row 2, column 4");
            assert_eq!(picture.pixels[3 * (5 + 3)..][..3], colour(3, 1), "{format:?}, row 1, column 3");
            assert_eq!(dimensions(&encoded(&image, format)), Ok((5, 3)));
        }
    }

    #[test]
    fn jpeg_gives_nearly_the_pixels() {
        let image = DynamicImage::from(RgbImage::from_fn(40, 24, |x, y| Rgb([5 * x as u8, 10 * y as u8, 7])));
        let picture = decode(&encoded(&image, ImageFormat::Jpeg)).unwrap();
        assert_eq!((picture.height, picture.width), (24, 40));
        let pixel = &picture.pixels[3 * (20 * 40 + 35)..][..3];
        assert!(pixel.iter().zip([175u8, 200, 7]).all(|(&is, should)| is.abs_diff(should) < 24), "{pixel:?}");
    }

    #[test]
    fn grey_gets_three_channels_and_transparency_is_dropped() {
        let grey = DynamicImage::from(GrayImage::from_fn(3, 2, |x, y| image::Luma([(10 * x + 100 * y) as u8])));
        assert_eq!(decode(&encoded(&grey, ImageFormat::Png)).unwrap().pixels[3 * 5..], [120, 120, 120]);
        let rgba = DynamicImage::from(RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8, y as u8, 9, 0])));
        assert_eq!(decode(&encoded(&rgba, ImageFormat::Png)).unwrap().pixels[3 * 5..], [2, 1, 9]);
        let deep = image::ImageBuffer::from_fn(3, 2, |x, _| LumaA([x as u16 * 257 * 40, u16::MAX]));
        let deep = DynamicImage::ImageLumaA16(deep);
        assert_eq!(decode(&encoded(&deep, ImageFormat::Png)).unwrap().pixels[3..6], [40, 40, 40]);
    }

    #[test]
    fn the_short_side_fits_and_the_long_side_is_cut_in_the_middle() {
        let picture =
            decode(&encoded(&DynamicImage::from(RgbImage::from_fn(5, 3, |x, y| Rgb(colour(x, y)))), ImageFormat::Png))
                .unwrap();
        let mut whole = vec![0; 27];
        fit((&picture).into(), (3, 3), 1.0, Interpolation::Bilinear, &mut whole);
        assert_eq!(whole[..3], colour(1, 0), "one column is cut off at the left");
        assert_eq!(whole[3 * 8..], colour(3, 2), "and one at the right");
        let tall = Picture { height: 4, width: 2, pixels: (0..24).collect() };
        let mut one = vec![0; 3];
        fit((&tall).into(), (1, 1), 1.0, Interpolation::Bilinear, &mut one);
        assert_eq!(one, [11, 12, 13], "the mean of rows 1 and 2, rounded up from a half");
    }

    /// `PIL.Image.fromarray(numpy.array([[0, 100, 200, 40]], 'uint8')).resize((2, 1),
    /// Image.BILINEAR)` of Pillow gives [71, 117].
    #[test]
    fn shrinking_averages() {
        assert_eq!(resized(&[0, 100, 200, 40], (1, 4), 1, (1, 2)), [71, 117]);
        assert_eq!(resized(&[0, 100], (1, 2), 1, (1, 4)), [0, 25, 75, 100], "half-pixel centres");
    }

    #[test]
    fn errors_say_why_a_file_is_not_an_image() {
        assert_eq!(decode(b"").unwrap_err(), "it is empty");
        assert_eq!(decode(b"\0\0\0\x14ftypqt  \0\0\0\0").unwrap_err(), "it is a video");
        let jpeg = encoded(&DynamicImage::from(RgbImage::new(40, 24)), ImageFormat::Jpeg);
        assert_eq!(decode(&jpeg[..60]).unwrap_err(), "its end is missing", "in the middle of a table");
        assert!(decode(b"<html>404</html>").unwrap_err().contains("it is not a PNG"));
        let whole = encoded(&DynamicImage::from(RgbImage::new(9, 9)), ImageFormat::Png);
        let noise = |x: u32, y: u32| (x * 37 + y * 91 + x * y * 13) as u8;
        let image = DynamicImage::from(RgbImage::from_fn(64, 48, |x, y| Rgb([noise(x, y), noise(y, x), 3])));
        let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Bmp, ImageFormat::Gif];
        for format in formats {
            let whole = encoded(&image, format);
            for part in [2, 3, 4] {
                assert!(decode(&whole[..whole.len() * (part - 1) / part]).is_err(), "half a {format:?}");
            }
        }
        let jpeg = encoded(&image, ImageFormat::Jpeg);
        let cut = [&jpeg[..jpeg.len() / 2], &[0xff, 0xd9]].concat();
        assert_eq!(decode(&cut).unwrap_err(), "its end is missing", "half a JPEG with an end marker");
        assert!(decode(&jpeg).is_ok());
        let mut huge = whole;
        huge[16..20].copy_from_slice(&1_000_000u32.to_be_bytes());
        assert!(decode(&huge).is_err(), "a width of a million");
    }
}
