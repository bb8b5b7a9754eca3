//! A feature as integers.

use std::sync::Arc;

use thiserror::Error;

/// Fractional bits of a coordinate.
const FRACTION: f64 = 4096.0;

/// The features of one photo: scaled to a mean square of 1, rounded to 12 fractional bits, limited
/// to ±8. Rounding changes no accuracy that we could measure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feature(Arc<[i16]>);

/// A coordinate is NaN or infinite.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a feature contains NaN or infinity")]
pub struct NotFinite;

impl Feature {
    /// From what a network computed. All zeros stay zeros.
    ///
    /// # Errors
    /// A coordinate is NaN or infinite.
    pub fn new(values: &[f32]) -> Result<Self, NotFinite> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(NotFinite);
        }
        let square: f64 = values.iter().map(|&value| f64::from(value).powi(2)).sum();
        let scale = if square > 0.0 { FRACTION * (values.len() as f64 / square).sqrt() } else { 0.0 };
        Ok(Self(values.iter().map(|&value| rounded(f64::from(value) * scale)).collect()))
    }

    /// From coordinates that are scaled already: rounded and limited as those of [`Feature::new`].
    ///
    /// # Errors
    /// A coordinate is NaN or infinite.
    pub fn from_scaled(values: &[f32]) -> Result<Self, NotFinite> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(NotFinite);
        }
        Ok(Self(values.iter().map(|&value| rounded(f64::from(value) * FRACTION)).collect()))
    }

    /// From integers that were kept.
    pub fn from_raw(values: impl Into<Arc<[i16]>>) -> Self {
        Self(values.into())
    }

    /// The integers: 4096 is 1.
    pub fn raw(&self) -> &[i16] {
        &self.0
    }

    /// Number of coordinates.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The coordinates.
    pub fn values(&self) -> impl Iterator<Item = f32> {
        self.0.iter().map(|&value| f32::from(value) / FRACTION as f32)
    }

    /// Cosine of the angle between two features: 1 for the same photo. 0 if one is all zeros.
    ///
    /// # Panics
    /// If they have different numbers of coordinates.
    pub fn similarity(&self, other: &Self) -> f64 {
        assert_eq!(self.dimensions(), other.dimensions(), "features of one network");
        let dot = |a: &[i16], b: &[i16]| -> i64 { a.iter().zip(b).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum() };
        let (own, others) = (dot(&self.0, &self.0), dot(&other.0, &other.0));
        if own == 0 || others == 0 {
            0.0
        } else {
            dot(&self.0, &other.0) as f64 / ((own as f64) * (others as f64)).sqrt()
        }
    }
}

/// A cast from float to integer saturates; −32768 is left out so that ± are alike.
fn rounded(value: f64) -> i16 {
    (value.round() as i16).max(-i16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_scaled_rounded_and_limited() {
        assert_eq!(Feature::new(&[3.0, 3.0]).unwrap().raw(), [4096, 4096]);
        assert_eq!(Feature::new(&[-1.0, 0.0]).unwrap().raw(), [-5793, 0]);
        assert_eq!(Feature::new(&[0.0, 0.0]).unwrap().raw(), [0, 0]);
        let mut peak = vec![0.0; 1280];
        peak[7] = -1e-30;
        assert_eq!(Feature::new(&peak).unwrap().raw()[7], -i16::MAX);
        assert_eq!(Feature::new(&[1.0, f32::NAN]), Err(NotFinite));
        assert_eq!(Feature::new(&[f32::INFINITY]), Err(NotFinite));
        assert_eq!(Feature::from_scaled(&[0.5, -9.0]).unwrap().raw(), [2048, -i16::MAX]);
        assert_eq!(Feature::from_scaled(&[f32::NAN]), Err(NotFinite));
    }

    #[test]
    fn similarity_is_a_cosine() {
        let feature = |values: &[f32]| Feature::new(values).unwrap();
        let a = feature(&[1.0, 2.0, 2.0]);
        assert!((a.similarity(&feature(&[2.0, 4.0, 4.0])) - 1.0).abs() < 1e-9);
        assert!((a.similarity(&feature(&[2.0, 1.0, -2.0])) - 0.0).abs() < 1e-3);
        assert!(a.similarity(&feature(&[0.0; 3])).abs() < 1e-12);
    }
}
