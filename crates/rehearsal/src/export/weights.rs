//! The network that predicts as weights for PyTorch: torchvision's names for a ResNet-18,
//! convolutions as `[out, in, k, k]`.

use std::{collections::HashMap, io};

use safetensors::{Dtype, tensor::TensorView};

use super::Predictor;
use crate::{model_file::EXPORT_ENTRY, network::Array};

/// The bytes of the file: the arrays, and one entry of metadata, whose value is JSON.
pub(super) fn encode(predictor: &Predictor) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(&predictor.about)?;
    let arrays: Vec<Named> = predictor.state.0.iter().map(named).collect();
    let views: Vec<(&str, TensorView)> = arrays.iter().map(view).collect::<io::Result<_>>()?;
    let metadata = HashMap::from([(EXPORT_ENTRY.to_owned(), json)]);
    safetensors::serialize(views, Some(metadata)).map_err(io::Error::other)
}

/// An array by PyTorch's name and in its layout.
struct Named {
    name: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn view(Named { name, shape, bytes }: &Named) -> io::Result<(&str, TensorView<'_>)> {
    Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(io::Error::other)?))
}

fn named((name, array): (&String, &Array)) -> Named {
    let (shape, values) = match array.shape.len() {
        4 => channels_first(array),
        _ => (array.shape.clone(), array.values.clone()),
    };
    Named { name: torch_name(name), shape, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
}

/// `[k, k, in, out]` as `[out, in, k, k]`.
pub(super) fn channels_first(weight: &Array) -> (Vec<usize>, Vec<f32>) {
    let [height, width, from, to] = weight.shape[..] else { return (weight.shape.clone(), weight.values.clone()) };
    let mut values = Vec::with_capacity(weight.values.len());
    for out in 0..to {
        for channel in 0..from {
            let place = |tap: usize| weight.values[(tap * from + channel) * to + out];
            values.extend((0..height * width).map(place));
        }
    }
    (vec![to, from, height, width], values)
}

/// `backbone.blocks.2.conv1.scale` as `layer2.0.bn1.weight`, and so on.
fn torch_name(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let kind = |part: &str| match part {
        "scale" => "weight".to_owned(),
        "shift" => "bias".to_owned(),
        "running_variance" => "running_var".to_owned(),
        other => other.to_owned(),
    };
    let is_convolution = |part: &str| part == "weight";
    match parts[..] {
        ["head", "proxies"] => "proxies".to_owned(),
        ["head", part] => format!("fc.{part}"),
        ["backbone", "stem", part] if is_convolution(part) => "conv1.weight".to_owned(),
        ["backbone", "stem", part] => format!("bn1.{}", kind(part)),
        ["backbone", "layers", layer, part] => {
            format!("layers.{layer}.{}.{}", usize::from(!is_convolution(part)), kind(part))
        }
        ["backbone", "blocks", block, layer, part] => {
            let block: usize = block.parse().expect("blocks are named by their numbers");
            let inside = match (layer, is_convolution(part)) {
                ("shortcut", true) => "downsample.0".to_owned(),
                ("shortcut", false) => "downsample.1".to_owned(),
                (_, true) => layer.to_owned(),
                (_, false) => layer.replace("conv", "bn"),
            };
            format!("layer{}.{}.{inside}.{}", block / 2 + 1, block % 2, kind(part))
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_torchvision() {
        for (ours, torch) in [
            ("backbone.stem.weight", "conv1.weight"),
            ("backbone.stem.running_variance", "bn1.running_var"),
            ("backbone.blocks.1.conv2.weight", "layer1.1.conv2.weight"),
            ("backbone.blocks.2.conv1.scale", "layer2.0.bn1.weight"),
            ("backbone.blocks.6.shortcut.weight", "layer4.0.downsample.0.weight"),
            ("backbone.blocks.6.shortcut.running_mean", "layer4.0.downsample.1.running_mean"),
            ("backbone.layers.2.weight", "layers.2.0.weight"),
            ("backbone.layers.2.shift", "layers.2.1.bias"),
            ("head.weight", "fc.weight"),
            ("head.bias", "fc.bias"),
            ("head.proxies", "proxies"),
        ] {
            assert_eq!(torch_name(ours), torch);
        }
    }

    #[test]
    fn a_convolution_is_turned_to_channels_first() {
        // Two rows of three taps, two channels in, one out: the value says where it stood.
        let values = (0..2 * 3 * 2).map(|at| at as f32).collect();
        let (shape, turned) = channels_first(&Array { shape: vec![2, 3, 2, 1], values });
        assert_eq!(shape, [1, 2, 2, 3]);
        assert_eq!(turned, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
    }
}
