//! What is learned: sums of integers.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::{Feature, dense::product};

/// Photos whose products are added at once. Every sum stays far below 2⁵³, so `f64` adds integers
/// without rounding, in any order.
const BATCH: usize = 1024;
/// Rows of the matrix of products that one task computes.
const ROWS: usize = 128;

/// How many photos of each class there are, the sum of their features, and the sum over all photos
/// of the products of all pairs of coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    dimensions: usize,
    classes: BTreeMap<String, ClassSum>,
    /// The upper triangle, row by row.
    products: Vec<i64>,
}

/// A class's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSum {
    /// Photos.
    pub count: u64,
    /// The sum of their features, as [`Feature::raw`] counts.
    pub sum: Vec<i64>,
}

impl Sums {
    /// Of no photo, for features of so many coordinates.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, classes: BTreeMap::new(), products: vec![0; triangle(dimensions)] }
    }

    /// As they were kept: the classes, and the upper triangle of products, row by row. None if the
    /// parts do not fit together.
    pub fn from_parts(dimensions: usize, classes: BTreeMap<String, ClassSum>, products: Vec<i64>) -> Option<Self> {
        let fits = |class: &ClassSum| class.sum.len() == dimensions && class.count > 0;
        (products.len() == triangle(dimensions) && classes.values().all(fits)).then_some(Self {
            dimensions,
            classes,
            products,
        })
    }

    /// Coordinates of a feature.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The classes that have photos, by name.
    pub fn classes(&self) -> &BTreeMap<String, ClassSum> {
        &self.classes
    }

    /// The upper triangle of the products, row by row.
    pub fn products(&self) -> &[i64] {
        &self.products
    }

    /// Photos of all classes.
    pub fn count(&self) -> u64 {
        self.classes.values().map(|class| class.count).sum()
    }

    /// Adds photos of a class.
    ///
    /// # Panics
    /// If a feature has another number of coordinates.
    pub fn add(&mut self, class: &str, features: &[Feature]) {
        self.add_to_class(class, features, 1);
        self.add_products(features, 1);
    }

    /// Takes photos of a class out again. Without photos a class is gone.
    ///
    /// # Panics
    /// If a feature has another number of coordinates, or the class has fewer photos.
    pub fn remove(&mut self, class: &str, features: &[Feature]) {
        self.add_to_class(class, features, -1);
        self.add_products(features, -1);
    }

    /// Moves photos from one class to another.
    ///
    /// # Panics
    /// As [`Sums::remove`].
    pub fn relabel(&mut self, features: &[Feature], from: &str, to: &str) {
        self.add_to_class(from, features, -1);
        self.add_to_class(to, features, 1);
    }

    /// Gives all photos of a class to another, which may be new. A class without photos gives none.
    pub fn merge(&mut self, from: &str, to: &str) {
        if let Some(moved) = self.classes.remove(from) {
            let class = self.class(to);
            class.count += moved.count;
            class.sum.iter_mut().zip(&moved.sum).for_each(|(sum, value)| *sum += value);
        }
    }

    fn class(&mut self, name: &str) -> &mut ClassSum {
        let dimensions = self.dimensions;
        self.classes.entry(name.to_owned()).or_insert_with(|| ClassSum { count: 0, sum: vec![0; dimensions] })
    }

    fn add_to_class(&mut self, name: &str, features: &[Feature], sign: i64) {
        if features.is_empty() {
            return;
        }
        assert!(features.iter().all(|feature| feature.dimensions() == self.dimensions), "features of one network");
        let class = self.class(name);
        let count = features.len() as u64;
        let counted = if sign > 0 { class.count.checked_add(count) } else { class.count.checked_sub(count) };
        class.count = counted.expect("photos that were added");
        for feature in features {
            class.sum.iter_mut().zip(feature.raw()).for_each(|(sum, &value)| *sum += sign * i64::from(value));
        }
        if class.count == 0 {
            debug_assert!(class.sum.iter().all(|sum| *sum == 0), "the photos that were added");
            self.classes.remove(name);
        }
    }

    fn add_products(&mut self, features: &[Feature], sign: i64) {
        let d = self.dimensions;
        for batch in features.chunks(BATCH) {
            let values: Vec<f64> = batch.iter().flat_map(Feature::raw).map(|&value| f64::from(value)).collect();
            let blocks: Vec<(usize, Vec<f64>)> = (0..d)
                .step_by(ROWS)
                .collect::<Vec<_>>()
                .into_par_iter()
                .map(|first| (first, products(&values, d, first, ROWS.min(d - first))))
                .collect();
            for (first, block) in blocks {
                let width = d - first;
                for (r, row) in block.chunks_exact(width).enumerate() {
                    let to = &mut self.products[row_start(d, first + r)..][..width - r];
                    to.iter_mut().zip(&row[r..]).for_each(|(sum, &product)| *sum += sign * product as i64);
                }
            }
        }
    }
}

/// `[rows, d − first]`: the sums of products of coordinates `first .. first + rows` with all from
/// `first` on.
fn products(values: &[f64], d: usize, first: usize, rows: usize) -> Vec<f64> {
    let (photos, columns) = (values.len() / d, d - first);
    let mut block = vec![0.0; rows * columns];
    let value = |coordinate: usize, photo: usize| values[photo * d + first + coordinate];
    product(rows, columns, photos, value, value, |row, column, sum| block[row * columns + column] = sum);
    block
}

/// Floats of the upper triangle of a matrix.
pub(crate) fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// Where row `row` of the upper triangle begins.
pub(crate) fn row_start(d: usize, row: usize) -> usize {
    row * d - row * row.saturating_sub(1) / 2
}
