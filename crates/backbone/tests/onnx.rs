//! Networks of ONNX files: small ones that `make_onnx.py` made, good and hostile.

#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use rehearsal_backbone::{Backbone, BackboneError, OnnxBackbone, open_file};
use rehearsal_data::Image;
use rehearsal_files::sha256::sha256;

fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx").join(name)
}

fn image(bytes: usize) -> Image {
    (0..bytes).map(|index| (index * 31 % 251) as u8).collect::<Vec<u8>>().into()
}

#[test]
fn features_are_onnxruntimes_whatever_the_batch_and_the_threads() {
    let dynamic = (224, 224, [0.145195559, -0.040282991, 0.128526911, -0.078912579]);
    let fixed = (32, 40, [0.144462436, -0.029319556, 0.122078769, -0.096030913]);
    for (name, (height, width, expected)) in [("dynamic.onnx", dynamic), ("fixed.onnx", fixed)] {
        let backbone = OnnxBackbone::open(&made(name), 1).unwrap();
        let shape = backbone.preprocessing().shape;
        assert_eq!((shape.height, shape.width, backbone.dimensions()), (height, width, 4));
        assert_eq!(backbone.sha256(), sha256(&fs::read(made(name)).unwrap()));
        let found = backbone.features(&[image(shape.bytes())]).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
        let other = image(shape.bytes() + 7)[7..].to_vec();
        let images = [Image::from(other), image(shape.bytes())];
        let together = OnnxBackbone::open(&made(name), 3).unwrap().features(&images).unwrap();
        assert_eq!(together[4..], found, "the same bits");
        assert_eq!(backbone.features(&[]).unwrap(), Vec::<f32>::new());
        assert_eq!(open_file(&made(name), 1).unwrap().sha256(), backbone.sha256());
    }
}

#[test]
fn networks_that_are_no_backbones_are_refused_with_the_reason() {
    for (name, reason) in [
        ("two-outputs.onnx", "inputs: 1, outputs: 2"),
        ("map.onnx", "its output for one image is [1, 4, 111, 111]"),
        ("grey.onnx", "channels: 1, expected 3"),
        ("batch.onnx", "a batch of 8, expected 1"),
        ("wide.onnx", "a height of 1000000"),
        ("nan.onnx", "NaN"),
    ] {
        let error = OnnxBackbone::open(&made(name), 1).map(drop).unwrap_err();
        assert!(matches!(error, BackboneError::Onnx { .. }) && error.is_user_error(), "{name}: {error}");
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
}

#[test]
fn hostile_files_are_refused() {
    for name in ["external.onnx", "claims.onnx", "wraps.onnx", "cycle.onnx", "operator.onnx"] {
        let error = OnnxBackbone::open(&made(name), 1).map(drop).unwrap_err();
        println!("{error}");
        assert!(matches!(error, BackboneError::Onnx { .. }), "{name}: {error}");
        assert_eq!(error.to_string().lines().count(), 1, "{name}: {error}");
    }
}

#[test]
fn files_that_are_cut_anywhere_or_are_no_files_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let cut = place.path().join("cut.onnx");
    let whole = fs::read(made("dynamic.onnx")).unwrap();
    for length in 0..whole.len() {
        fs::write(&cut, &whole[..length]).unwrap();
        let error = OnnxBackbone::open(&cut, 1).map(drop).unwrap_err();
        assert!(matches!(error, BackboneError::Onnx { .. }), "{length} bytes: {error}");
    }
    assert!(matches!(OnnxBackbone::open(place.path(), 1), Err(BackboneError::File { .. })));
    assert!(matches!(OnnxBackbone::open(&place.path().join("none"), 1), Err(BackboneError::File { .. })));
}

#[test]
fn a_file_with_any_byte_changed_is_used_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let changed = place.path().join("changed.onnx");
    let whole = fs::read(made("fixed.onnx")).unwrap();
    for at in 0..whole.len() {
        for flip in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            fs::write(&changed, bytes).unwrap();
            match OnnxBackbone::open(&changed, 1) {
                Ok(backbone) => assert!(backbone.dimensions() > 0),
                Err(error) => assert!(matches!(error, BackboneError::Onnx { .. }), "{error}"),
            }
        }
    }
}
