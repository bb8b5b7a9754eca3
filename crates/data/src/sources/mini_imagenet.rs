//! mini-ImageNet: a hundred classes of 600 images of 84×84, from the three public pickles (a
//! dictionary of `image_data` and `class_dict` each), from a folder of classes, or from folders
//! `train`, `val` and `test` of classes. Classes are ordered by their number in `WordNet`; 500
//! images of each are for training and 100 for testing, by a seeded split.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_files::sha256::finish;
use sha2::{Digest, Sha256};

use super::folder;
use crate::{
    DataError, Image, ImageShape, Source, Split,
    files::{directories, unreadable},
    links::Bounds,
    mapped::Mapped,
    pack::{Entry, Listing},
    photos::{Class, Ignored, Why, beside},
    pickle,
    split::{seeded, tests_of},
};

pub(crate) const PICKLES: [&str; 3] =
    ["mini-imagenet-cache-train.pkl", "mini-imagenet-cache-val.pkl", "mini-imagenet-cache-test.pkl"];

/// The folders of the public split.
const PARTS: [&str; 3] = ["train", "val", "test"];

/// The largest pickle that is read, in bytes: the public ones have less than a gigabyte.
const LARGEST_PICKLE: u64 = 1 << 34;

/// One image in six is for testing: 100 of 600.
const TEST_SHARE: usize = 6;

/// The directory of the pickles, or of the folders of classes, at `home` or below it.
pub(crate) fn find(home: &Path) -> Option<PathBuf> {
    let own = home.join("mini-imagenet");
    let below = directories(&own).unwrap_or_default().into_iter().filter(|path| path.extension().is_none());
    let mut places = [home.to_path_buf(), own].into_iter().chain(below);
    places.find(|place| is_pickled(place) || has_classes(place) || is_split(place))
}

/// Whether a directory has the three pickles.
pub(crate) fn is_pickled(directory: &Path) -> bool {
    PICKLES.iter().all(|file| directory.join(file).exists())
}

