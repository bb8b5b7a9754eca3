//! Reads golden files and gives their arrays the names and axes of our networks.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use burn::tensor::{Device, Float, Tensor, TensorData};
use rehearsal::{
    device::upload,
    network::{Array, State},
    sample::Class,
};
use safetensors::{Dtype, SafeTensors};

/// A golden file: every array as f32, and what its header says.
pub struct Golden(BTreeMap<String, Array>, HashMap<String, String>);

impl Golden {
    /// Reads `NAME.safetensors` from `REHEARSAL_GOLDENS`, by default `tests/goldens` of the
    /// repository.
    pub fn open(name: &str) -> Self {
        let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/goldens");
        let directory = std::env::var_os("REHEARSAL_GOLDENS").map_or_else(|| PathBuf::from(default), PathBuf::from);
        let path = directory.join(format!("{name}.safetensors"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let array = |(name, view): (String, safetensors::tensor::TensorView)| {
            let values = match view.dtype() {
                Dtype::F32 => view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
                Dtype::I64 => view.data().as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as f32).collect(),
                other => panic!("{name} is {other:?}"),
            };
            (name, Array { shape: view.shape().to_vec(), values })
        };
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let header = header.metadata().clone().unwrap_or_default();
        Self(file.tensors().into_iter().map(array).collect(), header)
    }

    pub fn values(&self, name: &str) -> &[f32] {
        &self.0.get(name).unwrap_or_else(|| panic!("the golden file has no {name}")).values
    }

    /// What the header says about `name`.
    pub fn metadata(&self, name: &str) -> &str {
        self.1.get(name).unwrap_or_else(|| panic!("the golden file says nothing about {name}"))
    }

    pub fn shape(&self, name: &str) -> &[usize] {
        &self.0[name].shape
    }

    pub fn scalar(&self, name: &str) -> f32 {
        self.values(name)[0]
    }

    pub fn integers(&self, name: &str) -> Vec<usize> {
        self.values(name).iter().map(|&value| value as usize).collect()
    }

    pub fn labels(&self, name: &str) -> Vec<Class> {
        self.values(name).iter().map(|&value| Class(value as u16)).collect()
    }

    /// Images `[n, c, h, w]` as `[n, h, w, c]`.
    pub fn images(&self, name: &str, device: &Device) -> Tensor<4> {
        let Array { shape, values } = &self.0[name];
        let data = TensorData::new(values.clone(), [shape[0], shape[1], shape[2], shape[3]]);
        upload::<4, Float>(data, device).permute([0, 2, 3, 1])
    }

    /// Rows `[n, k]`.
    pub fn rows(&self, name: &str, device: &Device) -> Tensor<2> {
        let Array { shape, values } = &self.0[name];
        upload(TensorData::new(values.clone(), [shape[0], shape[1]]), device)
    }

    /// All arrays under `prefix` with our names and axes.
    pub fn state(&self, prefix: &str) -> State {
        let ours = |(name, array): (&String, &Array)| Some((our_name(name.strip_prefix(prefix)?)?, ours(array)));
        State(self.0.iter().filter_map(ours).collect())
    }
}

/// `blocks.2.shortcut_norm.running_var` → `backbone.blocks.2.shortcut.running_variance`.
fn our_name(name: &str) -> Option<String> {
    match name {
        "proxies" => return Some("head.proxies".into()),
        "linear_weight" => return Some("head.weight".into()),
        "linear_bias" => return Some("head.bias".into()),
        _ => {}
    }
    let (layer, field) = name.rsplit_once('.')?;
    let norm = layer.contains("norm");
    let layer = layer.replace("stem_conv", "stem").replace("stem_norm", "stem").replace("shortcut_conv", "shortcut");
    let layer = layer.replace("shortcut_norm", "shortcut").replace("norm1", "conv1").replace("norm2", "conv2");
    let field = match (field, norm) {
        ("weight", false) => "weight",
        ("weight", true) => "scale",
        ("bias", true) => "shift",
        ("running_mean", true) => "running_mean",
        ("running_var", true) => "running_variance",
        _ => return None,
    };
    Some(format!("backbone.{layer}.{field}"))
}

/// `[out, in, k, k]` → `[k, k, in, out]`; other ranks stay.
fn ours(array: &Array) -> Array {
    let &[o, i, h, w] = &array.shape[..] else { return array.clone() };
    let mut values = Vec::with_capacity(array.values.len());
    for y in 0..h {
        for x in 0..w {
            for from in 0..i {
                for to in 0..o {
                    values.push(array.values[((to * i + from) * h + y) * w + x]);
                }
            }
        }
    }
    Array { shape: vec![h, w, i, o], values }
}

/// Asserts |found − expected| ≤ tolerance · the largest |expected| of the array.
pub fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1e-6f32, |scale, value| scale.max(value.abs()));
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{what}[{index}]: {a}, expected {b} (scale {scale})");
    }
}

/// As [`assert_close`], for every array of `expected`.
pub fn assert_state_close(found: &State, expected: &State, tolerance: f32) {
    assert!(!expected.0.is_empty());
    for (name, array) in &expected.0 {
        assert_close(name, &found.0[name].values, &array.values, tolerance);
    }
}
