use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::*;
use crate::{
    config::PartialConfig,
    learner::{FitOptions, Parts},
    memory::Memory,
    network::{AnyBackbone, Architecture, Backbone, Norm, Running, State},
    rng::Rng,
    sample::{Class, Image, ImageShape, Sample, TaskId},
};

const SHAPE: ImageShape = ImageShape { height: 9, width: 7, channels: 3 };

/// Noise, darker or brighter by its class.
fn photos(count: usize) -> (Vec<Image>, Vec<&'static str>) {
    let mut rng = Rng::new(3, RngStream::Split, &[]);
    let mut image =
        |index: usize| (0..SHAPE.bytes()).map(|_| (rng.below(180) + 35 * (index as u64 % 3)) as u8).collect();
    ((0..count).map(&mut image).collect(), (0..count).map(|index| ["boots", "clogs", "mules"][index % 3]).collect())
}

/// A learner that has learned from `count` images and remembers as many, not recalibrated.
fn learned(settings: &str, count: usize, parts: Parts) -> Learner {
    let base =
        format!("width = 2\nthreads = 2\nmemory = {count}\nretrieved = 4\ncandidates = 8\nbatch = 5\nepochs = 1");
    let settings = PartialConfig::parse(&base).unwrap().overridden_by(&PartialConfig::parse(settings).unwrap());
    let mut learner = Learner::builder().shape(SHAPE).settings(&settings).parts(parts).build().unwrap();
    let (images, labels) = photos(count);
    let samples = learner.samples(&images, &labels).unwrap();
    learner.fit(&samples, FitOptions { recalibrate: false, ..FitOptions::default() }, &mut ()).unwrap();
    learner
}

/// Everything that learns.
fn bits(learner: &Learner) -> (State, State, State, Memory) {
    let optimizer = learner.optimizer.state(&learner.network);
    (learner.network.state(), learner.method.state(), optimizer, learner.memory.clone())
}

/// Activations `[n][y][x][c]`, flat, and their shape.
#[derive(Clone)]
struct Map {
    values: Vec<f64>,
    shape: [usize; 4],
}

/// A pass in batch mode by the definition, in plain loops: every layer's mean and unbiased variance.
struct ByHand<'a> {
    state: &'a State,
    found: Vec<(String, Vec<f64>)>,
}

impl ByHand<'_> {
    fn layer(&mut self, name: &str, x: &Map, stride: usize, add: Option<&Map>, relu: bool) -> Map {
        let of = |part: &str| &self.state.0[&format!("backbone.{name}.{part}")];
        let (y, [scale, shift]) = (convolve(x, of("weight"), stride), ["scale", "shift"].map(|part| &of(part).values));
        let channels = y.shape[3];
        let count = (y.values.len() / channels) as f64;
        let mut out = y.clone();
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for channel in 0..channels {
            let values = || y.values.iter().skip(channel).step_by(channels);
            let mean = values().sum::<f64>() / count;
            let squares = values().map(|value| (value - mean).powi(2)).sum::<f64>();
            for (at, value) in out.values.iter_mut().enumerate().skip(channel).step_by(channels) {
                *value = (*value - mean) / (squares / count + 1e-5).sqrt() * f64::from(scale[channel]);
                *value += f64::from(shift[channel]) + add.map_or(0.0, |add| add.values[at]);
                *value = if relu { value.max(0.0) } else { *value };
            }
            means.push(mean);
            variances.push(squares / (count - 1.0));
        }
        self.found.push((format!("backbone.{name}.running_mean"), means));
        self.found.push((format!("backbone.{name}.running_variance"), variances));
        out
    }

    fn tiny(&mut self, x: Map) {
        (0..3).fold(x, |x, layer| self.layer(&format!("layers.{layer}"), &x, 2, None, true));
    }

    fn resnet18(&mut self, x: &Map) {
        let mut x = self.layer("stem", x, 1, None, true);
        for block in 0..8 {
            let stride = if [2, 4, 6].contains(&block) { 2 } else { 1 };
            let name = |part: &str| format!("blocks.{block}.{part}");
            let inner = self.layer(&name("conv1"), &x, stride, None, true);
            let short = if stride == 2 { self.layer(&name("shortcut"), &x, 2, None, false) } else { x };
            x = self.layer(&name("conv2"), &inner, 1, Some(&short), true);
        }
    }
}

/// With zeros around, half a kernel wide; weights `[k, k, in, out]`.
fn convolve(x: &Map, weight: &crate::network::Array, stride: usize) -> Map {
    let [n, h, w, c] = x.shape;
    let (k, out) = (weight.shape[0], weight.shape[3]);
    let (rows, columns) = (h.div_ceil(stride), w.div_ceil(stride));
    let mut values = vec![0.0; n * rows * columns * out];
    for (at, pixel) in values.chunks_exact_mut(out).enumerate() {
        let (image, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
        for tap in 0..k * k {
            let (y, x_) = (row * stride + tap / k, column * stride + tap % k);
            if (k / 2..h + k / 2).contains(&y) && (k / 2..w + k / 2).contains(&x_) {
                let from = &x.values[((image * h + y - k / 2) * w + x_ - k / 2) * c..][..c];
                for (channel, value) in from.iter().enumerate() {
                    let weights = &weight.values[(tap * c + channel) * out..][..out];
                    pixel.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * f64::from(*weight));
                }
            }
        }
    }
    Map { values, shape: [n, rows, columns, out] }
}

