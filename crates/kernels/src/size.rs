//! Sizes that cannot wrap around: a product of dimensions, or a panic that names them.

use crate::buffer::SLACK;

/// The largest number of floats of one buffer: pointer offsets inside an allocation are at most
/// `isize::MAX` bytes.
pub(crate) const MOST: usize = isize::MAX as usize / size_of::<f32>() - 2 * SLACK;

/// Floats of an array with these dimensions.
///
/// # Panics
/// If no memory could hold them.
pub(crate) fn floats<const D: usize>(dimensions: [usize; D]) -> usize {
    let product = dimensions.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let Some(len) = product.filter(|&len| len <= MOST) else {
        panic!("an array of {dimensions:?} floats does not fit into memory");
    };
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_counted() {
        assert_eq!(floats([]), 1);
        assert_eq!(floats([3, 4, 5]), 60);
        assert_eq!(floats([3, 0]), 0);
    }

    #[test]
    #[should_panic(expected = "does not fit into memory")]
    fn a_product_that_wraps_to_zero_is_refused() {
        floats([1 << (usize::BITS / 2), 1 << (usize::BITS / 2)]);
    }

    #[test]
    #[should_panic(expected = "does not fit into memory")]
    fn more_than_a_pointer_reaches_is_refused() {
        floats([MOST + 1]);
    }
}
