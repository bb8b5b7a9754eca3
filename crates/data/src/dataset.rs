//! Every data set there is, and how one is opened.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    DataError, ImageShape, Progress, Source,
    catalogue::{DEBIAN, card},
    choice,
    choice::Choice,
    home::{self, Place},
    links::Bounds,
    pack::{self, Listing, Packing},
    reshape::reshaped,
    sources::{cifar, core50, embedded, fashion_mnist, folder, food100, mini_imagenet, places100, tiny_imagenet},
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
    /// Where packed images are kept; else beside the data, where data live.
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
            packs: None,
            progress: &(),
        }
    }
}

/// A data set, found.
pub(crate) enum Found {
    /// Ready to give images.
    Source(Arc<dyn Source>),
    /// Image files, to be packed into this directory.
    Files(Listing, PathBuf),
}

impl Dataset {
    /// Opens the data set. The first time, image files are decoded and packed.
    ///
    /// # Errors
    /// Files are missing or malformed.
    pub fn open(self, request: &Request) -> Result<Arc<dyn Source>, DataError> {
        let size = request.size.unwrap_or(card(self).size);
        match self.find(request)? {
            Found::Source(source) => {
                let shape = source.shape();
                let size = request.size.map(|size| ImageShape { height: size, width: size, ..shape });
                Ok(reshaped(source, size.unwrap_or(shape)))
            }
            Found::Files(listing, directory) => {
                let (skip_bad, progress) = (request.skip_bad, request.progress);
                let packing = Packing { name: self.name(), size, skip_bad, directory: &directory, progress };
                Ok(Arc::new(pack::open(listing, &packing)?))
            }
        }
    }

    /// Whether its images are files, which are packed before the first run.
    pub fn is_packed(self) -> bool {
        !matches!(self, Self::Embedded | Self::Cifar10 | Self::Cifar100 | Self::FashionMnist)
    }

    /// Where packs are kept: beside the data if they are in a home, never in a folder of the user's own.
    fn packs(request: &Request, home: Option<&Path>) -> Result<PathBuf, DataError> {
        match (request.packs, home) {
            (Some(packs), _) => Ok(packs.into()),
            (None, Some(home)) => Ok(home.join("packs")),
            (None, None) => Ok(home::usual()?.join("packs")),
        }
    }

    /// Finds the data set and reads what it holds, but decodes no image files.
    pub(crate) fn find(self, request: &Request) -> Result<Found, DataError> {
        if self == Self::Embedded {
            return Ok(Found::Source(Arc::new(embedded::open()?)));
        }
        let bounds = |roots: &[&Path]| Bounds::new(roots, request.follow_links_outside);
        if self == Self::Folder {
            let root = request.directory.ok_or(DataError::NoFolder)?;
            let bounds = bounds(&[root])?;
            let listing = folder::list(root, &bounds)?;
            bounds.check_listing(&listing)?;
            return Ok(Found::Files(listing, Self::packs(request, None)?));
        }
        let home = request.directory.map_or_else(home::usual, |directory| Ok(directory.to_path_buf()))?;
        let place = Place::new(&home, self.name());
        let root = |mark: usize| self.root(&place, &home, mark);
        let roots = match self {
            Self::FashionMnist => {
                let debian = Path::new(DEBIAN);
                match root(0) {
                    Err(_) if request.directory.is_none() && debian.is_dir() => vec![debian.to_path_buf()],
                    root => vec![root?],
                }
            }
            Self::MiniImagenet => {
                let found = mini_imagenet::find(&home);
                vec![found.ok_or_else(|| self.absent(&home, mini_imagenet::PICKLES[0].into()))?]
            }
            Self::Places100 => vec![root(0)?, root(1)?, root(2)?.join("val_256")],
            _ => vec![root(0)?],
        };
        let bounds = bounds(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        roots.iter().try_for_each(|root| bounds.check_directory(root))?;
        let root = &roots[0];
        let listing = match self {
            Self::Embedded | Self::Folder => unreachable!("returned above"),
            Self::Cifar10 => return Ok(Found::Source(Arc::new(cifar::open(&cifar::CIFAR10, root)?))),
            Self::Cifar100 => return Ok(Found::Source(Arc::new(cifar::open(&cifar::CIFAR100, root)?))),
            Self::FashionMnist => return Ok(Found::Source(Arc::new(fashion_mnist::open(root)?))),
            Self::MiniImagenet if mini_imagenet::is_pickled(root) => {
                return Ok(Found::Source(Arc::new(mini_imagenet::open(root)?)));
            }
            Self::MiniImagenet => mini_imagenet::list(root, &bounds)?,
            Self::Core50 => core50::list(root)?,
            Self::Food100 => food100::list(root)?,
            Self::Places100 => {
                let [lists, train, val] = [0, 1, 2].map(|index| roots[index].clone());
                places100::list(&places100::Roots { lists, train, val })?
            }
            Self::TinyImagenet => tiny_imagenet::list(root, request.classes)?,
        };
        bounds.check_listing(&listing)?;
        Ok(Found::Files(listing, Self::packs(request, place.is_home().then_some(&home))?))
    }

    /// The directory of the data set's mark of that number.
    fn root(self, place: &Place, home: &Path, mark: usize) -> Result<PathBuf, DataError> {
        let (folder, marker) = card(self).marks[mark];
        place
            .find(folder, marker)
            .ok_or_else(|| self.absent(home, Path::new(folder).join(marker).display().to_string()))
    }

    fn absent(self, home: &Path, expected: String) -> DataError {
        DataError::Absent { dataset: self, home: home.into(), expected }
    }

    /// Into how many tasks the paper (or the habit of the field) cuts it.
    pub fn usual_tasks(self) -> usize {
        match self {
            Self::Embedded | Self::Cifar10 | Self::FashionMnist | Self::Folder => 5,
            Self::Core50 => 10,
            Self::Cifar100 | Self::Food100 | Self::MiniImagenet | Self::Places100 | Self::TinyImagenet => 20,
        }
    }
}
