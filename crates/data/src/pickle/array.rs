//! numpy's arrays, as far as a data set needs them.

use super::Bytes;

/// The type of an array's elements: an integer of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub bytes: usize,
    pub signed: bool,
    pub big_endian: bool,
}

impl Dtype {
    /// From numpy's name, such as `u1` or `<i8`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let big_endian = name.starts_with('>');
        let name = name.trim_start_matches(['<', '>', '|', '=']);
        let bytes = name.get(1..)?.parse().ok().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8))?;
        match name.chars().next()? {
            'u' => Some(Self { bytes, signed: false, big_endian }),
            'i' => Some(Self { bytes, signed: true, big_endian }),
            _ => None,
        }
    }
}

/// An array of integers, row by row.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    dtype: Option<Dtype>,
    shape: Vec<usize>,
    data: Bytes<'a>,
}

impl<'a> Array<'a> {
    /// As numpy makes it before it gets its state.
    pub(super) fn empty() -> Self {
        Self { dtype: None, shape: Vec::new(), data: Bytes::Borrowed(&[]) }
    }

    /// An array, if there is as much data as the shape says.
    pub(super) fn new(dtype: Dtype, shape: Vec<usize>, data: Bytes<'a>) -> Option<Self> {
        let elements = shape.iter().try_fold(dtype.bytes, |product, &size| product.checked_mul(size))?;
        (elements == data.as_slice().len()).then_some(Self { dtype: Some(dtype), shape, data })
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, where they are bytes.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.dtype.filter(|dtype| dtype.bytes == 1 && !dtype.signed).map(|_| self.data.as_slice())
    }

    /// The elements of an array of one axis.
    pub(super) fn ints(&self) -> Option<Vec<i64>> {
        let dtype = self.dtype.filter(|_| self.shape.len() == 1)?;
        self.data.as_slice().chunks_exact(dtype.bytes).map(|bytes| int(bytes, dtype)).collect()
    }
}

/// One integer; none where it does not fit.
pub(super) fn int(bytes: &[u8], dtype: Dtype) -> Option<i64> {
    let mut little = [0; 8];
    for (place, index) in (0..bytes.len()).enumerate() {
        little[place] = bytes[if dtype.big_endian { bytes.len() - 1 - index } else { index }];
    }
    let unsigned = u64::from_le_bytes(little);
    if !dtype.signed {
        return i64::try_from(unsigned).ok();
    }
    let shift = 64 - 8 * bytes.len() as u32;
    Some((unsigned << shift).cast_signed() >> shift)
}
