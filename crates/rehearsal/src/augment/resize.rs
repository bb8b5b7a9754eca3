//! Bilinear resizing of a window of an image: half-pixel centres, antialiased when shrinking (a
//! triangle filter of widened support).

use crate::sample::ImageShape;

/// A rectangle of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub top: usize,
    pub left: usize,
    pub height: usize,
    pub width: usize,
}

/// Which inputs an output reads, and how much of each.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

/// `window` of `image` (of shape `from`), resized to height and width of `to`.
pub(super) fn bilinear(image: &[u8], from: ImageShape, window: Window, to: ImageShape) -> Vec<u8> {
    let channels = from.channels;
    let across = taps(window.width, to.width);
    let mut rows = Vec::with_capacity(window.height * to.width * channels);
    for y in window.top..window.top + window.height {
        let row = &image[(y * from.width + window.left) * channels..][..window.width * channels];
        for taps in &across {
            for c in 0..channels {
                let pixels = row[taps.first * channels + c..].iter().step_by(channels);
                rows.push(taps.weights.iter().zip(pixels).map(|(weight, &pixel)| weight * f32::from(pixel)).sum());
            }
        }
    }
    down(&rows, &taps(window.height, to.height), to.width * channels)
}

/// The second, vertical pass over rows of `stride` values.
fn down(rows: &[f32], down: &[Taps], stride: usize) -> Vec<u8> {
    let mut resized = Vec::with_capacity(down.len() * stride);
    let mut sum = vec![0.0f32; stride];
    for taps in down {
        sum.fill(0.5);
        for (weight, row) in taps.weights.iter().zip(rows[taps.first * stride..].chunks_exact(stride)) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
        resized.extend(sum.iter().map(|&value| value as u8));
    }
    resized
}

/// The taps of every output of one axis.
fn taps(from: usize, to: usize) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let reach = scale.max(1.0);
    let tap = |output: usize| {
        let centre = (output as f64 + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let last = ((centre + reach + 0.5) as usize).min(from);
        let weight = |input: usize| (1.0 - ((input as f64 + 0.5 - centre) / reach).abs()).max(0.0);
        let total: f64 = (first..last).map(weight).sum();
        Taps { first, weights: (first..last).map(|input| (weight(input) / total) as f32).collect() }
    };
    (0..to).map(tap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resize(image: &[u8], window: Window, to: (usize, usize)) -> Vec<u8> {
        let from = ImageShape { height: image.len() / 4, width: 4, channels: 1 };
        bilinear(image, from, window, ImageShape { height: to.0, width: to.1, channels: 1 })
    }

    #[test]
    fn the_whole_window_at_its_own_size_is_itself() {
        let image: Vec<u8> = (0..12).collect();
        assert_eq!(resize(&image, Window { top: 0, left: 0, height: 3, width: 4 }, (3, 4)), image);
        assert_eq!(resize(&image, Window { top: 1, left: 2, height: 2, width: 2 }, (2, 2)), [6, 7, 10, 11]);
    }

    #[test]
    fn enlarging_interpolates_between_half_pixel_centres() {
        let image = [0, 100, 0, 0];
        assert_eq!(resize(&image, Window { top: 0, left: 0, height: 1, width: 2 }, (1, 4)), [0, 25, 75, 100]);
    }

    /// `PIL.Image.fromarray(numpy.array([[0, 100, 200, 40]], 'uint8')).resize((2, 1),
    /// Image.BILINEAR)` of Pillow gives [71, 117].
    #[test]
    fn shrinking_averages() {
        assert_eq!(resize(&[0, 100, 200, 40], Window { top: 0, left: 0, height: 1, width: 4 }, (1, 2)), [71, 117]);
    }
}
