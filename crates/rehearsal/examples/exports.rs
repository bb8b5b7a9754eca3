//! Models of several kinds and sizes, exported, and what they predict on 1,000 images, for other
//! programs to compare: `crates/rehearsal/tests/exports.py` does that with onnxruntime and PyTorch.
//!
//!     cargo run --release -p rehearsal --example exports -- DIR

use std::{error::Error, fs, path::Path};

use rehearsal::{
    Learner,
    config::PartialConfig,
    datasets::{Dataset, Request, Source, Split},
    learner::{Parts, Prediction},
    network::{AnyBackbone, Convolution, Part, Plan, PlannedLayer},
    sample::{Image, ImageShape},
};

const METHODS: [(&str, &str); 3] = [("pcr", ""), ("er", "method = 'er'"), ("cls-er", "method = 'cls-er'")];
/// Grey as the embedded images are, and as coloured data sets have them.
const SIZES: [(usize, usize, usize); 3] = [(28, 28, 1), (32, 32, 3), (84, 84, 3)];
/// The other backbones, on images that are not square.
const OTHERS: [(&str, &str); 3] = [
    ("planned", "method = 'er'\nwidth = 8"),
    ("tiny", "method = 'er-ace'\nhead = 'cosine'\nbackbone = 'tiny'\nwidth = 8"),
    ("pixels", "method = 'er'\nbackbone = 'pixels'\nlr = 0.01"),
];
/// Of eight of ten classes: the head has rows that must not be predicted.
const LEARNED: u16 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("say where to write")?;
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    let source = Dataset::Embedded.open(&Request::default())?;
    let sized = SIZES.map(|size| METHODS.map(|method| (size, method))).concat();
    let others = OTHERS.map(|other| ((20, 33, 3), other));
    for ((height, width, channels), (name, settings)) in sized.into_iter().chain(others) {
        let shape = ImageShape { height, width, channels };
        let parts = if name == "planned" { planned() } else { Parts::new() };
        let (learner, images) = (learn(&*source, shape, settings, parts)?, test_images(&*source, shape)?);
        fs::write(directory.join(format!("{height}x{width}.npy")), npy(&images, shape))?;
        let file = |end: &str| directory.join(format!("{name}-{height}x{width}.{end}"));
        learner.export_onnx(file("onnx"))?;
        learner.export_safetensors(file("safetensors"))?;
        let lines: String = learner.predict(&images)?.iter().map(line).collect();
        fs::write(file("jsonl"), lines)?;
    }
    Ok(())
}

/// A custom backbone: ResNet-18 with the stem of torchvision.
fn planned() -> Parts {
    Parts::new().backbone("planned", |architecture, rng, device| {
        let (cin, cout) = (architecture.input.channels, architecture.width);
        let stem = PlannedLayer::new("stem", Convolution { kernel: 7, stride: 2, cin, cout });
        let mut plan = Plan::resnet18(cin, cout);
        plan.0.splice(..1, [Part::Layer(stem), Part::MaxPool { kernel: 3, stride: 2 }]);
        AnyBackbone::planned(plan, architecture, rng, device)
    })
}

/// Learns 60 images of each class in two tasks, and recalibrates.
fn learn(source: &dyn Source, shape: ImageShape, settings: &str, parts: Parts) -> Result<Learner, Box<dyn Error>> {
    let settings = PartialConfig::parse("width = 4\nmemory = 200")?.overridden_by(&PartialConfig::parse(settings)?);
    let names = source.class_names();
    let mut learner = Learner::builder().shape(shape).settings(&settings).classes(names).parts(parts).build()?;
    for classes in [0..LEARNED / 2, LEARNED / 2..LEARNED] {
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        for class in classes {
            let of_class = source.labels(Split::Train).iter().enumerate().filter(|(_, label)| **label == class);
            for (index, _) in of_class.take(60) {
                images.push(reshaped(&source.image(Split::Train, index)?, shape));
                labels.push(&names[usize::from(class)]);
            }
        }
        learner.learn_task(&images, &labels)?;
    }
    println!("{}", learner.recalibrate());
    Ok(learner)
}

fn test_images(source: &dyn Source, shape: ImageShape) -> Result<Vec<Image>, Box<dyn Error>> {
    (0..1000).map(|index| Ok(reshaped(&source.image(Split::Test, index)?, shape))).collect()
}

/// A grey image of 28 × 28 in another shape: stretched, and every channel its own.
fn reshaped(image: &Image, shape: ImageShape) -> Image {
    let pixel = |at: usize| {
        let (channel, x, y) =
            (at % shape.channels, at / shape.channels % shape.width, at / shape.channels / shape.width);
        let grey = image[y * 28 / shape.height * 28 + x * 28 / shape.width];
        [grey, 255 - grey, grey / 2 + (x % 32) as u8][channel]
    };
    (0..shape.bytes()).map(pixel).collect()
}

fn line(prediction: &Prediction) -> String {
    let mut probabilities = serde_json::Map::new();
    for (class, probability) in
        std::iter::once(&(prediction.class.clone(), prediction.probability)).chain(&prediction.others)
    {
        probabilities.insert(class.to_string(), (*probability).into());
    }
    serde_json::json!({ "class": *prediction.class, "probabilities": probabilities }).to_string() + "\n"
}

/// numpy's format, version 1.0, of bytes.
fn npy(images: &[Image], ImageShape { height, width, channels }: ImageShape) -> Vec<u8> {
    let shape = format!("({}, {height}, {width}, {channels})", images.len());
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    for image in images {
        bytes.extend_from_slice(image);
    }
    bytes
}
