use std::collections::BTreeMap;

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};
use prost::Message;
use rehearsal_onnx::messages;
use safetensors::SafeTensors;
use tempfile::TempDir;

use super::*;
use crate::{
    config::PartialConfig,
    learner::{Parts, machine_memory},
    network::{AnyBackbone, Backbone, ConvNorm, Convolution, Norm, Part, Then, absorb, pool},
    sample::Image,
};

const SHAPE: ImageShape = ImageShape { height: 9, width: 12, channels: 3 };

/// A learner that knows of five classes, of which three have appeared; it was recalibrated.
fn learned(settings: &str) -> Learner {
    learned_with(settings, Parts::new())
}

fn learned_with(settings: &str, parts: Parts) -> Learner {
    let base = "width = 2\nthreads = 2\nmemory = 30\nretrieved = 4\ncandidates = 8";
    let settings = PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(settings).unwrap());
    let builder = Learner::builder().shape(SHAPE).settings(&settings).classes(&["ä", "b", "c", "d", "e"]);
    let mut learner = builder.parts(parts).build().unwrap();
    let image = |index: usize| -> Image { (0..SHAPE.bytes()).map(|i| (i * (index + 7) * 31 % 256) as u8).collect() };
    let (images, labels): (Vec<Image>, Vec<&str>) = (0..30).map(|i| (image(i), ["ä", "b", "c"][i % 3])).unzip();
    learner.learn_task(&images, &labels).unwrap();
    learner.recalibrate();
    learner
}

fn written(learner: &Learner, write: impl Fn(&Learner, &Path)) -> (TempDir, Vec<u8>) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("export");
    write(learner, &path);
    let bytes = std::fs::read(path).unwrap();
    (place, bytes)
}

fn onnx(learner: &Learner) -> messages::Model {
    let (_place, bytes) = written(learner, |learner, path| learner.export_onnx(path).unwrap());
    messages::Model::decode(&bytes[..]).unwrap()
}

/// A custom backbone of one layer, and perhaps a parameter that a plan cannot describe.
#[derive(Module, Debug)]
struct Own {
    layer: ConvNorm,
    gain: Option<Param<Tensor<1>>>,
    planned: bool,
}

impl Own {
    fn parts(planned: bool, gain: bool) -> Parts {
        Parts::new().backbone("own", move |architecture, rng, device| {
            let conv = Convolution { kernel: 3, stride: 2, cin: architecture.input.channels, cout: 2 };
            let gain = gain.then(|| Param::from_tensor(Tensor::ones([2], device)));
            AnyBackbone::new(Self { layer: ConvNorm::new(conv, rng, device), gain, planned })
        })
    }

    fn pooled(&self, x: Tensor<4>) -> Tensor<2> {
        let x = pool(x);
        match &self.gain {
            Some(gain) => x * gain.val().unsqueeze(),
            None => x,
        }
    }
}

impl Backbone for Own {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.pooled(self.layer.forward(images, norm, Then::Relu).0)
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (x, moments) = self.layer.forward(images, Norm::Batch, Then::Relu);
        absorb(vec![&mut self.layer], moments.into_iter().collect());
        self.pooled(x)
    }

    fn feature_size(&self) -> usize {
        2
    }

    fn plan(&self) -> Option<Plan> {
        let layer = PlannedLayer::new("layer", self.layer.convolution());
        self.planned.then(|| Plan(vec![Part::Layer(layer)]))
    }
}

