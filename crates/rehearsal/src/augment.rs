//! Augmented views of images, on the host, on bytes: random resized crop, flip, colour jitter, greyscale.
//!
//! A view depends on nothing but the image and its own [`Rng`], so views are made in parallel and in any order.

mod colour;
mod resize;

use crate::{
    rng::Rng,
    sample::{Image, ImageShape},
};
use resize::Window;

const AREA: (f64, f64) = (0.2, 1.0);
const ASPECT: (f64, f64) = (3.0 / 4.0, 4.0 / 3.0);
const FLIP: f64 = 0.5;
const JITTER: f64 = 0.8;
const GREY: f64 = 0.2;

/// An augmented view of `image`, of the same shape. Grey images (1 channel) skip saturation, hue and greyscale.
pub fn augment(image: &[u8], shape: ImageShape, rng: &mut Rng) -> Image {
    let mut view = resize::bilinear(image, shape, crop(shape, rng), shape);
    if rng.happens(FLIP) {
        flip(&mut view, shape);
    }
    if rng.happens(JITTER) {
        colour::jitter(&mut view, shape.channels, rng);
    }
    if shape.channels == 3 && rng.happens(GREY) {
        colour::greyscale(&mut view);
    }
    view.into()
}

/// A random window: up to ten tries of area and aspect, then the largest centred one within the limits of aspect.
fn crop(shape: ImageShape, rng: &mut Rng) -> Window {
    for _ in 0..10 {
        let area = rng.uniform(AREA.0, AREA.1);
        let aspect = rng.uniform(ASPECT.0.ln(), ASPECT.1.ln()).exp();
        if let Some((width, height)) = crop_size(area, aspect, shape) {
            let top = rng.below((shape.height - height) as u64 + 1) as usize;
            let left = rng.below((shape.width - width) as u64 + 1) as usize;
            return Window { top, left, height, width };
        }
    }
    centre_crop(shape)
}

/// Width and height of a crop of that share of the image's area, width / height = `aspect`; none if it does not fit.
fn crop_size(area: f64, aspect: f64, shape: ImageShape) -> Option<(usize, usize)> {
    let pixels = area * (shape.height * shape.width) as f64;
    let width = (pixels * aspect).sqrt().round() as usize;
    let height = (pixels / aspect).sqrt().round() as usize;
    ((1..=shape.width).contains(&width) && (1..=shape.height).contains(&height)).then_some((width, height))
}

fn centre_crop(shape: ImageShape) -> Window {
    let (h, w) = (shape.height as f64, shape.width as f64);
    let (height, width) = match w / h {
        aspect if aspect < ASPECT.0 => ((w / ASPECT.0).round(), w),
        aspect if aspect > ASPECT.1 => (h, (h * ASPECT.1).round()),
        _ => (h, w),
    };
    let (height, width) = (height as usize, width as usize);
    Window { top: (shape.height - height) / 2, left: (shape.width - width) / 2, height, width }
}

/// Mirrors left and right.
fn flip(image: &mut [u8], shape: ImageShape) {
    for row in image.chunks_exact_mut(shape.width * shape.channels) {
        for x in 0..shape.width / 2 {
            for c in 0..shape.channels {
                row.swap(x * shape.channels + c, (shape.width - 1 - x) * shape.channels + c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStream;

    const CIFAR: ImageShape = ImageShape { height: 32, width: 32, channels: 3 };

    #[test]
    fn v13_crop_sizes() {
        assert_eq!(crop_size(0.5, 1.0, CIFAR), Some((23, 23)));
        assert_eq!(crop_size(0.2, 4.0 / 3.0, CIFAR), Some((17, 12)));
        assert_eq!(crop_size(1.0, 3.0 / 4.0, CIFAR), None, "28×37");
        assert_eq!(crop_size(0.98, 4.0 / 3.0, CIFAR), None, "37×27");
    }

    #[test]
    fn v13_crop_areas() {
        let mut rng = Rng::new(0, RngStream::Augmentation, &[]);
        let mut areas = [0usize; 4];
        for _ in 0..100_000 {
            let window = crop(CIFAR, &mut rng);
            assert!(window.top + window.height <= 32 && window.left + window.width <= 32);
            let area = (window.height * window.width) as f64 / 1024.0;
            areas[(((area - 0.2) / 0.2).floor().max(0.0) as usize).min(3)] += 1;
        }
        // Up to 0.6 of the area nothing is rejected (0.6·4/3 < 1): those quarters stay equal, the
        // largest loses to rejections.
        assert!(areas[0].abs_diff(areas[1]) < 1500 && areas[3] < areas[1], "{areas:?}");
    }

    /// On an image that is dark and reddish on the left, bright and reddish on the right, each
    /// change shows: mirrored, the left is brighter; greyscale, the channels are equal; without
    /// jitter, red minus green stays what it is everywhere.
    #[test]
    fn v13_frequencies() {
        let shape = ImageShape { height: 8, width: 8, channels: 3 };
        let image: Vec<u8> = (0..64).flat_map(|i| [90 + 10 * (i % 8) as u8, 60 + 10 * (i % 8) as u8, 40]).collect();
        let draws = 20_000;
        let mut counts = [0.0; 3];
        for draw in 0..draws {
            let view = augment(&image, shape, &mut Rng::new(0, RngStream::Augmentation, &[draw]));
            let pixels = view.as_chunks::<3>().0;
            let grey = pixels.iter().all(|[r, g, b]| r == g && g == b);
            let jittered =
                !grey && pixels.iter().any(|[r, g, b]| r.abs_diff(*g).abs_diff(30) > 1 || b.abs_diff(40) > 1);
            let flipped = luma_of(pixels[0]) > luma_of(pixels[7]);
            for (count, seen) in counts.iter_mut().zip([flipped, jittered, grey]) {
                *count += f64::from(u8::from(seen)) / draws as f64;
            }
        }
        // A jitter shows only where greyscale does not hide it: 0.8 of the other 0.8. Four standard
        // deviations of a share are 0.014.
        for (count, expected) in counts.into_iter().zip([0.5, 0.64, 0.2]) {
            assert!((count - expected).abs() < 0.014, "{counts:?}");
        }
    }

    fn luma_of(pixel: [u8; 3]) -> u32 {
        pixel.iter().map(|&value| u32::from(value)).sum()
    }

    #[test]
    fn centre_crops_keep_to_the_limits_of_aspect() {
        let wide = centre_crop(ImageShape { height: 30, width: 100, channels: 3 });
        assert_eq!((wide.top, wide.left, wide.height, wide.width), (0, 30, 30, 40));
        let tall = centre_crop(ImageShape { height: 100, width: 30, channels: 3 });
        assert_eq!((tall.top, tall.left, tall.height, tall.width), (30, 0, 40, 30));
    }

    #[test]
    fn flipping_mirrors_a_non_square_image() {
        let mut image = [1, 2, 3, 4, 5, 6];
        flip(&mut image, ImageShape { height: 2, width: 3, channels: 1 });
        assert_eq!(image, [3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn views_are_reproducible_and_differ() {
        let image: Vec<u8> = (0..CIFAR.bytes()).map(|i| (i * 7 % 251) as u8).collect();
        let view = |index| augment(&image, CIFAR, &mut Rng::new(9, RngStream::Augmentation, &[0, index]));
        assert_eq!(view(0), view(0));
        assert_ne!(view(0), view(1));
        let grey = ImageShape { height: 48, width: 64, channels: 1 };
        assert_eq!(augment(&image, grey, &mut Rng::new(9, RngStream::Augmentation, &[1])).len(), grey.bytes());
    }
}
