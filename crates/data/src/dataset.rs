//! The data sets, and how to open one.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    DataError, Incomplete, Progress, Source, Split,
    catalogue::card,
    choice,
    choice::Choice,
    find::Found,
    home, limits,
    pack::{self, Packing},
    told::{about_listing, about_skipped},
    view::view,
};

/// The data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// 3,500 images of Fashion-MNIST, compiled into the program.
    Embedded,
    /// CIFAR-10 in its official binary layout.
    Cifar10,
    /// CIFAR-100 in its official binary layout, fine labels.
    Cifar100,
    /// CORe50: fifty objects in eleven sessions.
    Core50,
    /// Fashion-MNIST in its official idx files.
    FashionMnist,
    /// The first hundred classes of Food-101.
    Food100,
    /// A hundred classes of ImageNet, small.
    MiniImagenet,
    /// The first hundred categories of Places365.
    Places100,
    /// The first hundred classes of Tiny ImageNet, or all two hundred.
    TinyImagenet,
    /// A folder of the user's images.
    Folder,
}
choice!(
    Dataset,
    "data set",
    Embedded = "embedded",
    Cifar10 = "cifar10",
    Cifar100 = "cifar100",
    Core50 = "core50",
    FashionMnist = "fashion-mnist",
    Food100 = "food100",
    MiniImagenet = "mini-imagenet",
    Places100 = "places100",
    TinyImagenet = "tiny-imagenet",
    Folder = "folder",
);

/// How to open a data set.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The directory of the data set, or of all data sets; `None` for the default data directory.
    pub directory: Option<&'a Path>,
    /// Height and width of the images; `None` for the data set's own.
    pub size: Option<usize>,
    /// How many classes will be used: Tiny ImageNet has 100 unless more are asked for.
    pub classes: Option<usize>,
    /// Skip files that are not images, instead of refusing the data set.
    pub skip_bad: bool,
    /// Follow links that lead out of the data set's directory, instead of refusing them.
    pub follow_links_outside: bool,
    /// Number of threads that decode images; `None` for one per core.
    pub threads: Option<usize>,
    /// The directory of packs; `None` for one beside the data if it is writable, else in the default
    /// data directory.
    pub packs: Option<&'a Path>,
    /// Is told the progress if images must be packed first.
    pub progress: &'a dyn Progress,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Self {
            directory: None,
            size: None,
            classes: None,
            skip_bad: false,
            follow_links_outside: false,
            threads: None,
            packs: None,
            progress: &(),
        }
    }
}

impl Request<'_> {
    /// Where packs of a data set may be.
    pub(crate) fn pack_directories(&self, dataset: Dataset) -> Vec<PathBuf> {
        self.packs.map_or_else(|| home::packs(dataset, self.directory), |packs| vec![packs.into()])
    }
}

impl Dataset {
    /// Opens the data set. The first time, image files are decoded and packed. If images are missing,
    /// [`Source::incomplete`] says so.
    ///
    /// # Errors
    /// Files are missing or malformed, or there is nothing to learn from.
    pub fn open(self, request: &Request) -> Result<Arc<dyn Source>, DataError> {
        if let Some(size) = request.size {
            limits::check_side(size)?;
        }
        let source = match self.find(request)? {
            Found::Source(source) => source,
            Found::Files(listing, directories) => {
                let (size, root) = (request.size.unwrap_or(card(self).size), listing.root.clone());
                let Request { skip_bad, threads, progress, .. } = *request;
                about_listing(&listing, progress);
                let directories = &directories[..];
                let packed = pack::open(
                    listing,
                    &Packing { name: self.name(), size, skip_bad, threads, directories, progress },
                )?;
                about_skipped(packed.skipped(), &root, progress);
                Arc::new(packed)
            }
        };
        let mut shape = source.shape();
        if let Some(size) = request.size {
            (shape.height, shape.width) = (size, size);
        }
        let images = (source.labels(Split::Train).len(), source.labels(Split::Test).len());
        limits::check_images(self, shape, images)?;
        Ok(view(source, shape, Incomplete::compare(self, request.classes, images)))
    }

    /// Whether its images are files, which are packed at first use.
    pub fn is_packed(self) -> bool {
        !matches!(self, Self::Embedded | Self::Cifar10 | Self::Cifar100 | Self::FashionMnist)
    }

    /// The number of tasks in the paper, or the usual one.
    pub fn default_tasks(self) -> usize {
        match self {
            Self::Embedded | Self::Cifar10 | Self::FashionMnist | Self::Folder => 5,
            Self::Core50 => 10,
            Self::Cifar100 | Self::Food100 | Self::MiniImagenet | Self::Places100 | Self::TinyImagenet => 20,
        }
    }
}