#[test]
fn a_custom_backbone_with_a_plan_is_exported_and_measured() {
    let learner = learned_with("method = 'er'", Own::parts(true, false));
    let graph = onnx(&learner).graph.unwrap();
    let operations: Vec<&str> = graph.node.iter().map(|node| &*node.op_type).collect();
    let backbone = ["Conv", "BatchNormalization", "Relu", "GlobalAveragePool"];
    assert!(operations.windows(4).any(|nodes| nodes == backbone), "{operations:?}");
    let (_place, bytes) = written(&learner, |learner, path| learner.export_safetensors(path).unwrap());
    let mut names: Vec<String> =
        SafeTensors::deserialize(&bytes).unwrap().names().into_iter().map(Into::into).collect();
    names.sort();
    let norm = ["bias", "running_mean", "running_var", "weight"].map(|part| format!("layer.1.{part}"));
    let expected: Vec<String> =
        ["fc.bias", "fc.weight", "layer.0.weight"].map(Into::into).into_iter().chain(norm).collect();
    assert_eq!(names, expected);
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    assert!(metadata.metadata().as_ref().unwrap()["rehearsal-export"].contains(r#""backbone":"own""#));

    let wide = PartialConfig::parse("batch = 1000000000").unwrap();
    let build = |planned| Learner::builder().shape(SHAPE).settings(&wide).parts(Own::parts(planned, false)).build();
    assert!(build(false).is_ok(), "of a backbone without a plan nothing is known");
    if machine_memory().is_some() {
        assert!(matches!(build(true), Err(LearnerError::Memory { .. })));
    }
}

#[test]
fn an_onnx_model_takes_bytes_and_gives_the_classes_that_have_appeared() {
    for (settings, normalised) in [
        ("", 20),
        ("method = 'er'\nbackbone = 'tiny'", 3),
        ("method = 'cls-er'", 20),
        ("method = 'er'\nbackbone = 'pixels'\nlr = 0.01", 0),
    ] {
        let model = onnx(&learned(settings));
        let graph = model.graph.unwrap();
        let edge = |value: &messages::ValueInfo| {
            let tensor = value.kind.clone().unwrap().tensor.unwrap();
            let axes = tensor.shape.unwrap().dim.into_iter().map(|axis| axis.length.ok_or(axis.name));
            (value.name.clone(), tensor.element, axes.collect::<Vec<_>>())
        };
        let any = Err(Some("n".to_owned()));
        assert_eq!(edge(&graph.input[0]), ("images".into(), 2, vec![any.clone(), Ok(9), Ok(12), Ok(3)]));
        assert_eq!(edge(&graph.output[0]), ("probabilities".into(), 1, vec![any, Ok(3)]));
        let norms = graph.node.iter().filter(|node| node.op_type == "BatchNormalization").count();
        assert_eq!(norms, normalised, "{settings}");
        let float = |constant: &messages::Tensor| constant.data_type == messages::ElementKind::Float as i32;
        assert!(graph.initializer.iter().all(float), "{settings}");
        // Every value is made before it is used, and once.
        let mut known: Vec<&str> = graph.initializer.iter().map(|constant| &*constant.name).collect();
        known.push("images");
        for node in &graph.node {
            assert!(node.input.iter().all(|input| known.contains(&&**input)), "{settings}: {node:?}");
            assert!(!known.contains(&&*node.output[0]), "{settings}: {node:?}");
            known.push(&node.output[0]);
        }
        let entries: BTreeMap<String, String> = model.metadata_props.into_iter().map(|e| (e.key, e.value)).collect();
        assert_eq!(entries["classes"], r#"["ä","b","c"]"#);
        assert_eq!(entries["image"], r#"{"height":9,"width":12,"channels":3}"#);
    }
}

#[test]
fn weights_are_those_that_predict_and_nothing_else() {
    for settings in ["", "method = 'er'\nbackbone = 'tiny'", "method = 'cls-er'"] {
        let learner = learned(settings);
        let (_place, bytes) = written(&learner, |learner, path| learner.export_safetensors(path).unwrap());
        let arrays = SafeTensors::deserialize(&bytes).unwrap();
        let predictor = learner.predictor().state();
        assert_eq!(arrays.len(), predictor.0.len(), "{settings}: no memory, no optimizer, no other network");
        let floats = |name: &str| -> Vec<f32> {
            arrays.tensor(name).unwrap().data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        let (norm, ours) = if settings.contains("tiny") { ("layers.1.1", "layers.1") } else { ("bn1", "stem") };
        assert_eq!(
            floats(&format!("{norm}.running_var")),
            predictor.0[&format!("backbone.{ours}.running_variance")].values
        );
        assert_ne!(predictor, learner.network().state(), "{settings}: they are the recalibrated ones");
        let head = if settings.is_empty() { "proxies" } else { "fc.weight" };
        assert_eq!(arrays.tensor(head).unwrap().shape()[0], 3, "{settings}: rows of what has appeared");
    }
}

#[test]
fn the_same_model_is_exported_as_the_same_bytes_and_is_none_to_learn_with() {
    let learner = learned("backbone = 'tiny'");
    for write in
        [|l: &Learner, p: &Path| l.export_onnx(p).unwrap(), |l: &Learner, p: &Path| l.export_safetensors(p).unwrap()]
    {
        let (place, first) = written(&learner, write);
        assert!(first == written(&learner, write).1);
        let error = Learner::load(place.path().join("export")).err().unwrap().to_string();
        assert!(error.contains("is not a model of Rehearsal: "), "{error}");
    }
    let (place, _) = written(&learner, |learner, path| learner.export_safetensors(path).unwrap());
    let error = Learner::load(place.path().join("export")).err().unwrap().to_string();
    assert!(error.ends_with("it is an export for other programs, which keeps no memory to learn with"), "{error}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("export");
    let refused = |learner: &Learner| {
        let [onnx, weights] =
            [learner.export_onnx(&path), learner.export_safetensors(&path)].map(|r| r.unwrap_err().to_string());
        assert_eq!(onnx, weights);
        assert!(!path.exists());
        onnx
    };
    let nothing = Learner::builder().shape(SHAPE).width(2).build().unwrap();
    assert_eq!(refused(&nothing), "no class has been learned yet");
    let reasons = [(Own::parts(false, false), "it has no plan"), (Own::parts(true, true), "`gain` is not in its plan")];
    for (parts, why) in reasons {
        let refused = refused(&learned_with("method = 'er'", parts));
        assert_eq!(refused, format!("the backbone `own` cannot be exported: {why}"));
    }
    let learner = learned("backbone = 'tiny'");
    let error = learner.export_onnx(place.path().join("none/model.onnx")).unwrap_err().to_string();
    assert!(error.contains("none/model.onnx cannot be written"), "{error}");
}
