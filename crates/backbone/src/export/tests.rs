use std::collections::{BTreeMap, HashSet};

use prost::Message;
use rehearsal_data::{Image, ImageShape, Interpolation, Preprocessing};
use rehearsal_gaussian::{Feature, Sums};
use rehearsal_kernels::Machine;
use rehearsal_onnx::{
    Value, int,
    messages::{Graph, Model, ValueInfo},
};

use super::*;
use crate::Published;

/// The mean of each colour.
struct Means {
    preprocessing: Preprocessing,
}

impl Means {
    fn new() -> Self {
        Self { preprocessing: Preprocessing::plain(ImageShape { height: 4, width: 6, channels: 3 }) }
    }
}

impl Backbone for Means {
    fn name(&self) -> &'static str {
        "means"
    }
    fn sha256(&self) -> &'static str {
        "0123"
    }
    fn preprocessing(&self) -> Preprocessing {
        self.preprocessing
    }
    fn dimensions(&self) -> usize {
        3
    }
    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        Ok(vec![1.0; 3 * images.len()])
    }
    fn onnx(&self, graph: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        let pooled = graph.node("backbone.pooled", "GlobalAveragePool", &[image], Vec::new());
        Ok(graph.node("backbone.features", "Flatten", &[&pooled], vec![int("axis", 1)]))
    }
}

fn head(dimensions: usize) -> Head {
    let mut sums = Sums::new(dimensions);
    for (class, peak) in [("ä", 0), ("b", 1)] {
        let mut values = vec![0.5; dimensions];
        values[peak] = 2.0;
        sums.add(class, &[Feature::new(&values).unwrap()]);
    }
    Head::new(&sums)
}

fn graph(model: &Model) -> &Graph {
    model.graph.as_ref().unwrap()
}

fn exported(backbone: &dyn Backbone) -> Model {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.onnx");
    export_onnx(backbone, &head(backbone.dimensions()), Limits::none(2.0), &path).unwrap();
    Model::decode(&std::fs::read(&path).unwrap()[..]).unwrap()
}

fn edge(value: &ValueInfo) -> (&str, i32, Vec<Result<i64, String>>) {
    let tensor = value.kind.as_ref().unwrap().tensor.as_ref().unwrap();
    let axes = tensor.shape.as_ref().unwrap().dim.iter();
    let axes = axes.map(|axis| axis.length.ok_or_else(|| axis.name.clone().unwrap()));
    (&value.name, tensor.element, axes.collect())
}

/// Every value is made before it is used, and once; every output is made.
fn assert_whole(graph: &Graph) {
    let mut known: HashSet<&str> = HashSet::from(["image"]);
    for constant in &graph.initializer {
        assert!(known.insert(&constant.name), "{}", constant.name);
    }
    for node in &graph.node {
        assert!(node.input.iter().all(|input| known.contains(&**input)), "{node:?}");
        assert!(known.insert(&node.output[0]), "{node:?}");
    }
    assert!(graph.output.iter().all(|output| known.contains(&*output.name)));
}

