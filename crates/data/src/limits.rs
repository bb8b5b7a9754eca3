//! Limits on the size of images.

use crate::{DataError, Dataset, ImageShape};

/// The longest side of images that can be learned from: for larger ones a network needs gigabytes
/// for each batch.
pub const LONGEST_SIDE: usize = 1024;

/// Refuses a height or width that is out of range.
pub(crate) fn check_side(side: usize) -> Result<(), DataError> {
    if (1..=LONGEST_SIDE).contains(&side) { Ok(()) } else { Err(DataError::Size { side }) }
}

/// Refuses a data set without images, with images without pixels, and with images that are too large.
pub(crate) fn check_images(
    dataset: Dataset,
    shape: ImageShape,
    (train, test): (usize, usize),
) -> Result<(), DataError> {
    let ImageShape { height, width, .. } = shape;
    if train == 0 || (test == 0 && dataset != Dataset::Folder) {
        let split = if train == 0 { "training" } else { "test" };
        return Err(DataError::Refused(format!("{dataset} has no {split} images")));
    }
    if shape.bytes() == 0 {
        return Err(DataError::Refused(format!("{dataset} has images of {height}×{width}, without pixels")));
    }
    if height.max(width) > LONGEST_SIDE {
        return Err(DataError::TooLarge { dataset, shape, images: train + test });
    }
    Ok(())
}

/// 27000000 bytes as `27.0 MB`.
pub(crate) fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_are_too_large_are_refused_with_an_estimate() {
        assert!(check_side(1).is_ok() && check_side(1024).is_ok());
        assert!(check_side(0).is_err());
        assert!(check_side(3000).unwrap_err().to_string().contains("3000×3000 pixels (27.0 MB each)"));
        assert!(check_side(usize::MAX).is_err());
        let shape = |height, width| ImageShape { height, width, channels: 3 };
        let check = |shape, counts| check_images(Dataset::MiniImagenet, shape, counts);
        assert!(check(shape(84, 1024), (1, 1)).is_ok());
        let large = check(shape(3000, 3000), (500, 100)).unwrap_err();
        assert!(matches!(large, DataError::TooLarge { images: 600, .. }));
        assert!(large.to_string().contains("3000×3000: 27.0 MB each, 16200.0 MB in all"), "{large}");
        let refused = |shape, counts| check(shape, counts).unwrap_err().to_string();
        assert!(refused(shape(0, 84), (1, 1)).contains("without pixels"));
        assert!(refused(shape(84, 84), (0, 1)).contains("no training images"));
        assert!(refused(shape(84, 84), (1, 0)).contains("no test images"));
        assert!(check_images(Dataset::Folder, shape(84, 84), (1, 0)).is_ok(), "a class of one image has no test image");
    }
}
