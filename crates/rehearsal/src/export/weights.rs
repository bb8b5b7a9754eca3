//! The network that predicts as weights for PyTorch, by the names of its plan (torchvision's for a
//! ResNet-18), convolutions as `[out, in, k, k]`.

use std::{collections::HashMap, io};

use rehearsal_files::model_file::EXPORT_ENTRY;
use safetensors::{Dtype, tensor::TensorView};

use super::Predictor;
use crate::network::{Array, BACKBONE, HEAD, Plan, PlannedLayer};

/// The bytes of the file: the arrays, and one entry of metadata, whose value is JSON.
pub(super) fn encode(predictor: &Predictor) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(&predictor.about)?;
    let names = torch_names(&predictor.plan);
    let arrays: Vec<Named> = predictor.state.0.iter().map(|(name, array)| named(&names[name], array)).collect();
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

fn named(name: &str, array: &Array) -> Named {
    let (shape, values) = match array.shape.len() {
        4 => channels_first(array),
        _ => (array.shape.clone(), array.values.clone()),
    };
    Named { name: name.to_owned(), shape, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
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

/// Our names of a network's arrays, and PyTorch's.
fn torch_names(plan: &Plan) -> HashMap<String, String> {
    let heads = [("weight", "fc.weight"), ("bias", "fc.bias"), ("proxies", "proxies")];
    let heads = heads.map(|(ours, torch)| (format!("{HEAD}{ours}"), torch.to_owned()));
    let of_layer = |PlannedLayer { name, torch: [conv, norm], .. }: &PlannedLayer| {
        [
            ("weight", conv, "weight"),
            ("scale", norm, "weight"),
            ("shift", norm, "bias"),
            ("running_mean", norm, "running_mean"),
            ("running_variance", norm, "running_var"),
        ]
        .map(|(ours, layer, torch)| (format!("{BACKBONE}{name}.{ours}"), format!("{layer}.{torch}")))
    };
    plan.layers().flat_map(of_layer).chain(heads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_torchvision() {
        let plan = Plan([Plan::resnet18(3, 4).0, Plan::tiny(3, 4).0].concat());
        let names = torch_names(&plan);
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
            assert_eq!(names[ours], torch);
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