/// The plain average over the learner's batches, by hand.
fn by_hand(learner: &Learner, state: &State, backbone: &str) -> Vec<(String, Vec<f64>)> {
    let mut total: Vec<(String, Vec<f64>)> = Vec::new();
    let batches = learner.calibration_batches();
    for slots in &batches {
        let images = slots.iter().flat_map(|slot| learner.memory.slots()[slot.0].sample.image.iter());
        let values = images.map(|&byte| f64::from(byte) / 255.0).collect();
        let x = Map { values, shape: [slots.len(), SHAPE.height, SHAPE.width, SHAPE.channels] };
        let mut pass = ByHand { state, found: Vec::new() };
        if backbone == "tiny" {
            pass.tiny(x);
        } else {
            pass.resnet18(&x);
        }
        if total.is_empty() {
            total = pass.found.iter().map(|(name, values)| (name.clone(), vec![0.0; values.len()])).collect();
        }
        for ((_, sum), (_, found)) in total.iter_mut().zip(pass.found) {
            sum.iter_mut().zip(found).for_each(|(sum, value)| *sum += value / batches.len() as f64);
        }
    }
    total
}

#[test]
fn statistics_are_the_average_over_batches_of_mean_and_unbiased_variance() {
    for (backbone, settings) in [
        ("tiny", "backbone = 'tiny'"),
        ("resnet18", "kernels = 'winograd'"),
        ("resnet18", "kernels = 'composed'\nmethod = 'er'"),
        ("resnet18", "method = 'cls-er'"),
    ] {
        let mut learner = learned(settings, 60, Parts::new());
        assert_eq!(learner.recalibrate(), Recalibration::Done { images: 60 });
        let state = learner.method.predictor(&learner.network).state();
        let found = learner.predictor().state();
        let expected = by_hand(&learner, &state, backbone);
        assert_eq!(expected.len(), state.0.keys().filter(|name| name.contains("running")).count());
        for (name, values) in expected {
            assert_ne!(found.0[&name], state.0[&name], "{settings}: {name} is not what training left");
            for (found, expected) in found.0[&name].values.iter().zip(values) {
                let by = (f64::from(*found) - expected).abs() / expected.abs().max(0.1);
                assert!(by < 1e-4, "{settings}: {name} is {found}, by hand {expected}");
            }
        }
        for (name, array) in state.0.iter().filter(|(name, _)| !name.contains("running")) {
            assert_eq!(found.0[name], *array, "{settings}: {name} is a parameter");
        }
    }
}

#[test]
fn batches_are_of_50_distinct_slots_or_every_slot_once() {
    let slots = |images: usize| {
        let mut learner = Learner::builder().shape(SHAPE).memory(images).width(1).build().unwrap();
        let image: Image = vec![0; SHAPE.bytes()].into();
        for _ in 0..images {
            let sample = Sample { image: image.clone(), label: Class(0), task: TaskId(0) };
            learner.memory.place(sample.into(), Some(Slot(learner.memory.len())));
        }
        let batches = learner.calibration_batches();
        for batch in &batches {
            let distinct: std::collections::BTreeSet<usize> = batch.iter().map(|slot| slot.0).collect();
            assert_eq!(distinct.len(), batch.len());
            assert!(distinct.iter().all(|&slot| slot < images));
        }
        batches.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(slots(20), [20]);
    assert_eq!(slots(50), [50]);
    assert_eq!(slots(51), [50; 20]);
    assert_eq!(slots(1000), [50; 20]);
    let whole = slots(1030);
    assert_eq!((whole.len(), whole.iter().sum::<usize>()), (21, 1030));
    assert!(whole.iter().all(|&size| (49..=50).contains(&size)), "{whole:?}");
}

#[test]
fn nothing_that_learns_moves_and_the_next_step_drops_it() {
    for settings in ["backbone = 'tiny'", "method = 'er'\nmomentum = 0.9", "method = 'cls-er'"] {
        let mut plain = learned(settings, 60, Parts::new());
        let mut calibrated = plain.clone();
        calibrated.recalibrate();
        assert_eq!(bits(&calibrated), bits(&plain), "{settings}");
        let (images, labels) = photos(10);
        let before = plain.predict(&images).unwrap();
        assert_ne!(calibrated.predict(&images).unwrap(), before, "{settings}");
        for learner in [&mut plain, &mut calibrated] {
            learner.learn_batch(&images, &labels).unwrap();
        }
        assert_eq!(bits(&calibrated), bits(&plain), "{settings}");
        assert_eq!(calibrated.predict(&images).unwrap(), plain.predict(&images).unwrap(), "{settings}");
        assert_eq!(calibrated.calibration_images(), None);
    }
}

#[test]
fn the_file_keeps_it_and_a_class_that_comes_is_known_to_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    for settings in ["", "backbone = 'tiny'\nmethod = 'er'", "method = 'cls-er'"] {
        let mut learner = learned(settings, 30, Parts::new());
        learner.recalibrate();
        learner.save(&path).unwrap();
        let mut loaded = Learner::load(&path).unwrap();
        assert_eq!((bits(&loaded), loaded.calibration_images()), (bits(&learner), Some(30)), "{settings}");
        assert_eq!(loaded.predictor().state(), learner.predictor().state(), "{settings}");
        let images = photos(5).0;
        assert_eq!(loaded.predict(&images).unwrap(), learner.predict(&images).unwrap(), "{settings}");
        loaded.begin_task(&["slippers"]).unwrap();
        assert_eq!(loaded.predict(&images).unwrap()[0].others.len(), 3, "{settings}");
        assert_eq!(loaded.calibration_images(), Some(30), "until the next step");
        learner.recalibrate();
        learner.save(place.path().join("again.safetensors")).unwrap();
        let bytes = |name: &str| std::fs::read(place.path().join(name)).unwrap();
        assert!(bytes("again.safetensors") == bytes("model.safetensors"), "the same draws, the same bytes");
    }
}

