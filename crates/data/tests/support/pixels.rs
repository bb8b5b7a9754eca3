//! What a source should show.

use rehearsal_data::{ImageShape, Source, Split};

/// The pixel at row `y`, column `x`.
pub fn pixel(source: &dyn Source, split: Split, index: usize, (y, x): (usize, usize)) -> Vec<u8> {
    let ImageShape { width, channels, .. } = source.shape();
    source.image(split, index).unwrap()[channels * (y * width + x)..][..channels].to_vec()
}

/// An image of `picture(width, 8, blue)`, cut to 8×8 at its middle: every pixel of it is known.
#[track_caller]
pub fn assert_middle(source: &dyn Source, split: Split, index: usize, width: u32, blue: u8, near: u8) {
    assert_eq!(source.shape(), ImageShape { height: 8, width: 8, channels: 3 });
    let left = (width as usize - 8) / 2;
    for (y, x) in [(0, 0), (0, 7), (7, 0), (5, 2)] {
        let should = [(6 * (left + x)) as u8, 9 * y as u8, blue];
        let is = pixel(source, split, index, (y, x));
        assert!(
            is.iter().zip(should).all(|(is, should)| is.abs_diff(should) <= near),
            "{y}, {x}: {is:?}, not {should:?}"
        );
    }
}

pub fn labels(source: &dyn Source) -> (Vec<u16>, Vec<u16>) {
    (source.labels(Split::Train).to_vec(), source.labels(Split::Test).to_vec())
}
