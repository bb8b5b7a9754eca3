//! `resnet18` against torchvision and `dinov2-small` against timm, with weights that both sides compute.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod generated;

use generated::{IMAGES, expected, images};
use rehearsal_backbone::{Backbone, BackboneName, Published};
use rehearsal_data::{Image, choice::Choice};
use rehearsal_kernels::Machine;

/// The largest difference of one image's features, relative to their norm.
fn relative(found: &[f32], expected: &[f32], dimensions: usize) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let of_image = |(a, b): (&[f32], &[f32])| {
        let difference = norm(&mut a.iter().zip(b).map(|(a, b)| a - b));
        difference / norm(&mut b.iter().copied())
    };
    assert_eq!(found.len(), expected.len());
    found.chunks_exact(dimensions).zip(expected.chunks_exact(dimensions)).map(of_image).fold(0.0, f64::max)
}

/// Compares with the other side, with one thread and three, all images together and the first alone.
fn compare(name: BackboneName, goldens: &[u8], sizes: [usize; 2]) -> Published {
    let weights = generated::weights(name);
    let open = |threads| Published::from_safetensors(name, Machine::new(threads), weights.clone()).unwrap();
    let [network, threaded] = [1, 3].map(open);
    let dimensions = network.dimensions();
    for size in sizes {
        let (images, expected) = (images(size), expected(goldens, size));
        let found = network.run(&images, IMAGES, size);
        let difference = relative(&found, &expected, dimensions);
        println!("{name} at {size}: {difference:.1e}");
        assert!(difference < 1e-4, "{difference:e} at {size}");
        assert_eq!(network.run(&images[..images.len() / IMAGES], 1, size), found[..dimensions], "alone");
        assert_eq!(threaded.run(&images, IMAGES, size), found, "the same bits with more threads");
    }
    threaded
}

/// What a backbone says of itself is what its card says.
fn check_card(backbone: &dyn Backbone, name: BackboneName) {
    let card = name.card();
    assert_eq!((backbone.name(), backbone.dimensions()), (name.name(), card.features));
    let preprocessing = backbone.preprocessing();
    assert_eq!((preprocessing.shape.height, preprocessing.shape.width), (card.size, card.size));
    assert_eq!(backbone.sha256().len(), 64);
    assert_eq!(backbone.features(&[]).unwrap(), Vec::<f32>::new());
    let grey = Image::from(vec![128; preprocessing.shape.bytes()]);
    let features = backbone.features(&[grey.clone(), grey]).unwrap();
    assert_eq!(features[..card.features], features[card.features..]);
    assert!(features.iter().all(|x| x.is_finite()));
}

#[test]
fn resnet18_is_torchvisions() {
    let name = BackboneName::ResNet18;
    check_card(&compare(name, include_bytes!("resnet18.safetensors"), [224, 97]), name);
}

#[test]
fn dinov2_small_is_timms_with_the_position_embeddings_of_dinov2() {
    let name = BackboneName::DinoV2Small;
    check_card(&compare(name, include_bytes!("dinov2.safetensors"), [224, 98]), name);
}
