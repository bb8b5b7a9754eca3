//! How large and how many images may be.

use crate::{DataError, Dataset, ImageShape};

/// The longest side of images that are learned from: a network of this library needs gigabytes for
/// a batch of larger ones.
pub const LONGEST_SIDE: usize = 1024;

/// Refuses a height or width that nobody can learn from.
pub(crate) fn check_side(side: usize) -> Result<(), DataError> {
    if (1..=LONGEST_SIDE).contains(&side) {
        return Ok(());
    }
    let megabytes = megabytes(side.saturating_mul(side).saturating_mul(3));
    let why = format!("images of {side}×{side} pixels ({megabytes} each) cannot be learned from");
    Err(DataError::Refused(format!("{why}: sizes are 1 to {LONGEST_SIDE}")))
}

/// Refuses images without pixels, larger ones than are learned from, and a data set without images.
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
        let (each, all) = (megabytes(shape.bytes()), megabytes(shape.bytes().saturating_mul(train + test)));
        return Err(DataError::Refused(format!(
            "{dataset} has images of {height}×{width}: {each} each, {all} in all, and a network needs many times as \
             much for each of a batch. Make them smaller: `--size N`, at most {LONGEST_SIDE}"
        )));
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
    fn what_cannot_be_learned_from_is_refused_with_an_estimate() {
        assert!(check_side(1).is_ok() && check_side(1024).is_ok());
        assert!(check_side(0).is_err());
        assert!(check_side(3000).unwrap_err().to_string().contains("3000×3000 pixels (27.0 MB each)"));
        assert!(check_side(usize::MAX).is_err());
        let shape = |height, width| ImageShape { height, width, channels: 3 };
        let check = |shape, counts| check_images(Dataset::MiniImagenet, shape, counts).map_err(|e| e.to_string());
        assert_eq!(check(shape(84, 1024), (1, 1)), Ok(()));
        let large = check(shape(3000, 3000), (500, 100)).unwrap_err();
        assert!(large.contains("3000×3000: 27.0 MB each, 16200.0 MB in all") && large.contains("--size"), "{large}");
        assert!(check(shape(0, 84), (1, 1)).unwrap_err().contains("without pixels"));
        assert!(check(shape(84, 84), (0, 1)).unwrap_err().contains("no training images"));
        assert!(check(shape(84, 84), (1, 0)).unwrap_err().contains("no test images"));
        assert!(check_images(Dataset::Folder, shape(84, 84), (1, 0)).is_ok(), "a class of one image has no test image");
    }
}
