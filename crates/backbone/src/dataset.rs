//! From a data set of the benchmark to the features of its images and of their mirror images.

use std::{path::Path, sync::Arc, time::Duration};

use rayon::prelude::*;
use rehearsal_data::{
    DataError, Image, ImageShape, InputShape, PhotoFile, Progress, Source, Split, Unit,
    decode::Picture,
    feature_set::{FeatureStore, Shard},
    home,
};
use rehearsal_files::{
    lock::{LockError, lock},
    threads::on_threads,
};
use rehearsal_gaussian::Feature;
use rehearsal_kernels::Machine;

use crate::{Backbone, BackboneError, BackboneName, open};

/// Images that are in memory at a time.
const AT_ONCE: usize = 32;

/// Below the directory of all data.
pub(crate) const FEATURES: &str = "features/data-sets";

/// Held by the process that computes the features of a data set.
pub(crate) const LOCK: &str = "lock";

/// As [`features_of`], by the name of a backbone, kept in the directory of all data.
///
/// # Errors
/// As [`features_of`]; or the backbone is not on this machine.
pub fn features_by(
    name: BackboneName,
    source: Arc<dyn Source>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>, BackboneError> {
    let home = home::default_directory()?;
    let backbone = open(name, &home, Machine::new(threads))?;
    let compute = || features_of(source, &*backbone, &home.join(FEATURES), progress);
    on_threads(Some(threads), compute).map_err(DataError::Threads)?
}

/// The data set with features in place of pixels. Those that are not below `root` yet are computed and kept
/// there; if that is interrupted, the next call continues.
///
/// # Errors
/// An image cannot be read, the network cannot be used, or the features cannot be written.
pub fn features_of(
    source: Arc<dyn Source>,
    backbone: &dyn Backbone,
    root: &Path,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>, BackboneError> {
    let store = FeatureStore::new(root, &*source, backbone.sha256(), backbone.dimensions());
    if missing(&store, &*source).is_empty() {
        return Ok(Arc::new(store.source(source)?));
    }
    let _lock = hold(store.directory(), progress)?;
    // Another process may have computed some while we waited for the lock.
    let missing = missing(&store, &*source);
    let count = |shards: &[Shard]| shards.iter().map(|shard| shard.images.len() as u64).sum::<u64>();
    let (all, left) = (count(&FeatureStore::shards(&*source)), count(&missing));
    progress.begin(&format!("computing features by {}", backbone.name()), Unit::Items, all - left, Some(all));
    for shard in &missing {
        store.write(shard, &samples(&*source, backbone, shard, progress)?)?;
    }
    progress.end();
    Ok(Arc::new(store.source(source)?))
}

fn missing(store: &FeatureStore, source: &dyn Source) -> Vec<Shard> {
    FeatureStore::shards(source).into_iter().filter(|shard| !store.has(shard)).collect()
}

/// One process at a time computes the features of a data set.
fn hold(directory: &Path, progress: &dyn Progress) -> Result<std::fs::File, BackboneError> {
    let path = directory.join(LOCK);
    let wrong = |error| BackboneError::Data(DataError::Unwritable { path: path.clone(), error });
    std::fs::create_dir_all(directory).map_err(wrong)?;
    let held = match lock(&path, Duration::ZERO) {
        Err(LockError::Busy) => {
            progress.say("another process is computing these features: waiting for it");
            lock(&path, Duration::MAX)
        }
        held => held,
    };
    held.map_err(|error| wrong(error.into()))
}

/// The bytes of a shard.
fn samples(
    source: &dyn Source,
    backbone: &dyn Backbone,
    Shard { split, images }: &Shard,
    progress: &dyn Progress,
) -> Result<Vec<u8>, BackboneError> {
    let shape = backbone.preprocessing().shape;
    let numbers: Vec<usize> = images.clone().collect();
    let bytes = InputShape::Features { features: backbone.dimensions() }.bytes();
    let mut samples = Vec::with_capacity(numbers.len() * bytes);
    for numbers in numbers.chunks(AT_ONCE) {
        let read = |&number: &usize| image(source, *split, number, backbone);
        let images: Vec<Image> = numbers.par_iter().with_max_len(1).map(read).collect::<Result<_, _>>()?;
        let both: Vec<Image> = images.iter().flat_map(|image| [image.clone(), mirrored(image, shape)]).collect();
        let values = backbone.features(&both)?;
        for (row, &number) in values.chunks_exact(backbone.dimensions()).zip(numbers.iter().flat_map(|at| [at; 2])) {
            let (backbone, split) = (backbone.name(), split.name());
            let bad = |_| BackboneError::NotFiniteImage { backbone: backbone.into(), split, number };
            let feature = Feature::new(row).map_err(bad)?;
            samples.extend(feature.raw().iter().flat_map(|value| value.to_le_bytes()));
        }
        progress.advance(numbers.len() as u64);
    }
    Ok(samples)
}

/// An image as the network reads it: from its file, if it has one, else from the pixels of the data set.
fn image(source: &dyn Source, split: Split, number: usize, backbone: &dyn Backbone) -> Result<Image, DataError> {
    let preprocessing = backbone.preprocessing();
    if let Some(path) = source.file(split, number) {
        return preprocessing.decode(&PhotoFile::read(path)?);
    }
    let ImageShape { height, width, channels } = source.shape();
    let image = source.image(split, number)?;
    let pixels = if channels == 1 { image.iter().flat_map(|&grey| [grey; 3]).collect() } else { image.to_vec() };
    Ok(preprocessing.fit(&Picture { height, width, pixels }))
}

/// An image with left and right exchanged.
fn mirrored(image: &[u8], shape: ImageShape) -> Image {
    let row = |row: &[u8]| -> Vec<u8> { row.chunks_exact(shape.channels).rev().flatten().copied().collect() };
    image.chunks_exact(shape.width * shape.channels).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use rehearsal_data::{InMemory, feature_view};

    use super::*;
    use crate::Published;

    fn tiny() -> Arc<dyn Source> {
        let shape = ImageShape { height: 5, width: 4, channels: 1 };
        let image = |seed: u8| (0..20).map(|at: u8| at.wrapping_mul(37 + seed)).collect::<Image>();
        Arc::new(InMemory {
            shape,
            class_names: vec!["a".into(), "b".into()],
            labels: [vec![0, 1], vec![1]],
            images: [vec![image(0), mirrored(&image(0), shape)], vec![image(3)]],
            sha256: "tiny".into(),
        })
    }

    #[test]
    fn the_second_view_is_that_of_the_mirror_image() {
        let root = tempfile::tempdir().unwrap();
        let backbone = Published::efficientnet_lite0(Machine::new(1)).unwrap();
        let source = features_of(tiny(), &backbone, root.path(), &()).unwrap();
        let view = |number, view| feature_view(&source.image(Split::Train, number).unwrap(), view).collect::<Vec<_>>();
        assert_eq!(source.input(), InputShape::Features { features: 1280 });
        assert_eq!(view(0, 0), view(1, 1));
        assert_eq!(view(0, 1), view(1, 0));
        assert_ne!(view(0, 0), view(0, 1));
        // Nothing is computed again: what stands there is believed.
        let again = features_of(tiny(), &backbone, root.path(), &()).unwrap();
        assert_eq!(again.image(Split::Test, 0).unwrap(), source.image(Split::Test, 0).unwrap());
        assert_eq!(again.sha256(), source.sha256());
    }

    #[test]
    fn a_shard_that_is_missing_or_damaged_is_computed_again() {
        let root = tempfile::tempdir().unwrap();
        let backbone = Published::efficientnet_lite0(Machine::new(1)).unwrap();
        let first = features_of(tiny(), &backbone, root.path(), &()).unwrap().image(Split::Test, 0).unwrap().to_vec();
        let files =
            || std::fs::read_dir(root.path()).unwrap().flatten().flat_map(|at| std::fs::read_dir(at.path()).unwrap());
        let test =
            files().flatten().map(|file| file.path()).find(|path| path.to_string_lossy().contains("test-")).unwrap();
        std::fs::write(&test, "damaged").unwrap();
        let again = features_of(tiny(), &backbone, root.path(), &()).unwrap();
        assert_eq!(&*again.image(Split::Test, 0).unwrap(), first);
    }
}
