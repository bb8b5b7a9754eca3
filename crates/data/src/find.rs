//! Finds the files of a data set.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    DataError, Dataset, Request, Source, Split,
    catalogue::{DEBIAN, card},
    choice::Choice,
    home::{self, Place},
    links::Bounds,
    pack::Listing,
    sources::{cifar, core50, embedded, fashion_mnist, folder, food100, mini_imagenet, places100, tiny_imagenet},
};

/// A data set, found.
pub(crate) enum Found {
    /// Ready to give images.
    Source(Arc<dyn Source>),
    /// Image files, and where they may be packed.
    Files(Listing, Vec<PathBuf>),
}

impl Found {
    /// Training and test images that are there.
    pub(crate) fn count(&self) -> (usize, usize) {
        let count = |split: Split| match self {
            Self::Source(source) => source.labels(split).len(),
            Self::Files(listing, _) => listing.entries(split).iter().filter(|entry| entry.path.is_file()).count(),
        };
        (count(Split::Train), count(Split::Test))
    }
}

impl Dataset {
    /// Finds the data set, without decoding image files.
    pub(crate) fn find(self, request: &Request) -> Result<Found, DataError> {
        let bounds = |roots: &[PathBuf]| Bounds::new(roots, request.follow_links_outside);
        if self == Self::Embedded {
            return Ok(Found::Source(Arc::new(embedded::open()?)));
        }
        if self == Self::Folder {
            let root = request.directory.ok_or(DataError::NoFolder)?;
            let bounds = bounds(&[root.into()])?;
            let listing = folder::list(root, &bounds)?;
            bounds.check_listing(&listing)?;
            return Ok(self.files(listing, root, request));
        }
        let home = home::directory(request.directory)?;
        let roots = self.roots(&home, request.directory.is_none())?;
        let bounds = bounds(&roots)?;
        roots.iter().try_for_each(|root| bounds.check_directory(root))?;
        let root = &roots[0];
        let listing = match self {
            Self::Cifar10 => return Ok(Found::Source(Arc::new(cifar::open(&cifar::CIFAR10, root)?))),
            Self::Cifar100 => return Ok(Found::Source(Arc::new(cifar::open(&cifar::CIFAR100, root)?))),
            Self::FashionMnist => return Ok(Found::Source(Arc::new(fashion_mnist::open(root)?))),
            Self::MiniImagenet if mini_imagenet::is_pickled(root) => {
                return Ok(Found::Source(Arc::new(mini_imagenet::open(root)?)));
            }
            _ => self.listing(&roots, request, &bounds)?,
        };
        bounds.check_listing(&listing)?;
        Ok(self.files(listing, &home, request))
    }

    /// Image files that were found below `root`.
    fn files(self, listing: Listing, root: &Path, request: &Request) -> Found {
        Found::Files(Listing { root: root.into(), dataset: Some(self), ..listing }, request.pack_directories(self))
    }

    /// How many training and test images are in `home`, without reading any of them.
    pub(crate) fn count(self, home: &Path) -> Result<(usize, usize), DataError> {
        let roots = self.roots(home, true)?;
        match self {
            Self::Cifar10 => cifar::count(&cifar::CIFAR10, &roots[0]),
            Self::Cifar100 => cifar::count(&cifar::CIFAR100, &roots[0]),
            Self::FashionMnist => fashion_mnist::count(&roots[0]),
            Self::MiniImagenet if mini_imagenet::is_pickled(&roots[0]) => mini_imagenet::count(&roots[0]),
            _ => {
                let listing = self.listing(&roots, &Request::default(), &Bounds::new(&roots, true)?)?;
                Ok(Found::Files(listing, Vec::new()).count())
            }
        }
    }

    /// The image files below `roots`.
    fn listing(self, roots: &[PathBuf], request: &Request, bounds: &Bounds) -> Result<Listing, DataError> {
        let root = &roots[0];
        match self {
            Self::MiniImagenet => mini_imagenet::list(root, bounds),
            Self::Core50 => core50::list(root),
            Self::Food100 => food100::list(root),
            Self::Places100 => {
                let [lists, train, val] = [0, 1, 2].map(|index| roots[index].clone());
                places100::list(&places100::Roots { lists, train, val })
            }
            Self::TinyImagenet => tiny_imagenet::list(root, request.classes),
            Self::Embedded | Self::Folder | Self::Cifar10 | Self::Cifar100 | Self::FashionMnist => {
                unreachable!("not found by a mark, or without image files")
            }
        }
    }

    /// The directories of the data set's files in `home`; else, if `anywhere`, those of the system's
    /// package.
    fn roots(self, home: &Path, anywhere: bool) -> Result<Vec<PathBuf>, DataError> {
        let place = Place::new(home, self.name());
        let root = |mark: usize| self.root(&place, home, mark);
        Ok(match self {
            Self::FashionMnist => match root(0) {
                Err(_) if anywhere && Path::new(DEBIAN).is_dir() => vec![DEBIAN.into()],
                root => vec![root?],
            },
            Self::MiniImagenet => {
                let found = mini_imagenet::find(home);
                vec![found.ok_or_else(|| self.absent(home, mini_imagenet::PICKLES[0].into()))?]
            }
            Self::Places100 => vec![root(0)?, root(1)?, root(2)?.join("val_256")],
            _ => vec![root(0)?],
        })
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
}
