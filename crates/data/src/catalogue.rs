//! What each data set is: its size, where it comes from, and its terms of use.

mod archive;
mod cards;
mod published;
mod state;

pub use archive::{Archive, Checksum, Kind, Limits};
pub(crate) use cards::DEBIAN;
pub use cards::card;
pub use published::PublishedFile;
pub use state::{State, state};

use crate::Dataset;

/// What is known about a data set.
#[derive(Clone, Debug)]
pub struct Card {
    /// Which data set.
    pub dataset: Dataset,
    /// How many classes; `None` if it depends on the user's files.
    pub classes: Option<usize>,
    /// Training and test images; `None` if it depends on the user's files.
    pub images: Option<(usize, usize)>,
    /// With fewer images it is incomplete, if the number of images is not known exactly.
    pub fewest_images: Option<(usize, usize)>,
    /// Default height and width.
    pub size: usize,
    /// The files that it is distributed in.
    pub archives: &'static [Archive],
    /// A folder, and a file or directory in it, for each thing that must be there.
    pub marks: &'static [(&'static str, &'static str)],
    /// Terms of use.
    pub terms: &'static str,
    /// Where to read about it.
    pub about: &'static str,
}
