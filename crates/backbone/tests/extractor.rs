//! Photos become features once: the second time they come from the cache, whatever they are called.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use image::{Rgb, RgbImage};
use rehearsal_backbone::{Backbone, BackboneError, Extracted, Extractor};
use rehearsal_data::{DataError, Image, ImageShape, Preprocessing, decode::PictureRef};
use rehearsal_onnx::{GraphWriter, Value};

/// The mean of each colour, and a count of the images that it was asked for.
struct Means(Arc<AtomicUsize>);

impl Backbone for Means {
    fn name(&self) -> &'static str {
        "means"
    }
    fn sha256(&self) -> &'static str {
        "0123456789abcdef0123456789abcdef"
    }
    fn preprocessing(&self) -> Preprocessing {
        Preprocessing::plain(ImageShape { height: 4, width: 4, channels: 3 })
    }
    fn dimensions(&self) -> usize {
        3
    }
    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        self.0.fetch_add(images.len(), Ordering::Relaxed);
        let mean = |image: &Image, c: usize| image.iter().skip(c).step_by(3).map(|&byte| f32::from(byte)).sum::<f32>();
        Ok(images.iter().flat_map(|image| [0, 1, 2].map(|c| mean(image, c))).collect())
    }
    fn onnx(&self, _: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        Ok(image.clone())
    }
}

fn photo(directory: &std::path::Path, name: &str, colour: u8) -> PathBuf {
    let path = directory.join(name);
    RgbImage::from_pixel(9, 7, Rgb([colour, 100, 255 - colour])).save(&path).unwrap();
    path
}

#[test]
fn features_are_computed_once_per_photo_and_damage_costs_a_second_computation_only() {
    let place = tempfile::tempdir().unwrap();
    let cache = place.path().join("cache");
    let computed = Arc::new(AtomicUsize::new(0));
    let extractor = || Extractor::new(Box::new(Means(Arc::clone(&computed))), Some(&cache));
    let mut paths: Vec<PathBuf> = (0..70).map(|i| photo(place.path(), &format!("{i}.png"), i)).collect();
    let first = extractor().extract(&paths, &()).unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 70);
    // Under other names, in another order, they are the same photos.
    paths.reverse();
    let renamed = place.path().join("renamed.png");
    fs::rename(&paths[0], &renamed).unwrap();
    paths[0] = renamed;
    let second = extractor().extract(&paths, &()).unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 70, "all of them from the cache");
    for (a, b) in first.iter().zip(second.iter().rev()) {
        assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
    }
    let kept: Vec<PathBuf> = fs::read_dir(cache.join("means-0123456789abcdef"))
        .unwrap()
        .flat_map(|shard| fs::read_dir(shard.unwrap().path()).unwrap().map(|file| file.unwrap().path()))
        .collect();
    assert_eq!(kept.len(), 70, "and nothing half written");
    let mut bytes = fs::read(&kept[0]).unwrap();
    bytes[2] ^= 1;
    fs::write(&kept[0], &bytes).unwrap();
    fs::write(&kept[1], b"").unwrap();
    let third = extractor().extract(&paths, &()).unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 72);
    for (a, b) in second.iter().zip(&third) {
        assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
    }
}

#[test]
fn a_file_that_is_not_an_image_is_an_error_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    let bad = place.path().join("bad.jpg");
    fs::write(&bad, b"not an image").unwrap();
    let paths =
        [photo(place.path(), "a.png", 3), bad, place.path().join("absent.png"), photo(place.path(), "b.png", 9)];
    let found = Extractor::new(Box::new(Means(Arc::default())), None).extract(&paths, &()).unwrap();
    assert!(found[0].is_ok() && found[3].is_ok());
    assert!(matches!(found[1], Err(DataError::Image { .. })));
    assert!(matches!(found[2], Err(DataError::Unreadable { .. })));
}

/// A network that computes something else.
struct Broken(Vec<f32>);

impl Backbone for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }
    fn sha256(&self) -> &'static str {
        "ff"
    }
    fn preprocessing(&self) -> Preprocessing {
        Preprocessing::plain(ImageShape { height: 4, width: 4, channels: 3 })
    }
    fn dimensions(&self) -> usize {
        2
    }
    fn features(&self, _: &[Image]) -> Result<Vec<f32>, BackboneError> {
        Ok(self.0.clone())
    }
    fn onnx(&self, _: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        Ok(image.clone())
    }
}

#[test]
fn a_network_that_gives_nan_or_too_few_numbers_is_refused_and_nothing_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let cache = place.path().join("cache");
    let paths = [photo(place.path(), "a.png", 3), photo(place.path(), "b.png", 9)];
    let extract = |values: &[f32]| Extractor::new(Box::new(Broken(values.into())), Some(&cache)).extract(&paths, &());
    let nan = extract(&[1.0, 2.0, 3.0, f32::NAN]).unwrap_err();
    assert!(matches!(nan, BackboneError::NotFiniteFeatures { path, .. } if path == paths[1]));
    assert!(matches!(extract(&[1.0]), Err(BackboneError::Count { found: 1, expected: 4, .. })));
    assert!(!cache.exists());
}

#[test]
fn images_in_memory_have_the_features_of_their_files_and_are_known_by_size_and_pixels() {
    let place = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..40).map(|at| photo(place.path(), &format!("{at}.png"), 5 * at)).collect();
    let computed = Arc::new(AtomicUsize::new(0));
    let extractor = Extractor::new(Box::new(Means(Arc::clone(&computed))), None);
    let of_files = extractor.extract(&paths, &()).unwrap();
    let pixels: Vec<RgbImage> = paths.iter().map(|path| image::open(path).unwrap().into_rgb8()).collect();
    let pictures: Vec<PictureRef> = pixels.iter().map(|image| PictureRef::new(7, 9, image).unwrap()).collect();
    let mut all = Vec::new();
    extractor
        .for_each_picture(&pictures, &(), |extracted| {
            all.push(extracted);
            ControlFlow::Continue(())
        })
        .unwrap();
    for (of_file, extracted) in of_files.iter().zip(&all) {
        let of_file = of_file.as_ref().unwrap();
        assert_eq!((&of_file.feature, &of_file.thumbnail), (&extracted.feature, &extracted.thumbnail));
    }
    let turned = PictureRef::new(9, 7, pictures[0].pixels()).unwrap();
    let sha256 = |picture| {
        let mut found = None;
        let each = |extracted: Extracted| {
            found = Some(extracted.sha256);
            ControlFlow::Break(())
        };
        extractor.for_each_picture(&[picture], &(), each).unwrap();
        found.unwrap()
    };
    assert_eq!(sha256(pictures[3]), all[3].sha256);
    assert_ne!(sha256(turned), all[0].sha256, "the same bytes of another shape");
    computed.store(0, Ordering::Relaxed);
    extractor.for_each_picture(&pictures, &(), |_| ControlFlow::Break(())).unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 32, "nothing after a break but what was read at once");
    assert_eq!(PictureRef::new(7, 9, &pixels[0].as_raw()[1..]), None);
    assert_eq!(PictureRef::new(0, 9, &[]), None);
}
