//! Concatenated data sets: `cifar10+fashion-mnist`.

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use rehearsal_files::sha256::finish;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest, Sha256};

use crate::{
    DataError, Dataset, Image, ImageShape, Incomplete, Request, Skipped, Source, Split,
    catalogue::card,
    choice::{Choice, UnknownName},
    photos::Ignored,
    view::view,
};

/// One data set, or several concatenated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain(Vec<Dataset>);

impl From<Dataset> for Chain {
    fn from(dataset: Dataset) -> Self {
        Self(vec![dataset])
    }
}

impl FromStr for Chain {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        text.split('+').map(Dataset::from_name).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|dataset| dataset.name()).collect();
        f.pad(&names.join("+"))
    }
}

impl Serialize for Chain {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl Chain {
    /// The data sets, in order.
    pub fn datasets(&self) -> &[Dataset] {
        &self.0
    }

    /// Opens all of them. Images of several get the requested size, else the largest of theirs, and
    /// are grey only if all are.
    ///
    /// # Errors
    /// One cannot be opened.
    pub fn open(&self, request: &Request) -> Result<Arc<dyn Source>, DataError> {
        if let [dataset] = self.0[..] {
            return dataset.open(request);
        }
        if let Some(twice) = (1..self.0.len()).find(|&at| self.0[..at].contains(&self.0[at])) {
            let name = self.0[twice];
            return Err(DataError::Refused(format!("{name} is named twice: its classes could not be told apart")));
        }
        let sources = self.0.iter().map(|dataset| dataset.open(request)).collect::<Result<Vec<_>, _>>()?;
        let classes: usize = sources.iter().map(|source| source.class_names().len()).sum();
        if u16::try_from(classes).is_err() {
            return Err(DataError::Refused(format!("{self} has {classes} classes: at most 65,535 can be numbered")));
        }
        Ok(Arc::new(Chained::new(sources, &self.0)))
    }

    /// The number of training domains, if it has domains.
    pub fn domains(&self) -> Option<usize> {
        (self.0 == [Dataset::Core50]).then_some(8)
    }

    /// The default number of tasks: with as many classes per task as the first data set has, if that
    /// divides the number of classes.
    pub fn default_tasks(&self) -> usize {
        let tasks = self.0.iter().map(|dataset| dataset.default_tasks()).sum();
        let classes = self.0.iter().map(|&dataset| card(dataset).classes).sum::<Option<usize>>();
        let per_task = card(self.0[0]).classes.map(|classes| classes / self.0[0].default_tasks());
        match (classes, per_task) {
            (Some(classes), Some(per_task)) if classes.is_multiple_of(per_task) => classes / per_task,
            _ => tasks,
        }
    }
}

/// Several sources as one: the classes of the first come first.
struct Chained {
    sources: Vec<Arc<dyn Source>>,
    shape: ImageShape,
    names: Vec<String>,
    labels: [Vec<u16>; 2],
    sha256: String,
    incomplete: Vec<Incomplete>,
    skipped: Vec<Skipped>,
    ignored: Vec<Ignored>,
}

impl Chained {
    fn new(sources: Vec<Arc<dyn Source>>, datasets: &[Dataset]) -> Self {
        let most = |size: fn(ImageShape) -> usize| sources.iter().map(|source| size(source.shape())).max().unwrap_or(0);
        let shape = ImageShape {
            height: most(|shape| shape.height),
            width: most(|shape| shape.width),
            channels: most(|shape| shape.channels),
        };
        let mut digest = Sha256::new();
        let mut labels = [Vec::new(), Vec::new()];
        let mut first = 0;
        for source in &sources {
            digest.update(source.sha256());
            for (labels, split) in labels.iter_mut().zip(Split::BOTH) {
                labels.extend(source.labels(split).iter().map(|label| label + first));
            }
            first += source.class_names().len() as u16;
        }
        let names = names(&sources, datasets);
        let incomplete = sources.iter().flat_map(|source| source.incomplete().to_vec()).collect();
        let skipped = sources.iter().flat_map(|source| source.skipped().to_vec()).collect();
        let ignored = sources.iter().flat_map(|source| source.ignored().to_vec()).collect();
        let sources = sources.into_iter().map(|source| view(source, shape, None)).collect();
        Self { sources, shape, names, labels, sha256: finish(digest), incomplete, skipped, ignored }
    }
}

impl Chained {
    /// The source of an image, and the image's number there.
    fn source_of(&self, split: Split, mut index: usize) -> (&dyn Source, usize) {
        for source in &self.sources {
            match source.labels(split).len() {
                length if index < length => return (&**source, index),
                length => index -= length,
            }
        }
        panic!("an index beyond the last image");
    }
}

/// The names of the classes; a name that two data sets have is prefixed with the data set's.
fn names(sources: &[Arc<dyn Source>], datasets: &[Dataset]) -> Vec<String> {
    let all = || sources.iter().flat_map(|source| source.class_names());
    let several = |name: &String| all().filter(|other| *other == name).count() > 1;
    let of = |(source, dataset): (&Arc<dyn Source>, &Dataset)| -> Vec<String> {
        let full = |name: &String| if several(name) { format!("{dataset} {name}") } else { name.clone() };
        source.class_names().iter().map(full).collect()
    };
    sources.iter().zip(datasets).flat_map(of).collect()
}

impl Source for Chained {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        &self.names
    }

