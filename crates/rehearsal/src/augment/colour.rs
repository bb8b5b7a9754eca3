//! Colours of an image: brightness, contrast, saturation, hue and greyscale, each on bytes.

use crate::rng::Rng;

const STRENGTH: (f64, f64) = (0.6, 1.4);
const HUE: (f64, f64) = (-0.1, 0.1);

/// Brightness, contrast, saturation and hue by random amounts, in random order. Grey images have
/// neither saturation nor hue.
pub(super) fn jitter(image: &mut [u8], channels: usize, rng: &mut Rng) {
    let [brightness_by, contrast_by, saturation_by] = [(); 3].map(|()| rng.uniform(STRENGTH.0, STRENGTH.1) as f32);
    let hue_by = rng.uniform(HUE.0, HUE.1) as f32;
    let mut order = [0, 1, 2, 3];
    rng.shuffle(&mut order);
    for change in order {
        match change {
            0 => brightness(image, brightness_by),
            1 => contrast(image, channels, contrast_by),
            2 if channels == 3 => saturation(image, saturation_by),
            3 if channels == 3 => hue(image, hue_by),
            _ => {}
        }
    }
}

/// Every pixel becomes its luma.
pub(super) fn greyscale(image: &mut [u8]) {
    for pixel in image.as_chunks_mut::<3>().0 {
        *pixel = [luma(*pixel); 3];
    }
}

fn luma([red, green, blue]: [u8; 3]) -> u8 {
    (0.299 * f32::from(red) + 0.587 * f32::from(green) + 0.114 * f32::from(blue) + 0.5) as u8
}

/// `amount` of the value and the rest of `other`, clipped to a byte.
fn blend(value: u8, other: u8, amount: f32) -> u8 {
    (f32::from(value) * amount + f32::from(other) * (1.0 - amount)) as u8
}

fn brightness(image: &mut [u8], amount: f32) {
    for value in image {
        *value = blend(*value, 0, amount);
    }
}

/// Blends with the mean luma of the image, rounded.
fn contrast(image: &mut [u8], channels: usize, amount: f32) {
    let total: u64 = match channels {
        3 => image.as_chunks::<3>().0.iter().map(|&pixel| u64::from(luma(pixel))).sum(),
        _ => image.iter().map(|&value| u64::from(value)).sum(),
    };
    let pixels = (image.len() / channels) as f64;
    let mean = (total as f64 / pixels + 0.5) as u8;
    for value in image {
        *value = blend(*value, mean, amount);
    }
}

/// Blends every pixel with its luma.
fn saturation(image: &mut [u8], amount: f32) {
    for pixel in image.as_chunks_mut::<3>().0 {
        let grey = luma(*pixel);
        *pixel = pixel.map(|value| blend(value, grey, amount));
    }
}

/// Turns every pixel's hue by a share of the circle.
fn hue(image: &mut [u8], turn: f32) {
    for pixel in image.as_chunks_mut::<3>().0 {
        let [r, g, b] = *pixel;
        let (highest, lowest) = (r.max(g).max(b), r.min(g).min(b));
        if highest == lowest {
            continue;
        }
        let [red, green, blue] = pixel.map(f32::from);
        let (high, spread) = (f32::from(highest), f32::from(highest - lowest));
        let sixths = match highest {
            _ if highest == r => (green - blue) / spread,
            _ if highest == g => 2.0 + (blue - red) / spread,
            _ => 4.0 + (red - green) / spread,
        };
        let sixths = (sixths + 6.0 * turn).rem_euclid(6.0);
        // How far a channel is below the highest, `around` sixths of the circle from red: the six
        // straight pieces of the HSV wheel.
        let channel = |around: f32| {
            let k = (around + sixths).rem_euclid(6.0);
            (high - spread * k.min(4.0 - k).clamp(0.0, 1.0) + 0.5) as u8
        };
        *pixel = [channel(5.0), channel(3.0), channel(1.0)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PIXELS: [u8; 6] = [200, 100, 50, 20, 40, 60];

    fn changed(change: impl Fn(&mut [u8])) -> [u8; 6] {
        let mut image = TWO_PIXELS;
        change(&mut image);
        image
    }

    fn within_one(found: [u8; 6], expected: [u8; 6]) {
        assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn v13_colour_changes() {
        assert_eq!([luma([200, 100, 50]), luma([20, 40, 60])], [124, 36]);
        within_one(changed(|i| brightness(i, 1.4)), [255, 140, 70, 28, 56, 84]);
        within_one(changed(|i| contrast(i, 3, 0.6)), [152, 92, 62, 44, 56, 68]);
        within_one(changed(|i| saturation(i, 1.4)), [230, 90, 20, 13, 41, 69]);
        assert_eq!(changed(greyscale), [124, 124, 124, 36, 36, 36]);
    }

    /// `colorsys`: 200,100,50 has hue 1/18; a third of the circle moves red to green and green to blue.
    #[test]
    fn hue_turns_around_the_circle() {
        assert_eq!(changed(|i| hue(i, 0.0)), TWO_PIXELS);
        within_one(changed(|i| hue(i, 1.0 / 3.0)), [50, 200, 100, 60, 20, 40]);
        within_one(changed(|i| hue(i, -1.0 / 3.0)), [100, 50, 200, 40, 60, 20]);
        let mut grey = [9, 9, 9];
        hue(&mut grey, 0.1);
        assert_eq!(grey, [9, 9, 9]);
    }
}
