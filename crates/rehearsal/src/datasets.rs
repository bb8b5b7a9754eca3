//! Where images come from: the crate `rehearsal-data`.

pub use rehearsal_data::{Chain, DataError, Dataset, Request, Skipped, Source, Split};
