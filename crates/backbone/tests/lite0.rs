//! `EfficientNet`-lite0 against onnxruntime, on an image that both sides draw.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use rehearsal_backbone::{BackboneError, BackboneName, Published};
use rehearsal_kernels::Machine;
use safetensors::SafeTensors;

/// What onnxruntime 1.31 computed from the same file of weights (the graph of `lite0.rs`, NCHW).
const EXPECTED: &[u8] = include_bytes!("lite0.safetensors");

fn drawn() -> Vec<f32> {
    let mut image = Vec::new();
    for y in 0..224usize {
        for x in 0..224usize {
            for c in 0..3 {
                let byte = (y * 3 + x * 5 * (c + 1) + y * x / 17) % 256;
                image.push((byte as f32 - 127.0) / 128.0);
            }
        }
    }
    image
}

#[test]
fn features_are_onnxruntimes() {
    let file = SafeTensors::deserialize(EXPECTED).unwrap();
    let floats = file.tensor("features").unwrap().data().as_chunks().0;
    let expected: Vec<f32> = floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let found = Published::efficientnet_lite0(Machine::new(2)).unwrap().run(&drawn(), 1, 224);
    assert_eq!(found.len(), expected.len());
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(&expected).map(|(a, b)| a - b));
    let relative = difference / norm(&mut expected.iter().copied());
    assert!(relative < 2e-5, "{relative:e}");
}

#[test]
fn weights_that_are_cut_or_of_another_network_are_refused() {
    let whole = rehearsal_efficientnet_lite0::WEIGHTS;
    let build =
        |bytes: &[u8]| Published::from_safetensors(BackboneName::EfficientNetLite0, Machine::new(1), bytes.to_vec());
    let build = |bytes: &[u8]| build(bytes).map(drop).unwrap_err();
    for length in [0, 7, 100, whole.len() - 1] {
        assert!(matches!(build(&whole[..length]), BackboneError::Unreadable(_)), "{length} bytes");
    }
    assert!(matches!(build(EXPECTED), BackboneError::Missing(_)));
    let mut infinite = whole.to_vec();
    // The last tensor is `stem.weight`: make its last float16 infinite.
    let at = infinite.len() - 2;
    infinite[at..].copy_from_slice(&[0x00, 0x7c]);
    assert!(matches!(build(&infinite), BackboneError::NotFinite(name) if name == "stem.weight"));
}