    fn labels(&self, split: Split) -> &[u16] {
        &self.labels[split as usize]
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let (source, index) = self.source_of(split, index);
        source.image(split, index)
    }

    fn file(&self, split: Split, index: usize) -> Option<&Path> {
        let (source, index) = self.source_of(split, index);
        source.file(split, index)
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn parts(&self) -> Vec<usize> {
        self.sources.iter().map(|source| source.class_names().len()).collect()
    }

    fn incomplete(&self) -> &[Incomplete] {
        &self.incomplete
    }

    fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InMemory;

    #[test]
    fn names_are_joined_by_plus() {
        let chain: Chain = "cifar10+fashion-mnist".parse().unwrap();
        assert_eq!(chain.datasets(), [Dataset::Cifar10, Dataset::FashionMnist]);
        assert_eq!((chain.to_string().as_str(), chain.default_tasks()), ("cifar10+fashion-mnist", 10));
        assert_eq!("cifar100+cifar10".parse::<Chain>().unwrap().default_tasks(), 22, "five classes a task");
        assert!("cifar10+".parse::<Chain>().unwrap_err().to_string().contains("there is no data set ``"));
        assert!("cifar10+fashion".parse::<Chain>().unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn no_data_set_comes_twice() {
        let chain: Chain = vec!["embedded"; 5_000].join("+").parse().unwrap();
        let error = chain.open(&Request::default()).err().unwrap().to_string();
        assert_eq!(error, "embedded is named twice: its classes could not be told apart");
    }

    /// Grey 28×28 and a colour data set of 4×4: the chain has 28×28 in colour.
    #[test]
    fn sizes_and_channels_are_reconciled() {
        let images: Vec<Image> = (0..2).map(|index| Image::from([200, 10, index].repeat(8))).collect();
        let red = InMemory {
            shape: ImageShape { height: 2, width: 4, channels: 3 },
            class_names: vec!["bag".into(), "red".into()],
            labels: [vec![1, 0], vec![1, 0]],
            images: [images.clone(), images],
            sha256: "red".into(),
        };
        let grey = Dataset::Embedded.open(&Request::default()).unwrap();
        let chained = Chained::new(vec![grey.clone(), Arc::new(red)], &[Dataset::Embedded, Dataset::Folder]);
        assert_eq!(chained.shape(), ImageShape { height: 28, width: 28, channels: 3 });
        assert_eq!(chained.parts(), [10, 2]);
        assert_eq!(chained.class_names()[8..], ["embedded bag", "ankle boot", "folder bag", "red"]);
        assert_eq!(chained.labels(Split::Test)[1000..], [11, 10]);
        let image = chained.image(Split::Test, 1001).unwrap();
        assert_eq!((image.len(), &image[3 * 500..][..3]), (28 * 28 * 3, &[200, 10, 1][..]));
        let (was, is) = (grey.image(Split::Train, 7).unwrap(), chained.image(Split::Train, 7).unwrap());
        assert!(was.iter().zip(is.chunks(3)).all(|(&grey, rgb)| rgb == [grey; 3]));
    }
}
