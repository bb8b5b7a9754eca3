//! Augmented views of images, on the host, on bytes: random resized crop, flip, colour jitter, greyscale.
//!
//! A view depends on nothing but the image and its own [`Chance`], so views are made in parallel and in any order.

mod colour;
mod resize;

use crate::{
    chance::Chance,
    sample::{Image, ImageShape},
};
use resize::Window;

const AREA: (f64, f64) = (0.2, 1.0);
const ASPECT: (f64, f64) = (3.0 / 4.0, 4.0 / 3.0);
const FLIP: f64 = 0.5;
const JITTER: f64 = 0.8;
const GREY: f64 = 0.2;

/// An augmented view of `image`, of the same shape. Grey images (1 channel) skip saturation, hue and greyscale.
pub fn augment(image: &[u8], shape: ImageShape, chance: &mut Chance) -> Image {
    let mut view = resize::bilinear(image, shape, crop(shape, chance), shape);
    if chance.happens(FLIP) {
        flip(&mut view, shape);
    }
    if chance.happens(JITTER) {
        colour::jitter(&mut view, shape.channels, chance);
    }
    if shape.channels == 3 && chance.happens(GREY) {
        colour::greyscale(&mut view);
    }
    view.into()
}

/// A random window: up to ten tries of area and aspect, then the largest centred one within the limits of aspect.
fn crop(shape: ImageShape, chance: &mut Chance) -> Window {
    for _ in 0..10 {
        let area = chance.uniform(AREA.0, AREA.1);
        let aspect = chance.uniform(ASPECT.0.ln(), ASPECT.1.ln()).exp();
        if let Some((width, height)) = crop_size(area, aspect, shape) {
            let top = chance.below((shape.height - height) as u64 + 1) as usize;
            let left = chance.below((shape.width - width) as u64 + 1) as usize;
            return Window { top, left, height, width };
        }
    }
    centre_crop(shape)
}

/// Width and height of a crop of that share of the image's area, width / height = `aspect`; none where it does not fit.
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
    use crate::chance::Decides;

    const CIFAR: ImageShape = ImageShape { height: 32, width: 32, channels: 3 };

    #[test]
    fn v13_crop_sizes() {
        assert_eq!(crop_size(0.5, 1.0, CIFAR), Some((23, 23)));
        assert_eq!(crop_size(0.2, 4.0 / 3.0, CIFAR), Some((17, 12)));
        assert_eq!(crop_size(1.0, 3.0 / 4.0, CIFAR), None, "28×37");
        assert_eq!(crop_size(0.98, 4.0 / 3.0, CIFAR), None, "37×27");
    }

    #[test]
    fn v13_frequencies() {
        let mut chance = Chance::new(0, Decides::Augmentation, &[]);
        let draws = 100_000;
        let mut counts = [0.0; 3];
        let mut areas = [0usize; 4];
        for _ in 0..draws {
            let window = crop(CIFAR, &mut chance);
            assert!(window.top + window.height <= 32 && window.left + window.width <= 32);
            let area = (window.height * window.width) as f64 / 1024.0;
            areas[(((area - 0.2) / 0.2).floor().max(0.0) as usize).min(3)] += 1;
            for (count, p) in counts.iter_mut().zip([FLIP, JITTER, GREY]) {
                *count += f64::from(u8::from(chance.happens(p))) / f64::from(draws);
            }
        }
        for (count, p) in counts.into_iter().zip([0.5, 0.8, 0.2]) {
            assert!((count - p).abs() < 0.006, "{counts:?}");
        }
        // Up to 0.6 of the area nothing is rejected (0.6·4/3 < 1): those quarters stay equal, the largest loses to rejections.
        assert!(areas[0].abs_diff(areas[1]) < 1500 && areas[3] < areas[1], "{areas:?}");
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
        let view = |index| augment(&image, CIFAR, &mut Chance::new(9, Decides::Augmentation, &[0, index]));
        assert_eq!(view(0), view(0));
        assert_ne!(view(0), view(1));
        let grey = ImageShape { height: 48, width: 64, channels: 1 };
        assert_eq!(augment(&image, grey, &mut Chance::new(9, Decides::Augmentation, &[1])).len(), grey.bytes());
    }
}