#[test]
fn a_model_takes_a_photo_of_any_size_and_gives_probabilities_distance_and_class() {
    let model = exported(&Means::new());
    let graph = graph(&model);
    let (float, uint8, int64) = (1, 2, 7);
    let any = |name: &str| Err(name.to_owned());
    let inputs: Vec<_> = graph.input.iter().map(edge).collect();
    assert_eq!(inputs, [("image", uint8, vec![any("height"), any("width"), Ok(3)])]);
    let outputs: Vec<_> = graph.output.iter().map(edge).collect();
    let expected = [("probabilities", float, vec![Ok(2)]), ("distance", float, vec![]), ("class", int64, vec![])];
    assert_eq!(outputs, expected);
    let entries: BTreeMap<_, _> = model.metadata_props.iter().map(|entry| (&*entry.key, &*entry.value)).collect();
    assert_eq!(entries["classes"], r#"["b","ä"]"#);
    assert_eq!(entries["backbone"], r#""means""#);
    assert_eq!(entries["temperature"], "2.0");
    assert!(entries["preprocessing"].contains(r#""interpolation":"bilinear""#));
}

#[test]
fn every_value_is_made_once_before_it_is_used() {
    for interpolation in [Interpolation::Bilinear, Interpolation::Bicubic] {
        for crop in [1.0, 0.875] {
            let mut means = Means::new();
            means.preprocessing = Preprocessing { crop, interpolation, ..means.preprocessing };
            assert_whole(graph(&exported(&means)));
        }
    }
}

#[test]
fn the_default_backbone_is_in_the_graph_whole() {
    let model = exported(&Published::efficientnet_lite0(Machine::new(1)).unwrap());
    let graph = graph(&model);
    assert_whole(graph);
    let count = |kind: &str| graph.node.iter().filter(|node| node.op_type == kind).count();
    // A stem, 16 blocks of which one has no expansion, and the last convolution; each but the projections
    // ends in ReLU6. The other clips are those of the two passes of the filter and of the feature.
    assert_eq!((count("Conv"), count("Clip")), (1 + 3 * 16 - 1 + 1, 1 + 2 * 16 - 1 + 1 + 3));
    let residuals = graph.node.iter().filter(|node| node.name.starts_with("backbone.") && node.op_type == "Add");
    assert_eq!(residuals.count(), 1 + 1 + 2 + 2 + 3);
    let weights: usize = graph
        .initializer
        .iter()
        .filter(|constant| constant.name.starts_with("backbone.blocks"))
        .map(|constant| constant.raw_data.len())
        .sum();
    assert!(weights > 11 << 20, "{weights} bytes");
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.onnx");
    let refused = |backbone: &dyn Backbone, head: &Head, temperature: f64| {
        let error = export_onnx(backbone, head, Limits::none(temperature), &path).unwrap_err();
        assert!(!path.exists());
        error
    };
    let means = Means::new();
    assert!(matches!(refused(&means, &Head::new(&Sums::new(3)), 1.0), ExportError::NoClasses));
    assert!(matches!(refused(&means, &head(4), 1.0), ExportError::Dimensions { backbone: 3, head: 4 }));
    for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-40] {
        assert!(matches!(refused(&means, &head(3), temperature), ExportError::Temperature(_)), "{temperature}");
    }
    let mut grey = Means::new();
    grey.preprocessing.shape.channels = 1;
    assert!(matches!(refused(&grey, &head(3), 1.0), ExportError::Channels(1)));
    let nowhere = place.path().join("none/model.onnx");
    assert!(matches!(export_onnx(&means, &head(3), Limits::none(1.0), &nowhere), Err(ExportError::Unwritable { .. })));
}

#[cfg(feature = "onnx")]
mod of_a_file {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::OnnxBackbone;

    /// A file of `make_onnx.py`.
    fn made(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx").join(name)
    }

    #[test]
    fn the_network_of_a_file_is_in_the_graph_whatever_its_names() {
        for (name, operators, ir_version) in [("dynamic", 17, 8), ("fixed", 17, 8), ("clash", 20, 9)] {
            let model = exported(&OnnxBackbone::open(&made(&format!("{name}.onnx")), 1).unwrap());
            assert_whole(graph(&model));
            assert_eq!((model.opset_import[0].version, model.ir_version), (operators, ir_version));
            let inputs: Vec<_> = graph(&model).input.iter().map(|input| &*input.name).collect();
            assert_eq!(inputs, ["image"], "a constant is no input");
            let convolutions: Vec<_> = graph(&model).node.iter().filter(|node| node.op_type == "Conv").collect();
            assert_eq!(convolutions.len(), 1);
            assert!(convolutions[0].input.iter().all(|input| input.starts_with("network/")), "{name}");
        }
    }

    #[test]
    fn operators_that_are_too_old_and_files_that_have_changed_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let (network, model) = (place.path().join("network.onnx"), place.path().join("model.onnx"));
        let refused = |name: &str, change: &dyn Fn()| {
            std::fs::copy(made(name), &network).unwrap();
            let backbone = OnnxBackbone::open(&network, 1).unwrap();
            change();
            let error = export_onnx(&backbone, &head(backbone.dimensions()), Limits::none(2.0), &model).unwrap_err();
            assert!(!model.exists());
            let ExportError::Backbone(error) = error else { panic!("{error}") };
            error
        };
        let old = refused("old.onnx", &|| ());
        assert!(
            matches!(old, BackboneError::NoGraph(_, rehearsal_onnx::ForeignError::OldOperators { found: 11 })),
            "{old}"
        );
        let changed = refused("fixed.onnx", &|| assert!(std::fs::copy(made("dynamic.onnx"), &network).is_ok()));
        assert!(matches!(changed, BackboneError::Onnx { .. }), "{changed}");
    }
}
