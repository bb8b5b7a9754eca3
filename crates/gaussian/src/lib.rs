//! A classifier on features of a pre-trained network that forgets nothing and deletes exactly.
//!
//! Every class is a Gaussian with a mean of its own and a covariance that all classes share (linear
//! discriminant analysis, shrunk half way to a multiple of the identity). What is learned are sums
//! of integers: [`Sums`] counts photos, adds their [`Feature`]s per class, and adds the products of
//! all pairs of coordinates. Such sums do not depend on the order of their terms, and a term can be
//! taken out again. Hence three promises, to the bit:
//!
//! 1. the order and number of training sessions does not matter;
//! 2. nothing is forgotten: the head equals that of training on all photos at once;
//! 3. a photo that is taken out leaves the head that never saw it.
//!
//! ```
//! use rehearsal_gaussian::{Feature, Head, Sums};
//!
//! let feature = |x: f32, y: f32| Feature::new(&[x, y, 0.1]).expect("finite numbers");
//! let mut sums = Sums::new(3);
//! sums.add("boots", &[feature(1.0, 0.1), feature(0.9, 0.2)]);
//! sums.add("clogs", &[feature(0.1, 1.0), feature(0.2, 0.8)]);
//! let head = Head::new(&sums);
//! let distances = head.distances(&feature(0.8, 0.1));
//! assert!(distances[0] < distances[1], "a boot");
//! ```

#![forbid(unsafe_code)]

mod cholesky;
mod dense;
mod feature;
mod head;
mod linear;
mod sums;

pub use feature::{Feature, NotFinite};
pub use head::Head;
pub use linear::Linear;
pub use sums::{ClassSum, Sums};
