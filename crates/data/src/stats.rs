//! Statistics of a data set: counts, means, and images that are in both splits.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{DataError, Progress, Source, Split, Unit};

/// Statistics of a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Height, width and channels.
    pub shape: [usize; 3],
    /// Every class and its images.
    pub classes: Vec<ClassCount>,
    /// Training images.
    pub train: usize,
    /// Test images.
    pub test: usize,
    /// Mean of each channel over the training images, in [0, 1].
    pub mean: Vec<f64>,
    /// Standard deviation of each channel over the training images.
    pub std: Vec<f64>,
    /// Training images with the same pixels as an earlier one.
    pub duplicates_in_train: usize,
    /// Test images with the same pixels as a training image.
    pub test_in_train: usize,
    /// Files that were skipped.
    pub skipped: usize,
    /// Files that are not read.
    pub ignored: usize,
    /// SHA-256 of the data, as in results.
    pub data_sha256: String,
}

/// A class and its images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// Its name.
    pub name: String,
    /// Training images.
    pub train: usize,
    /// Test images.
    pub test: usize,
}

/// Sum and sum of squares per channel, and a digest of the pixels.
struct Image {
    sums: Vec<(u64, u64)>,
    digest: [u8; 16],
}

/// Reads every image.
///
/// # Errors
/// An image cannot be read.
pub fn stats(source: &dyn Source, progress: &dyn Progress) -> Result<Stats, DataError> {
    let shape = source.shape();
    let [train, test] = Split::BOTH.map(|split| source.labels(split).len());
    progress.begin("reading images", Unit::Items, 0, Some((train + test) as u64));
    let read = |split: Split, count: usize| -> Result<Vec<Image>, DataError> {
        let one = |index| {
            progress.advance(1);
            source.image(split, index).map(|image| summary(&image, shape.channels))
        };
        (0..count).into_par_iter().map(one).collect()
    };
    let (trained, tested) = (read(Split::Train, train)?, read(Split::Test, test)?);
    progress.end();
    let pixels = (train * shape.height * shape.width).max(1) as f64;
    let moments = |channel: usize| {
        let sums = trained.iter().map(|image| image.sums[channel]);
        let (sum, squares) = sums.fold((0u64, 0u64), |all, one| (all.0 + one.0, all.1 + one.1));
        let mean = sum as f64 / pixels;
        (mean / 255.0, (squares as f64 / pixels - mean * mean).max(0.0).sqrt() / 255.0)
    };
    let (mean, std) = (0..shape.channels).map(moments).unzip();
    let in_train: BTreeSet<[u8; 16]> = trained.iter().map(|image| image.digest).collect();
    Ok(Stats {
        shape: [shape.height, shape.width, shape.channels],
        classes: counts(source),
        train,
        test,
        mean,
        std,
        duplicates_in_train: train - in_train.len(),
        test_in_train: tested.iter().filter(|image| in_train.contains(&image.digest)).count(),
        skipped: source.skipped().len(),
        ignored: source.ignored().len(),
        data_sha256: source.sha256().into(),
    })
}

fn summary(image: &[u8], channels: usize) -> Image {
    let mut sums = vec![(0, 0); channels];
    for pixel in image.chunks_exact(channels) {
        for (sum, &value) in sums.iter_mut().zip(pixel) {
            sum.0 += u64::from(value);
            sum.1 += u64::from(value) * u64::from(value);
        }
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&Sha256::digest(image)[..16]);
    Image { sums, digest }
}

fn counts(source: &dyn Source) -> Vec<ClassCount> {
    let mut counts: Vec<ClassCount> =
        source.class_names().iter().map(|name| ClassCount { name: name.clone(), train: 0, test: 0 }).collect();
    source.labels(Split::Train).iter().for_each(|&label| counts[usize::from(label)].train += 1);
    source.labels(Split::Test).iter().for_each(|&label| counts[usize::from(label)].test += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Image as Pixels, ImageShape, InMemory, Request};

    #[test]
    fn embedded_is_balanced_and_its_mean_is_fashion_mnists() {
        let stats = stats(&*Dataset::Embedded.open(&Request::default()).unwrap(), &()).unwrap();
        assert!(stats.classes.iter().all(|class| (class.train, class.test) == (250, 100)));
        // Fashion-MNIST's published mean and deviation are 0.2860 and 0.3530.
        assert!((stats.mean[0] - 0.286).abs() < 0.01 && (stats.std[0] - 0.353).abs() < 0.01, "{stats:?}");
    }

    #[test]
    fn duplicates_are_found() {
        let images = |images: &[[u8; 2]]| images.iter().map(|&image| Pixels::from(image)).collect();
        let few = InMemory {
            shape: ImageShape { height: 1, width: 2, channels: 1 },
            class_names: vec!["a".into(), "b".into()],
            labels: [vec![0, 1, 0], vec![1, 1]],
            images: [images(&[[0, 255], [255, 0], [0, 255]]), images(&[[255, 0], [1, 1]])],
            sha256: "few".into(),
        };
        let stats = stats(&few, &()).unwrap();
        assert_eq!((stats.duplicates_in_train, stats.test_in_train), (1, 1));
        assert_eq!((stats.mean, stats.std), (vec![0.5], vec![0.5]));
        assert_eq!(stats.classes[1], ClassCount { name: "b".into(), train: 1, test: 2 });
    }
}
