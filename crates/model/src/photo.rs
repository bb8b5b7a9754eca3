//! A photo on its way into a model.

use rehearsal_data::Image;

/// An image of a class, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// What it shows.
    pub class: String,
    /// Its path as it was given: what it is asked for by when it must be removed.
    pub source: String,
    /// The pixels, of the model's size.
    pub image: Image,
}