/// Whether a directory has folders that are called like classes, `n01532829`.
fn has_classes(directory: &Path) -> bool {
    let is_class = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == 9 && name.starts_with('n') && name[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    directories(directory).unwrap_or_default().iter().any(is_class)
}

/// Whether a directory has folders of classes in `train`, and in `val` or `test`.
fn is_split(directory: &Path) -> bool {
    let [train, val, test] = PARTS.map(|part| has_classes(&directory.join(part)));
    train && (val || test)
}

/// The images of folders of classes.
pub(crate) fn list(root: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    if has_classes(root) { folder::seeded_listing(root, TEST_SHARE, bounds) } else { split_listing(root, bounds) }
}

/// The images of `train`, `val` and `test`. The public split is for learning from few examples: it
/// has 64, 16 and 20 classes, and each is split here as if it lay in one folder with the others. A
/// class that is in `train` and in another keeps the split that its folders say.
fn split_listing(root: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    let mut listing = Listing::default();
    let mut classes: BTreeMap<String, [Vec<PathBuf>; 3]> = BTreeMap::new();
    let parts = PARTS.map(|part| root.join(part));
    listing.ignored = beside(root, &parts.each_ref().map(PathBuf::as_path))?;
    for (part, path) in parts.iter().enumerate().filter(|(_, path)| path.is_dir()) {
        let walked = folder::classes(path, bounds)?;
        listing.ignored.extend(walked.ignored);
        for Class { name, images } in walked.classes {
            classes.entry(name).or_default()[part] = images;
        }
    }
    for (label, (name, [train, val, test])) in (0..).zip(classes) {
        let entry = |path: PathBuf| Entry { path, label, domain: 0 };
        if train.is_empty() || (val.is_empty() && test.is_empty()) {
            let images = [train, val, test].concat();
            folder::add_seeded(&mut listing, label, Class { name: name.clone(), images }, TEST_SHARE);
        } else {
            let (tested, left) = if test.is_empty() { (val, test) } else { (test, val) };
            listing.train.extend(train.into_iter().map(entry));
            listing.test.extend(tested.into_iter().map(entry));
            listing.ignored.extend(left.into_iter().map(|path| Ignored { path, why: Why::BesideSplits }));
        }
        listing.class_names.push(name);
    }
    Ok(listing)
}

/// How many training and test images the three pickles in `directory` have.
pub(crate) fn count(directory: &Path) -> Result<(usize, usize), DataError> {
    let Pickles { classes, .. } = Pickles::read(directory, |_| {})?;
    let images: usize = classes.values().map(Vec::len).sum();
    let tests = classes.values().map(|members| tests_of(members.len(), TEST_SHARE)).sum();
    Ok((images - tests, tests))
}

/// What the three pickles hold.
struct Pickles {
    shape: ImageShape,
    files: Vec<File>,
    /// The files and places of each class's images.
    classes: BTreeMap<String, Vec<(usize, usize)>>,
}

impl Pickles {
    /// Reads the pickles in `directory`; `seen` is called with the bytes of each.
    fn read(directory: &Path, mut seen: impl FnMut(&[u8])) -> Result<Self, DataError> {
        let (mut shape, mut files, mut classes) = (None, Vec::new(), BTreeMap::new());
        for (number, name) in PICKLES.iter().enumerate() {
            let path = directory.join(name);
            let map = Arc::new(Mapped::open(&path, LARGEST_PICKLE).map_err(unreadable(&path))?);
            seen(&map);
            let (file, members) = File::read(&map, &path)?;
            if *shape.get_or_insert(file.shape) != file.shape {
                return Err(malformed(&path, "images of the size of the other pickles"));
            }
            for (class, indices) in members {
                let places = indices.into_iter().map(|index| (number, index));
                classes.entry(class).or_insert_with(Vec::new).extend(places);
            }
            files.push(file);
        }
        let shape = shape.unwrap_or(ImageShape { height: 0, width: 0, channels: 3 });
        Ok(Self { shape, files, classes })
    }
}

/// Opens the three pickles in `directory`.
pub(crate) fn open(directory: &Path) -> Result<MiniImagenet, DataError> {
    let mut digest = Sha256::new();
    let Pickles { shape, files, classes } = Pickles::read(directory, |bytes| digest.update(bytes))?;
    if u16::try_from(classes.len()).is_err() {
        return Err(malformed(directory, "at most 65,535 classes in the three pickles"));
    }
    let mut data = MiniImagenet {
        shape,
        names: Vec::new(),
        files,
        parts: [Part::default(), Part::default()],
        sha256: finish(digest),
    };
    for (label, (class, members)) in classes.into_iter().enumerate() {
        let names: Vec<String> = (0..members.len()).map(|index| format!("{class}/{index}")).collect();
        for (place, test) in members.into_iter().zip(seeded(&names, TEST_SHARE)) {
            let part = &mut data.parts[usize::from(test)];
            part.labels.push(label as u16);
            part.places.push(place);
        }
        data.names.push(class);
    }
    Ok(data)
}

/// The images of one pickle.
struct File {
    shape: ImageShape,
    pixels: Pixels,
}

enum Pixels {
    /// In the mapped file.
    Mapped(Arc<Mapped>, Range<usize>),
    /// Written as text by Python 3 in protocol 2, and read into memory.
    Owned(Vec<u8>),
}

/// The indices of each class's images, by its name.
type Classes = Vec<(String, Vec<usize>)>;

impl File {
    /// Reads a pickle: its images, and the indices of each class's.
    fn read(map: &Arc<Mapped>, path: &Path) -> Result<(Self, Classes), DataError> {
        let pickle = pickle::read(map).map_err(|error| DataError::Malformed {
            path: path.into(),
            offset: error.offset as u64,
            expected: error.expected,
            found: error.found,
        })?;
        let array = pickle.root().get("image_data").and_then(pickle::Value::array);
        let array = array.ok_or_else(|| malformed(path, "an array under `image_data`"))?;
        let (&[count, height, width, channels @ 3], Some(bytes)) = (array.shape(), array.bytes()) else {
            return Err(malformed(path, "`image_data` of bytes and of shape [n, height, width, 3]"));
        };
        if count == 0 || height == 0 || width == 0 {
            let found = format!("{count} of {height}×{width}");
            let expected = "images with pixels under `image_data`".into();
            return Err(DataError::Malformed { path: path.into(), offset: 0, expected, found });
        }
        let classes = pickle.root().get("class_dict").and_then(pickle::Value::entries);
        let classes = classes.ok_or_else(|| malformed(path, "a dictionary under `class_dict`"))?;
        let mut members = Vec::new();
        for (name, indices) in classes {
            let indices = indices.ints().unwrap_or_default();
            let indices: Option<Vec<usize>> =
                indices.into_iter().map(|index| usize::try_from(index).ok().filter(|&index| index < count)).collect();
            let (Some(name), Some(indices)) = (name.text(), indices.filter(|indices| !indices.is_empty())) else {
                return Err(malformed(path, "`class_dict` of names and indices below the number of images"));
            };
            members.push((name.to_owned(), indices));
        }
        let pixels = match offset(bytes, map) {
            Some(start) => Pixels::Mapped(Arc::clone(map), start..start + bytes.len()),
            None => Pixels::Owned(bytes.to_vec()),
        };
        Ok((Self { shape: ImageShape { height, width, channels }, pixels }, members))
    }

    /// Whether the file still has all its bytes: an access after its end would end the program.
    fn is_whole(&self) -> bool {
        match &self.pixels {
            Pixels::Mapped(map, _) => map.is_whole(),
            Pixels::Owned(_) => true,
        }
    }

    fn image(&self, index: usize) -> &[u8] {
        let pixels = match &self.pixels {
            Pixels::Mapped(map, range) => &map[range.clone()],
            Pixels::Owned(pixels) => pixels,
        };
        &pixels[index * self.shape.bytes()..][..self.shape.bytes()]
    }
}

/// Where `part` lies in `whole`, if it does.
fn offset(part: &[u8], whole: &[u8]) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (offset.checked_add(part.len())? <= whole.len()).then_some(offset)
}

fn malformed(path: &Path, expected: &str) -> DataError {
    let (path, expected, found) = (path.into(), expected.into(), "something else".into());
    DataError::Malformed { path, offset: 0, expected, found }
}

#[derive(Default)]
struct Part {
    labels: Vec<u16>,
    /// Which pickle, and which image of it.
    places: Vec<(usize, usize)>,
}

/// The three pickles, mapped.
pub(crate) struct MiniImagenet {
    shape: ImageShape,
    names: Vec<String>,
    files: Vec<File>,
    /// Of [`Split::BOTH`].
    parts: [Part; 2],
    sha256: String,
}

impl Source for MiniImagenet {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        &self.names
    }

    fn labels(&self, split: Split) -> &[u16] {
        &self.parts[split as usize].labels
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let (file, index) = self.parts[split as usize].places[index];
        if !self.files[file].is_whole() {
            let path = PathBuf::from(PICKLES[file]);
            return Err(malformed(&path, "as many bytes as when it was opened"));
        }
        Ok(Image::from(self.files[file].image(index)))
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }
}
