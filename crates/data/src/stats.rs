//! What is in a data set: counts, means, and images that are in both splits.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{DataError, Progress, Source, Split, Unit};

/// What is in a data set.
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
    /// Training images whose pixels an earlier one has.
    pub duplicates_in_train: usize,
    /// Test images whose pixels a training image has.
    pub test_in_train: usize,
    /// Files that were left out.
    pub skipped: usize,
    /// Files that are not read.
    pub ignored: usize,
    /// SHA-256 of the data, as results name it.
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

/// What one image adds: a sum and a sum of squares per channel, and a digest of its pixels.
struct Image {
    sums: Vec<(u64, u64)>,
    digest: [u8; 16],
}

/// Looks at every image.
///
/// # Errors
/// An image cannot be read.
pub fn stats(source: &dyn Source, progress: &dyn Progress) -> Result<Stats, DataError> {
    let shape = source.shape();
    let [train, test] = Split::BOTH.map(|split| source.labels(split).len());
    progress.begin("looking at every image", Unit::Items, 0, Some((train + test) as u64));
    let looked = |split: Split, count: usize| -> Result<Vec<Image>, DataError> {
        let look = |index| {
            progress.advance(1);
            source.image(split, index).map(|image| looked_at(&image, shape.channels))
        };
        (0..count).into_par_iter().map(look).collect()
    };
    let (trained, tested) = (looked(Split::Train, train)?, looked(Split::Test, test)?);
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

fn looked_at(image: &[u8], channels: usize) -> Image {
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
    use crate::{Dataset, Image as Pixels, ImageShape, Request};

    #[test]
    fn embedded_is_balanced_and_its_mean_is_fashion_mnists() {
        let stats = stats(&*Dataset::Embedded.open(&Request::default()).unwrap(), &()).unwrap();
        assert!(stats.classes.iter().all(|class| (class.train, class.test) == (250, 100)));
        // Fashion-MNIST's published mean and deviation are 0.2860 and 0.3530.
        assert!((stats.mean[0] - 0.286).abs() < 0.01 && (stats.std[0] - 0.353).abs() < 0.01, "{stats:?}");
    }

    #[test]
    fn duplicates_are_found() {
        struct Few;
        impl Source for Few {
            fn shape(&self) -> ImageShape {
                ImageShape { height: 1, width: 2, channels: 1 }
            }
            fn class_names(&self) -> &[String] {
                static NAMES: std::sync::LazyLock<Vec<String>> =
                    std::sync::LazyLock::new(|| vec!["a".into(), "b".into()]);
                &NAMES
            }
            fn labels(&self, split: Split) -> &[u16] {
                if split == Split::Train { &[0, 1, 0] } else { &[1, 1] }
            }
            fn image(&self, split: Split, index: usize) -> Result<Pixels, DataError> {
                let train: [[u8; 2]; 3] = [[0, 255], [255, 0], [0, 255]];
                let test: [[u8; 2]; 2] = [[255, 0], [1, 1]];
                Ok(if split == Split::Train { train[index] } else { test[index] }.into())
            }
            fn sha256(&self) -> &'static str {
                "few"
            }
        }
        let stats = stats(&Few, &()).unwrap();
        assert_eq!((stats.duplicates_in_train, stats.test_in_train), (1, 1));
        assert_eq!((stats.mean, stats.std), (vec![0.5], vec![0.5]));
        assert_eq!(stats.classes[1], ClassCount { name: "b".into(), train: 1, test: 2 });
    }
}