#[test]
fn where_nothing_can_be_re_estimated_it_says_so() {
    let message = |settings: &str, count: usize| {
        let mut learner = learned(settings, count, Parts::new());
        let became = learner.recalibrate();
        assert_eq!(learner.calibration_images(), None);
        became.to_string()
    };
    assert_eq!(
        message("backbone = 'tiny'\nepochs = 2", 19),
        "the running statistics are those of training: the memory holds 19 images, and recalibrating needs at least 20"
    );
    let none = "the running statistics are those of training: the method keeps no memory";
    assert_eq!(message("backbone = 'tiny'\nmethod = 'fine-tune'", 25), none);
    assert_eq!(message("backbone = 'tiny'\nmethod = 'joint'", 25), none);
    let nothing = "the backbone has no running statistics that may change";
    assert_eq!(message("backbone = 'pixels'\nmethod = 'er'\nlr = 0.01", 25), nothing);
}

/// A custom backbone: the means of the channels, centred, whose running mean moves by 0.3.
#[derive(Module, Debug)]
struct Centred {
    scale: Param<Tensor<1>>,
    mean: Running,
    /// Nothing moves it.
    fixed: Running,
}

impl Centred {
    fn means(images: Tensor<4>) -> Tensor<2> {
        crate::network::pool(images)
    }
}

impl Backbone for Centred {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        let means = Self::means(images);
        let centre = match norm {
            Norm::Batch => means.clone().mean_dim(0),
            Norm::Batches(_) => unreachable!("the processor passes draw by draw"),
            Norm::Eval if means.is_autodiff() => Tensor::from_inner(self.mean.value().clone()).unsqueeze(),
            Norm::Eval => self.mean.value().clone().unsqueeze(),
        };
        (means - centre) * self.scale.val().unsqueeze()
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let batch: Tensor<1> = Self::means(images.clone()).without_autodiff().mean_dim(0).squeeze_dim(0);
        self.mean.set(self.mean.value().clone() * 0.7 + batch * 0.3);
        self.features(images, Norm::Batch)
    }

    fn feature_size(&self) -> usize {
        SHAPE.channels
    }
}

#[test]
fn a_backbone_of_ones_own_is_re_estimated_whatever_its_momentum() {
    let build = |_: &Architecture, _: &mut Rng, device: &Device| {
        let plain = device.clone().without_autodiff();
        AnyBackbone::new(Centred {
            scale: Param::from_tensor(Tensor::ones([SHAPE.channels], device)),
            mean: Running::new(Tensor::zeros([SHAPE.channels], &plain)),
            fixed: Running::new(Tensor::from_data([4.0f32, 5.0], &plain)),
        })
    };
    let mut learner = learned("method = 'er'", 30, Parts::new().backbone("centred", build));
    assert_eq!(learner.recalibrate(), Recalibration::Done { images: 30 });
    let state = learner.predictor().state();
    for (channel, found) in state.0["backbone.mean"].values.iter().enumerate() {
        let bytes: Vec<u8> = learner.memory.slots().iter().flat_map(|stored| stored.sample.image.to_vec()).collect();
        let values = || bytes.iter().skip(channel).step_by(SHAPE.channels).map(|&byte| f64::from(byte) / 255.0);
        let mean = values().sum::<f64>() / values().count() as f64;
        assert!((f64::from(*found) - mean).abs() < 1e-6, "{found}, by hand {mean}");
    }
    assert_eq!(state.0["backbone.fixed"].values, [4.0, 5.0], "what no pass moves stays");
}
