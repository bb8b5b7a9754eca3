//! Every data set there is, and how one is opened.

use std::{path::Path, sync::Arc};

use crate::{
    DataError, ImageShape, Incomplete, Progress, Source, Split,
    catalogue::card,
    choice,
    choice::Choice,
    find::Found,
    incomplete::saying_so,
    limits,
    pack::{self, Packing},
    reshape::reshaped,
    told::{about_listing, about_skipped},
};

/// Every data set there is.
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
    /// A folder of the user's own images.
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

/// How a data set is wanted.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Where it is, as the user gave it as `--data`; else where data live.
    pub directory: Option<&'a Path>,
    /// Height and width of the images; else the data set's own.
    pub size: Option<usize>,
    /// How many classes will be used: Tiny ImageNet has a hundred unless more are asked for.
    pub classes: Option<usize>,
    /// Leave out files that are no images, instead of refusing the data set.
    pub skip_bad: bool,
    /// Follow links that lead out of the data set's directory, instead of refusing them.
    pub follow_links_outside: bool,
    /// On how many threads images are decoded; else on as many as there are cores.
    pub threads: Option<usize>,
    /// Where packed images are kept; else beside the data if these can be written to, else where
    /// data live.
    pub packs: Option<&'a Path>,
    /// Who hears how far it is, where images must be packed first.
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

impl Dataset {
    /// Opens the data set. The first time, image files are decoded and packed. A part of a data
    /// set is opened too, and says so: [`Source::incomplete`].
    ///
    /// # Errors
    /// Files are missing or malformed, or there is nothing to learn from.
    pub fn open(self, request: &Request) -> Result<Arc<dyn Source>, DataError> {
        if let Some(size) = request.size {
            limits::check_side(size)?;
        }
        let source = match self.find(request)? {
            Found::Source(source) => {
                let shape = source.shape();
                let size = request.size.map(|size| ImageShape { height: size, width: size, ..shape });
                reshaped(source, size.unwrap_or(shape))
            }
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
        let [train, test] = Split::BOTH.map(|split| source.labels(split).len());
        limits::check_images(self, source.shape(), (train, test))?;
        Ok(saying_so(source, Incomplete::compare(self, request.classes, (train, test))))
    }

    /// Whether its images are files, which are packed before the first run.
    pub fn is_packed(self) -> bool {
        !matches!(self, Self::Embedded | Self::Cifar10 | Self::Cifar100 | Self::FashionMnist)
    }

    /// Into how many tasks the paper (or the habit of the field) cuts it.
    pub fn default_tasks(self) -> usize {
        match self {
            Self::Embedded | Self::Cifar10 | Self::FashionMnist | Self::Folder => 5,
            Self::Core50 => 10,
            Self::Cifar100 | Self::Food100 | Self::MiniImagenet | Self::Places100 | Self::TinyImagenet => 20,
        }
    }
}
