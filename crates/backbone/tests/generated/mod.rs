//! Weights and images that `make_goldens.py` computes, too.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part; a test that cannot go on has failed")]

use rehearsal_backbone::BackboneName;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// Numbers in −1 … 1 that depend on a name and an index: FNV-1a of the name, then splitmix64.
pub fn uniform(name: &str, count: usize) -> impl Iterator<Item = f64> {
    let hash = |seed: u64, byte: u8| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    let seed = name.bytes().fold(0xCBF2_9CE4_8422_2325, hash);
    (1..=count as u64).map(move |index| {
        let z = seed.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f64 / 8_388_608.0 - 1.0
    })
}

/// A tensor, by its name and shape.
pub fn tensor(name: &str, shape: &[usize]) -> Vec<f32> {
    let (base, scale) = match name.rsplit('.').next().unwrap() {
        "running_var" => (1.0, 0.5),
        "gamma" => (0.5, 0.25),
        "bias" | "running_mean" => (0.0, 0.125),
        "cls_token" | "pos_embed" => (0.0, 0.5),
        _ if shape.len() == 1 => (1.0, 0.25),
        _ => (0.0, 2.0 / (shape[1..].iter().product::<usize>() as f64).sqrt()),
    };
    uniform(name, shape.iter().product()).map(|x| (base + scale * x) as f32).collect()
}

pub const IMAGES: usize = 5;

/// Five images, NHWC.
pub fn images(size: usize) -> Vec<f32> {
    uniform(&format!("images {size}"), IMAGES * size * size * 3).map(|x| (2.0 * x) as f32).collect()
}

type Shapes = Vec<(String, Vec<usize>)>;

/// A safetensors file of these tensors.
fn safetensors(shapes: &Shapes) -> Vec<u8> {
    let bytes = |values: Vec<f32>| values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let data: Vec<Vec<u8>> = shapes.iter().map(|(name, shape)| bytes(tensor(name, shape))).collect();
    let views = shapes.iter().zip(&data).map(|((name, shape), data)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), data).unwrap();
        (name, view)
    });
    safetensors::serialize(views, None).unwrap()
}

/// The weights of a network that is fetched.
pub fn weights(name: BackboneName) -> Vec<u8> {
    match name {
        BackboneName::EfficientNetLite0 => rehearsal_efficientnet_lite0::WEIGHTS.into(),
        BackboneName::DinoV2Small => safetensors(&dinov2_small()),
        BackboneName::ResNet18 => safetensors(&resnet18()),
    }
}

/// The features that `make_goldens.py` kept.
pub fn expected(file: &[u8], size: usize) -> Vec<f32> {
    let file = SafeTensors::deserialize(file).unwrap();
    let tensor = file.tensor(&size.to_string()).unwrap();
    tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn resnet18() -> Shapes {
    let mut shapes = Shapes::new();
    let mut layer = |conv: String, norm: String, shape: [usize; 4]| {
        shapes.push((format!("{conv}.weight"), shape.into()));
        let parts = ["weight", "bias", "running_mean", "running_var"];
        shapes.extend(parts.map(|part| (format!("{norm}.{part}"), vec![shape[0]])));
    };
    layer("conv1".into(), "bn1".into(), [64, 3, 7, 7]);
    let mut cin = 64;
    for (stage, cout) in [64, 128, 256, 512].into_iter().enumerate() {
        for block in 0..2 {
            let name = |part: &str| format!("layer{}.{block}.{part}", stage + 1);
            layer(name("conv1"), name("bn1"), [cout, cin, 3, 3]);
            layer(name("conv2"), name("bn2"), [cout, cout, 3, 3]);
            if cin != cout {
                layer(name("downsample.0"), name("downsample.1"), [cout, cin, 1, 1]);
            }
            cin = cout;
        }
    }
    shapes
}

fn dinov2_small() -> Shapes {
    let mut shapes: Shapes = vec![
        ("cls_token".into(), vec![1, 1, 384]),
        ("pos_embed".into(), vec![1, 1370, 384]),
        ("patch_embed.proj.weight".into(), vec![384, 3, 14, 14]),
        ("patch_embed.proj.bias".into(), vec![384]),
    ];
    let mut both = |name: String, shape: &[usize]| {
        shapes.push((format!("{name}.weight"), shape.into()));
        shapes.push((format!("{name}.bias"), vec![shape[0]]));
    };
    for block in 0..12 {
        let name = |part: &str| format!("blocks.{block}.{part}");
        both(name("norm1"), &[384]);
        both(name("attn.qkv"), &[1152, 384]);
        both(name("attn.proj"), &[384, 384]);
        both(name("norm2"), &[384]);
        both(name("mlp.fc1"), &[1536, 384]);
        both(name("mlp.fc2"), &[384, 1536]);
    }
    both("norm".into(), &[384]);
    let scales = (0..12).flat_map(|block| [1, 2].map(|ls| (format!("blocks.{block}.ls{ls}.gamma"), vec![384])));
    shapes.extend(scales);
    shapes
}
