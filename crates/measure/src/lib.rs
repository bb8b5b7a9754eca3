//! Results of continual learning as numbers.
//!
//! A run learns its tasks one after another and is tested after each task. The accuracies of these
//! tests are an [`AccuracyMatrix`]; every measure of the run is a pure function of it, listed in
//! [`METRICS`]. Three distances measure what replay does to the embedding space: [`inner_distance`],
//! [`distance_to_proxies`] and [`proxy_drift`]. [`pearson`] and [`spearman`] correlate two quantities.
//! [`OverSeeds`], [`Paired`] and [`wilcoxon`] over pairs of runs, and [`mcnemar`] over test images, say
//! whether two variants differ, and how much; [`holm`] corrects for several comparisons in one table.
//!
//! Tasks and classes are counted from 0, accuracies are fractions.
//!
//! ```
//! use rehearsal_measure::{AccuracyMatrix, METRICS, accuracy, forgetting};
//!
//! let mut matrix = AccuracyMatrix::new();
//! matrix.push_row(vec![0.75])?; // after the first task
//! assert_eq!(forgetting(&matrix), None); // nothing to forget yet
//!
//! matrix.push_row(vec![0.5, 1.0])?; // after the second
//! assert_eq!(accuracy(&matrix), Some(0.75));
//! assert_eq!(forgetting(&matrix), Some(0.25));
//!
//! for metric in METRICS {
//!     println!("{}: {:?} ({:?} is better)", metric.name, (metric.of)(&matrix), metric.better);
//! }
//! # Ok::<(), rehearsal_measure::MatrixError>(())
//! ```

#![forbid(unsafe_code)]

mod accuracy_matrix;
mod anytime;
mod bootstrap;
mod correlation;
mod distances;
mod histogram;
mod holm;
mod mcnemar;
mod metrics;
mod over_seeds;
mod paired;
mod ranks;
mod student;
mod wilcoxon;

pub use accuracy_matrix::{AccuracyMatrix, MatrixError};
pub use anytime::{InsideTest, average_anytime_accuracy, worst_case_accuracy};
pub use correlation::{pearson, spearman};
pub use distances::{Distance, distance_to_proxies, inner_distance, proxy_drift};
pub use histogram::Histogram;
pub use holm::holm;
pub use mcnemar::{McNemar, mcnemar, mcnemar_of};
pub use metrics::{
    Better, METRICS, Metric, RetentionRate, accuracy, accuracy_after, average_incremental_accuracy,
    average_retention_rate, average_retention_rate_after, backward_transfer, forgetting, forgetting_from_first,
    retention, retention_after,
};
pub use over_seeds::OverSeeds;
pub use paired::Paired;
pub use wilcoxon::{Wilcoxon, wilcoxon};
